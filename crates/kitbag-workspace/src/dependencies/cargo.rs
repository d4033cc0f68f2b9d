//! `Cargo.toml`: packages, workspaces, and what members inherit from them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::link::Members;
use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::json::{entries, is_true, text, texts};
use crate::relative::{folder_of, join, upwards};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let files = sources.named(|name| name == "Cargo.toml").into_iter();
    let tables: Vec<(&str, Value)> = files
        .filter_map(|(path, text)| Some((path, sources.toml(path, &text)?)))
        .collect();
    let mut members = Members::default();
    let mut workspaces: BTreeMap<&str, &Value> = BTreeMap::new();
    for (path, table) in &tables {
        let folder = folder_of(path);
        members.add(folder, texts(table, "/workspace/members"));
        members.exclude(folder, texts(table, "/workspace/exclude"));
        workspaces.extend(table.get("workspace").map(|table| (folder, table)));
    }
    let manifest = |(path, table): &(&str, Value)| {
        let mut manifest = Manifest::new(path, Ecosystem::Cargo);
        let at = |folder: &str| {
            let found = workspaces.get_key_value(folder);
            found.map(|(folder, table)| (*folder, *table))
        };
        // The one that the package names, else the nearest above it.
        let workspace = match text(table, "/package/workspace") {
            Some(named) => join(folder_of(path), named).and_then(|folder| at(&folder)),
            None => upwards(folder_of(path)).find_map(at),
        };
        read(&mut manifest, table, workspace);
        manifest
    };
    let mut manifests: Vec<Manifest> = tables.iter().map(manifest).collect();
    members.mark(&mut manifests);
    manifests
}

fn read(manifest: &mut Manifest, table: &Value, workspace: Option<(&str, &Value)>) {
    manifest.name = text(table, "/package/name").map(str::to_owned);
    let inherited = || {
        // `version.workspace = true`.
        table.pointer("/package/version/workspace")?;
        text(workspace?.1, "/package/version")
    };
    let version = text(table, "/package/version").or_else(inherited);
    manifest.version = version.map(str::to_owned);
    let targets = entries(table, "/target").map(|(_, target)| target);
    for table in [table].into_iter().chain(targets) {
        for (section, kind) in [
            ("/dependencies", DependencyKind::Normal),
            ("/build-dependencies", DependencyKind::Build),
            // Cargo takes the older spelling too, up to the edition of 2021.
            ("/build_dependencies", DependencyKind::Build),
            ("/dev-dependencies", DependencyKind::Dev),
            ("/dev_dependencies", DependencyKind::Dev),
        ] {
            for (name, value) in entries(table, section) {
                let inherits = workspace.filter(|_| is_true(value, "/workspace"));
                let inherited = inherits.and_then(|(folder, workspace)| {
                    Some((folder, workspace.get("dependencies")?.get(name)?))
                });
                // An inherited path counts from the root of the workspace.
                let (folder, source) = inherited.unwrap_or((manifest.folder(), value));
                let kind = match is_true(value, "/optional") {
                    true => DependencyKind::Optional,
                    false => kind,
                };
                let dependency = dependency(name, source, kind, folder);
                manifest.dependencies.push(dependency);
            }
        }
    }
}

/// A dependency whose path counts from `folder`.
fn dependency(name: &str, source: &Value, kind: DependencyKind, folder: &str) -> Dependency {
    let version = source
        .as_str()
        .or(text(source, "/version"))
        .or(text(source, "/git"));
    let requirement = [text(source, "/package"), version];
    let requirement: Vec<&str> = requirement.into_iter().flatten().collect();
    let local = text(source, "/path").and_then(|path| join(folder, path));
    Dependency::new(name, kind)
        .requiring(requirement.join(" "))
        .at(local)
}
