//! `package.json`, with the workspaces of npm, Yarn and pnpm.

use std::collections::BTreeMap;

use serde_json::Value;

use super::link::Members;
use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::json::{entries, text, texts};
use crate::relative::{folder_of, join, upwards};
use crate::yaml;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut members = Members::default();
    let mut workspaces = BTreeMap::new();
    for (path, text) in sources.named(|name| name == "pnpm-workspace.yaml") {
        if let Some(workspace) = sources.parsed(path, yaml::from_str(&text)) {
            members.add(folder_of(path), texts(&workspace, "/packages"));
            workspaces.insert(folder_of(path), workspace);
        }
    }
    let is_manifest = |name: &str| name == "package.json";
    let mut manifests = sources.manifests(Ecosystem::Npm, is_manifest, |manifest, text| {
        let json = sources.json(&manifest.path, text)?;
        members.add(manifest.folder(), texts(&json, "/workspaces"));
        // Yarn also takes an object with the list inside.
        members.add(manifest.folder(), texts(&json, "/workspaces/packages"));
        let workspace = upwards(manifest.folder()).find_map(|folder| workspaces.get(folder));
        read(manifest, &json, workspace);
        Some(())
    });
    members.mark(&mut manifests);
    manifests
}

fn read(manifest: &mut Manifest, json: &Value, workspace: Option<&Value>) {
    let name = text(json, "/name").filter(|name| !name.is_empty());
    manifest.name = name.map(str::to_owned);
    manifest.version = text(json, "/version").map(str::to_owned);
    for (section, kind) in [
        ("/dependencies", DependencyKind::Normal),
        ("/devDependencies", DependencyKind::Dev),
        ("/peerDependencies", DependencyKind::Peer),
        ("/optionalDependencies", DependencyKind::Optional),
    ] {
        for (name, requirement) in entries(json, section) {
            let requirement = requirement.as_str().unwrap_or_default();
            let folder = ["file:", "link:", "portal:", "workspace:"]
                .iter()
                .find_map(|protocol| requirement.strip_prefix(protocol))
                // `workspace:^` names a version, not a place.
                .filter(|path| path.starts_with('.'));
            let local = folder.and_then(|folder| join(manifest.folder(), folder));
            let catalog = requirement.strip_prefix("catalog:");
            let version = catalog.and_then(|catalog| in_catalog(workspace?, catalog, name));
            let dependency = Dependency::new(name, kind);
            let dependency = dependency.requiring(version.unwrap_or(requirement));
            manifest.dependencies.push(dependency.at(local));
        }
    }
}

/// The version that pnpm's workspace gives a package in one of its catalogs.
fn in_catalog<'w>(workspace: &'w Value, catalog: &str, name: &str) -> Option<&'w str> {
    let named = workspace.get("catalogs").and_then(|all| all.get(catalog));
    let entries = match catalog {
        "" | "default" => workspace.get("catalog").or(named),
        _ => named,
    };
    entries?.get(name)?.as_str()
}
