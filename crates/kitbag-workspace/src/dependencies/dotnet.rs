//! `*.csproj`, `*.fsproj`, `*.vbproj`, and the versions of `Directory.Packages.props`.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::maven::text;
use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, name_of, upwards};

const PROJECTS: [&str; 3] = [".csproj", ".fsproj", ".vbproj"];

/// The versions of packages, by name.
type Versions = BTreeMap<String, String>;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut central: BTreeMap<&str, Versions> = BTreeMap::new();
    for (path, text) in sources.named(|name| name == "Directory.Packages.props") {
        if let Some(document) = sources.parsed(path, Document::parse(&text)) {
            let versions = references(&document, "PackageVersion");
            let versions = versions.filter_map(|node| {
                // NuGet compares names without regard to case.
                Some((included(node)?.to_lowercase(), version(node)?.to_owned()))
            });
            central.insert(folder_of(path), versions.collect());
        }
    }
    let is_project = |name: &str| PROJECTS.iter().any(|end| name.ends_with(end));
    sources.manifests(Ecosystem::DotNet, is_project, |manifest, text| {
        let document = sources.parsed(&manifest.path, Document::parse(text))?;
        let versions = upwards(manifest.folder()).find_map(|folder| central.get(folder));
        read(manifest, &document, versions);
        Some(())
    })
}

fn read(manifest: &mut Manifest, document: &Document<'_>, central: Option<&Versions>) {
    let property = |name: &str| {
        let mut groups = references(document, "PropertyGroup");
        let value = groups.find_map(|group| text(group, name));
        // A value that is computed says nothing.
        value.filter(|value| !value.contains("$("))
    };
    let name = property("PackageId").or_else(|| property("AssemblyName"));
    let name = name.unwrap_or_else(|| stem(&manifest.path));
    manifest.name = Some(name.to_owned());
    manifest.version = property("Version").map(str::to_owned);
    for node in references(document, "PackageReference") {
        let Some(name) = included(node) else {
            continue;
        };
        let kind = match own(node, "PrivateAssets") {
            Some(value) if value.eq_ignore_ascii_case("all") => DependencyKind::Build,
            _ => DependencyKind::Normal,
        };
        let shared = central.and_then(|central| central.get(&name.to_lowercase()));
        let version = version(node).or(shared.map(String::as_str));
        let dependency = Dependency::new(name, kind).requiring(version.unwrap_or_default());
        manifest.dependencies.push(dependency);
    }
    for node in references(document, "ProjectReference") {
        if let Some(project) = included(node) {
            let local = join(manifest.folder(), project);
            let local = local.map(|project| folder_of(&project).to_owned());
            // Project files usually name paths with backslashes, on every system.
            let name = stem(project.rsplit('\\').next().unwrap_or(project));
            let dependency = Dependency::new(name, DependencyKind::Normal).at(local);
            manifest.dependencies.push(dependency);
        }
    }
}

fn references<'d>(
    document: &'d Document<'_>,
    name: &'static str,
) -> impl Iterator<Item = Node<'d, 'd>> {
    let nodes = document.descendants();
    nodes.filter(move |node| node.tag_name().name() == name)
}

fn included<'d>(node: Node<'d, 'd>) -> Option<&'d str> {
    node.attribute("Include")
        .or_else(|| node.attribute("Update"))
}

fn version<'d>(node: Node<'d, 'd>) -> Option<&'d str> {
    own(node, "Version").or_else(|| node.attribute("VersionOverride"))
}

/// An attribute, or the element that may stand for it.
fn own<'d>(node: Node<'d, 'd>, name: &str) -> Option<&'d str> {
    node.attribute(name).or_else(|| text(node, name))
}

/// The name of a project file without its ending.
fn stem(path: &str) -> &str {
    let name = name_of(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
