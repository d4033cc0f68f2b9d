//! `pyproject.toml` of every build tool, and `Pipfile`.

use serde_json::Value;

use super::requirement;
use crate::dependencies::DependencyKind::{self, Build, Dev, Normal, Optional};
use crate::dependencies::link::Members;
use crate::dependencies::sources::Sources;
use crate::dependencies::{Dependency, Ecosystem, Manifest};
use crate::json::{entries, is_true, text, texts};
use crate::relative::join;

pub(super) fn manifests(sources: &Sources<'_>, members: &mut Members) -> Vec<Manifest> {
    let is_manifest = |name: &str| matches!(name, "pyproject.toml" | "Pipfile");
    sources.manifests(Ecosystem::Python, is_manifest, |manifest, text| {
        let table = sources.toml(&manifest.path, text)?;
        if manifest.path.ends_with("Pipfile") {
            poetic(manifest, &table, "/packages", Normal);
            poetic(manifest, &table, "/dev-packages", Dev);
        } else {
            read(manifest, &table);
            let folder = manifest.folder();
            members.add(folder, texts(&table, "/tool/uv/workspace/members"));
            members.exclude(folder, texts(&table, "/tool/uv/workspace/exclude"));
        }
        Some(())
    })
}

fn read(manifest: &mut Manifest, table: &Value) {
    let first = |a: &str, b: &str| text(table, a).or(text(table, b)).map(str::to_owned);
    manifest.name = first("/project/name", "/tool/poetry/name");
    manifest.version = first("/project/version", "/tool/poetry/version");

    plain(manifest, table, "/project/dependencies", Normal);
    plain(manifest, table, "/tool/uv/dev-dependencies", Dev);
    for (groups, kind) in [
        ("/project/optional-dependencies", Optional),
        ("/dependency-groups", Dev),
        ("/tool/pdm/dev-dependencies", Dev),
    ] {
        for (_, group) in entries(table, groups) {
            plain(manifest, group, "", kind);
        }
    }
    plain(manifest, table, "/build-system/requires", Build);
    poetic(manifest, table, "/tool/poetry/dependencies", Normal);
    poetic(manifest, table, "/tool/poetry/dev-dependencies", Dev);
    for (_, group) in entries(table, "/tool/poetry/group") {
        poetic(manifest, group, "/dependencies", Dev);
    }

    // `shop[redis]` among the extras of `shop` is only a list of lists.
    let own = manifest.name.as_ref();
    manifest
        .dependencies
        .retain(|dependency| own != Some(&dependency.name));

    // uv lists the sources of packages in a table of its own.
    for (name, place) in entries(table, "/tool/uv/sources") {
        let local = text(place, "/path").and_then(|path| join(manifest.folder(), path));
        let dependencies = manifest.dependencies.iter_mut();
        for dependency in dependencies.filter(|dependency| dependency.name == *name) {
            dependency.local = local.clone().or(dependency.local.take());
        }
    }
}

/// A list of requirements.
fn plain(manifest: &mut Manifest, table: &Value, list: &str, kind: DependencyKind) {
    let parse = |text| requirement::parse(text, kind, manifest.folder());
    let found: Vec<Dependency> = texts(table, list).filter_map(parse).collect();
    manifest.dependencies.extend(found);
}

/// A table of names and versions, as Poetry and Pipenv write it.
fn poetic(manifest: &mut Manifest, table: &Value, names: &str, kind: DependencyKind) {
    for (name, value) in entries(table, names).filter(|(name, _)| *name != "python") {
        // The same package for several Pythons: the first stands for all.
        let value = value.get(0).unwrap_or(value);
        let kind = if is_true(value, "/optional") {
            Optional
        } else {
            kind
        };
        let version = value
            .as_str()
            .or(text(value, "/version"))
            .or(text(value, "/git"));
        let local = text(value, "/path").and_then(|path| join(manifest.folder(), path));
        let dependency = Dependency::new(name, kind).requiring(version.unwrap_or_default());
        manifest.dependencies.push(dependency.at(local));
    }
}
