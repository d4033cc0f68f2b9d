//! `pom.xml`.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::link::Members;
use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::folder_of;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut members = Members::default();
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| name == "pom.xml") {
        let Some(document) = sources.parsed(path, Document::parse(&text)) else {
            continue;
        };
        let project = document.root_element();
        let modules = child(project, "modules");
        for module in modules.into_iter().flat_map(|modules| modules.children()) {
            if let Some(module) = module.text() {
                members.add(folder_of(path), &globset::escape(module.trim()));
            }
        }
        manifests.push(sources.bounded(manifest(path, project)));
    }
    members.mark(&mut manifests);
    manifests
}

fn manifest(path: &str, project: Node<'_, '_>) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Maven);
    let parent = child(project, "parent");
    let own = |key: &str| text(project, key).or_else(|| text(parent?, key));
    let mut properties = properties(project);
    for key in ["groupId", "artifactId", "version"] {
        if let Some(value) = own(key) {
            properties.insert(format!("project.{key}"), value.to_owned());
        }
    }
    let expand = |value: &str| expanded(value, &properties);
    manifest.name = text(project, "artifactId").map(|artifact| match own("groupId") {
        Some(group) => format!("{}:{}", expand(group), expand(artifact)),
        None => expand(artifact),
    });
    manifest.version = own("version").map(expand);

    let managed = child(project, "dependencyManagement");
    let managed: BTreeMap<String, String> = managed
        .into_iter()
        .flat_map(listed)
        .filter_map(|node| Some((name(node, &expand)?, expand(text(node, "version")?))))
        .collect();
    for node in listed(project) {
        let Some(name) = name(node, &expand) else {
            continue;
        };
        let kind = match (text(node, "optional"), text(node, "scope")) {
            (Some("true"), _) => DependencyKind::Optional,
            (_, Some("test")) => DependencyKind::Dev,
            (_, Some("provided")) => DependencyKind::Peer,
            _ => DependencyKind::Normal,
        };
        let version = text(node, "version").map(expand);
        let version = version.or_else(|| managed.get(&name).cloned());
        let dependency = Dependency::new(name, kind).requiring(version.unwrap_or_default());
        manifest.dependencies.push(dependency);
    }
    manifest
}

fn listed<'d>(node: Node<'d, 'd>) -> impl Iterator<Item = Node<'d, 'd>> {
    let list = child(node, "dependencies");
    let entries = list.into_iter().flat_map(|list| list.children());
    entries.filter(|entry| entry.tag_name().name() == "dependency")
}

fn name(node: Node<'_, '_>, expand: &impl Fn(&str) -> String) -> Option<String> {
    let (group, artifact) = (text(node, "groupId")?, text(node, "artifactId")?);
    Some(format!("{}:{}", expand(group), expand(artifact)))
}

fn properties(project: Node<'_, '_>) -> BTreeMap<String, String> {
    let list = child(project, "properties");
    let entries = list.into_iter().flat_map(|list| list.children());
    entries
        .filter(Node::is_element)
        .map(|entry| {
            let value = entry.text().unwrap_or_default().trim();
            (entry.tag_name().name().to_owned(), value.to_owned())
        })
        .collect()
}

/// Puts properties in their places. One that is defined elsewhere stays as it is written.
fn expanded(value: &str, properties: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((key, after)) = after.split_once('}') else {
            break;
        };
        out.push_str(before);
        match properties.get(key) {
            // Not expanded again: a property may name itself.
            Some(value) => out.push_str(value),
            None => out.extend(["${", key, "}"]),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The first child element of a name.
pub(super) fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.children()
        .find(|child| child.tag_name().name() == name)
}

/// The text of the first child element of a name.
pub(super) fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let text = child(node, name)?.text()?.trim();
    (!text.is_empty()).then_some(text)
}
