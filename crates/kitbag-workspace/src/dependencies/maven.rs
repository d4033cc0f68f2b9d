//! `pom.xml`.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::link::Members;
use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut members = Members::default();
    let is_manifest = |name: &str| name == "pom.xml";
    let mut manifests = sources.manifests(Ecosystem::Maven, is_manifest, |manifest, text| {
        let document = sources.parsed(&manifest.path, Document::parse(text))?;
        let project = document.root_element();
        let modules = children(project, "modules").filter_map(|module| module.text());
        members.add_folders(manifest.folder(), modules.map(str::trim));
        read(manifest, project);
        Some(())
    });
    members.mark(&mut manifests);
    manifests
}

fn read(manifest: &mut Manifest, project: Node<'_, '_>) {
    let parent = child(project, "parent");
    // A module inherits its group and its version from the parent that it names.
    let own = |key: &str| text(project, key).or_else(|| text(parent?, key));
    let mut properties: BTreeMap<String, &str> = children(project, "properties")
        .filter(Node::is_element)
        .map(|entry| {
            let value = entry.text().unwrap_or_default().trim();
            (entry.tag_name().name().to_owned(), value)
        })
        .collect();
    for key in ["groupId", "artifactId", "version"] {
        properties.extend(own(key).map(|value| (format!("project.{key}"), value)));
    }
    let expand = |value: &str| expanded(value, &properties);
    let name = |group: Option<&str>, artifact: &str| match group {
        Some(group) => format!("{}:{}", expand(group), expand(artifact)),
        None => expand(artifact),
    };
    let name_of = |node| {
        let (group, artifact) = (text(node, "groupId")?, text(node, "artifactId")?);
        Some(name(Some(group), artifact))
    };
    manifest.name = text(project, "artifactId").map(|artifact| name(own("groupId"), artifact));
    manifest.version = own("version").map(expand);

    let managed = child(project, "dependencyManagement").into_iter();
    let managed: BTreeMap<String, String> = managed
        .flat_map(listed)
        .filter_map(|node| Some((name_of(node)?, expand(text(node, "version")?))))
        .collect();
    let dependencies = listed(project).filter_map(|node| {
        let name = name_of(node)?;
        let kind = match (text(node, "optional"), text(node, "scope")) {
            (Some("true"), _) => DependencyKind::Optional,
            (_, Some("test")) => DependencyKind::Dev,
            (_, Some("provided")) => DependencyKind::Peer,
            _ => DependencyKind::Normal,
        };
        let version = text(node, "version").map(expand);
        // `dependencyManagement` gives versions to dependencies that have none.
        let version = version.or_else(|| managed.get(&name).cloned());
        Some(Dependency::new(name, kind).requiring(version.unwrap_or_default()))
    });
    manifest.dependencies.extend(dependencies);
}

fn listed<'d>(node: Node<'d, 'd>) -> impl Iterator<Item = Node<'d, 'd>> {
    children(node, "dependencies").filter(|entry| entry.tag_name().name() == "dependency")
}

/// Puts properties in their places. One that is defined elsewhere stays as it is written.
fn expanded(value: &str, properties: &BTreeMap<String, &str>) -> String {
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

/// The text of the first child element of a name.
fn children<'a, 'd>(node: Node<'a, 'd>, name: &str) -> impl Iterator<Item = Node<'a, 'd>> {
    child(node, name)
        .into_iter()
        .flat_map(|list| list.children())
}
