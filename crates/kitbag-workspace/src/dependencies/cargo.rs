//! `Cargo.toml`: packages, workspaces, and what members inherit from them.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::link::Members;
use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, upwards};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut tables: BTreeMap<&str, (&str, Table)> = BTreeMap::new();
    for (path, text) in sources.named(|name| name == "Cargo.toml") {
        if let Some(table) = sources.parsed(
            path,
            text.parse::<Table>().map_err(|e| e.message().to_owned()),
        ) {
            tables.insert(folder_of(path), (path, table));
        }
    }
    let mut members = Members::default();
    for (folder, (_, table)) in &tables {
        for glob in texts(table, &["workspace", "members"]) {
            members.add(folder, glob);
        }
        for glob in texts(table, &["workspace", "exclude"]) {
            members.exclude(folder, glob);
        }
    }
    let mut manifests: Vec<Manifest> = tables
        .iter()
        .map(|(folder, (path, table))| {
            let workspace = Workspace::of(folder, table, &tables);
            sources.bounded(manifest(path, folder, table, workspace))
        })
        .collect();
    members.mark(&mut manifests);
    manifests
}

/// The workspace that a package belongs to.
#[derive(Clone, Copy)]
struct Workspace<'t> {
    folder: &'t str,
    table: &'t Table,
}

impl<'t> Workspace<'t> {
    /// The one that the package names, else the nearest above it.
    fn of(
        folder: &'t str,
        table: &'t Table,
        tables: &'t BTreeMap<&'t str, (&'t str, Table)>,
    ) -> Option<Self> {
        let at = |folder: &str| {
            let (folder, (_, table)) = tables.get_key_value(folder)?;
            let table = table.get("workspace")?.as_table()?;
            Some(Self { folder, table })
        };
        match get(table, &["package", "workspace"]).and_then(Value::as_str) {
            Some(named) => at(&join(folder, named)?),
            None => upwards(folder).find_map(at),
        }
    }
}

fn manifest(path: &str, folder: &str, table: &Table, workspace: Option<Workspace<'_>>) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Cargo);
    let text = |keys: &[&str]| get(table, keys).and_then(Value::as_str).map(str::to_owned);
    manifest.name = text(&["package", "name"]);
    manifest.version = text(&["package", "version"]).or_else(|| {
        // `version.workspace = true`.
        get(table, &["package", "version", "workspace"])?;
        let version = get(workspace?.table, &["package", "version"])?;
        version.as_str().map(str::to_owned)
    });
    let targets = get(table, &["target"]).and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(|targets| targets.values());
    for table in [table]
        .into_iter()
        .chain(targets.filter_map(Value::as_table))
    {
        for (section, kind) in [
            ("dependencies", DependencyKind::Normal),
            ("build-dependencies", DependencyKind::Build),
            ("build_dependencies", DependencyKind::Build),
            ("dev-dependencies", DependencyKind::Dev),
            ("dev_dependencies", DependencyKind::Dev),
        ] {
            let Some(entries) = table.get(section).and_then(Value::as_table) else {
                continue;
            };
            for (name, value) in entries {
                let dependency = dependency(name, value, kind, folder, workspace);
                manifest.dependencies.push(dependency);
            }
        }
    }
    manifest
}

fn dependency(
    name: &str,
    value: &Value,
    kind: DependencyKind,
    folder: &str,
    workspace: Option<Workspace<'_>>,
) -> Dependency {
    let inherits = value.get("workspace").and_then(Value::as_bool) == Some(true);
    let inherited = workspace.filter(|_| inherits).and_then(|workspace| {
        let value = get(workspace.table, &["dependencies", name])?;
        Some((value, workspace.folder))
    });
    let (source, base) = inherited.unwrap_or((value, folder));
    let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
    let kind = if is_optional {
        DependencyKind::Optional
    } else {
        kind
    };

    let text = |key: &str| source.get(key).and_then(Value::as_str);
    let version = source
        .as_str()
        .or_else(|| text("version"))
        .or_else(|| text("git"));
    let requirement = match (text("package"), version) {
        (Some(package), Some(version)) => format!("{package} {version}"),
        (Some(package), None) => package.to_owned(),
        (None, version) => version.unwrap_or_default().to_owned(),
    };
    let local = text("path").and_then(|path| join(base, path));
    Dependency::new(name, kind).requiring(requirement).at(local)
}

/// The value at the end of a way of keys.
pub(super) fn get<'t>(table: &'t Table, keys: &[&str]) -> Option<&'t Value> {
    let (first, rest) = keys.split_first()?;
    let first = table.get(*first)?;
    rest.iter().try_fold(first, |value, key| value.get(*key))
}

/// The strings of the list at the end of a way of keys.
pub(super) fn texts<'t>(table: &'t Table, keys: &[&str]) -> impl Iterator<Item = &'t str> {
    let list = get(table, keys).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}
