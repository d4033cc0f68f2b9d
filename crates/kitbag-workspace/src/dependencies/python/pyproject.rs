//! `pyproject.toml` of every build tool, and `Pipfile`.

use toml::{Table, Value};

use super::requirement;
use crate::dependencies::cargo::{get, texts};
use crate::dependencies::link::Members;
use crate::dependencies::sources::Sources;
use crate::dependencies::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join};

use DependencyKind::{Build, Dev, Normal, Optional};

pub(super) fn manifests(sources: &Sources<'_>, members: &mut Members) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| matches!(name, "pyproject.toml" | "Pipfile")) {
        let table = text
            .parse::<Table>()
            .map_err(|error| error.message().to_owned());
        let Some(table) = sources.parsed(path, table) else {
            continue;
        };
        let mut manifest = Manifest::new(path, Ecosystem::Python);
        if path.ends_with("Pipfile") {
            poetic(&mut manifest, &table, &["packages"], Normal);
            poetic(&mut manifest, &table, &["dev-packages"], Dev);
        } else {
            read(&mut manifest, &table);
            for glob in texts(&table, &["tool", "uv", "workspace", "members"]) {
                members.add(folder_of(path), glob);
            }
            for glob in texts(&table, &["tool", "uv", "workspace", "exclude"]) {
                members.exclude(folder_of(path), glob);
            }
        }
        manifests.push(sources.bounded(manifest));
    }
    manifests
}

fn read(manifest: &mut Manifest, table: &Table) {
    let text = |keys: &[&str]| get(table, keys).and_then(Value::as_str).map(str::to_owned);
    manifest.name = text(&["project", "name"]).or_else(|| text(&["tool", "poetry", "name"]));
    manifest.version =
        text(&["project", "version"]).or_else(|| text(&["tool", "poetry", "version"]));

    let plain = |keys: &[&str], kind| (texts(table, keys).collect::<Vec<_>>(), kind);
    let mut lists = vec![
        plain(&["project", "dependencies"], Normal),
        plain(&["tool", "uv", "dev-dependencies"], Dev),
    ];
    for (keys, kind) in [
        (&["project", "optional-dependencies"][..], Optional),
        (&["dependency-groups"], Dev),
        (&["tool", "pdm", "dev-dependencies"], Dev),
    ] {
        let groups = get(table, keys).and_then(Value::as_table);
        for (group, _) in groups.into_iter().flatten() {
            lists.push(plain(&[keys, &[group.as_str()]].concat(), kind));
        }
    }
    lists.push(plain(&["build-system", "requires"], Build));
    let folder = manifest.folder().to_owned();
    for (list, kind) in lists {
        let parsed = list
            .iter()
            .filter_map(|text| requirement::parse(text, kind, &folder));
        manifest.dependencies.extend(parsed);
    }

    poetic(manifest, table, &["tool", "poetry", "dependencies"], Normal);
    poetic(
        manifest,
        table,
        &["tool", "poetry", "dev-dependencies"],
        Dev,
    );
    let groups = get(table, &["tool", "poetry", "group"]).and_then(Value::as_table);
    for (group, _) in groups.into_iter().flatten() {
        poetic(
            manifest,
            table,
            &["tool", "poetry", "group", group, "dependencies"],
            Dev,
        );
    }

    // `shop[redis]` among the extras of `shop` is only a list of lists.
    let own = manifest.name.clone();
    manifest
        .dependencies
        .retain(|dependency| own.as_ref() != Some(&dependency.name));

    // uv keeps apart what is needed and where it comes from.
    let places = get(table, &["tool", "uv", "sources"]).and_then(Value::as_table);
    for (name, place) in places.into_iter().flatten() {
        let path = place.get("path").and_then(Value::as_str);
        if let Some(local) = path.and_then(|path| join(&folder, path)) {
            let same = |dependency: &&mut Dependency| dependency.name == *name;
            for dependency in manifest.dependencies.iter_mut().filter(same) {
                dependency.local = Some(local.clone());
            }
        }
    }
}

/// A table of names and versions, as Poetry and Pipenv write it.
fn poetic(manifest: &mut Manifest, table: &Table, keys: &[&str], kind: DependencyKind) {
    let folder = manifest.folder().to_owned();
    let entries = get(table, keys).and_then(Value::as_table);
    for (name, value) in entries
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "python")
    {
        // The same package for several Pythons: the first stands for all.
        let value = value
            .as_array()
            .and_then(|values| values.first())
            .unwrap_or(value);
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
        let kind = if is_optional { Optional } else { kind };
        let version = value
            .as_str()
            .or_else(|| text("version"))
            .or_else(|| text("git"));
        let local = text("path").and_then(|path| join(&folder, path));
        let dependency = Dependency::new(name, kind).requiring(version.unwrap_or_default());
        manifest.dependencies.push(dependency.at(local));
    }
}
