//! `package.json`, with the workspaces of npm, Yarn and pnpm.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::link::Members;
use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, upwards};
use crate::yaml;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut members = Members::default();
    let mut catalogs = BTreeMap::new();
    for (path, text) in sources.named(|name| name == "pnpm-workspace.yaml") {
        if let Some(workspace) = sources.parsed(path, yaml::from_str(&text)) {
            for glob in texts(workspace.get("packages")) {
                members.add(folder_of(path), glob);
            }
            catalogs.insert(folder_of(path).to_owned(), workspace);
        }
    }
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| name == "package.json") {
        let Some(json) = sources.parsed(path, serde_json::from_str::<Map<String, Value>>(&text))
        else {
            continue;
        };
        let workspaces = json.get("workspaces");
        let packages = workspaces.and_then(|workspaces| workspaces.get("packages"));
        for glob in texts(packages.or(workspaces)) {
            members.add(folder_of(path), glob);
        }
        manifests.push(sources.bounded(manifest(path, &json, &catalogs)));
    }
    members.mark(&mut manifests);
    manifests
}

fn manifest(path: &str, json: &Map<String, Value>, catalogs: &BTreeMap<String, Value>) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Npm);
    let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    manifest.name = text("name").filter(|name| !name.is_empty());
    manifest.version = text("version");
    for (section, kind) in [
        ("dependencies", DependencyKind::Normal),
        ("devDependencies", DependencyKind::Dev),
        ("peerDependencies", DependencyKind::Peer),
        ("optionalDependencies", DependencyKind::Optional),
    ] {
        let Some(entries) = json.get(section).and_then(Value::as_object) else {
            continue;
        };
        for (name, requirement) in entries {
            let requirement = requirement.as_str().unwrap_or_default();
            let mut dependency = Dependency::new(name, kind).requiring(requirement);
            let folder = ["file:", "link:", "portal:", "workspace:"]
                .iter()
                .find_map(|protocol| requirement.strip_prefix(protocol))
                .filter(|path| path.starts_with('.'));
            if let Some(folder) = folder {
                dependency.local = join(manifest.folder(), folder);
            }
            if let Some(catalog) = requirement.strip_prefix("catalog:") {
                let version = in_catalog(manifest.folder(), catalog, name, catalogs);
                dependency.requirement = version.or(dependency.requirement);
            }
            manifest.dependencies.push(dependency);
        }
    }
    manifest
}

/// The version that pnpm's workspace gives a package in one of its catalogs.
fn in_catalog(
    folder: &str,
    catalog: &str,
    name: &str,
    catalogs: &BTreeMap<String, Value>,
) -> Option<String> {
    let workspace = upwards(folder).find_map(|folder| catalogs.get(folder))?;
    let named = workspace.get("catalogs").and_then(|all| all.get(catalog));
    let entries = match catalog {
        "" | "default" => workspace.get("catalog").or(named),
        _ => named,
    };
    entries?.get(name)?.as_str().map(str::to_owned)
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = list.and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}
