//! `mix.exs`.

use super::sources::Sources;
use super::written::{string_after, strings, without_comment};
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| name == "mix.exs") {
        let mut manifest = Manifest::new(path, Ecosystem::Hex);
        for line in text.lines().map(|line| without_comment(line, "#").trim()) {
            if let Some((_, app)) = line.split_once("app: :") {
                let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
                manifest.name = Some(app.chars().take_while(is_name).collect());
            }
            if let (None, Some(version)) = (&manifest.version, line.strip_prefix("version:")) {
                manifest.version = strings(version)
                    .first()
                    .map(|version| (*version).to_owned());
            }
            let entries = line.split("{:").skip(1);
            manifest
                .dependencies
                .extend(entries.filter_map(|entry| dependency(entry, folder_of(path))));
        }
        manifests.push(sources.bounded(manifest));
    }
    manifests
}

/// Reads what follows `{:`, such as `phoenix, "~> 1.7", only: :test}`.
fn dependency(entry: &str, folder: &str) -> Option<Dependency> {
    let (name, rest) = entry.split_once(',')?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let rest = rest.trim();
    let version = strings(rest)
        .first()
        .copied()
        .filter(|_| rest.starts_with('"'));
    let only = rest.split_once("only:").map_or("", |(_, only)| only);
    let kind = if only.contains(":dev") || only.contains(":test") {
        DependencyKind::Dev
    } else if rest.contains("optional: true") {
        DependencyKind::Optional
    } else if rest.contains("runtime: false") {
        DependencyKind::Build
    } else {
        DependencyKind::Normal
    };
    let is_sibling = rest.contains("in_umbrella: true");
    let sibling = || {
        is_sibling
            .then(|| join(folder, &format!("../{name}")))
            .flatten()
    };
    let local = string_after(rest, "path").and_then(|path| join(folder, path));
    let is_dependency = version.is_some()
        || is_sibling
        || ["path:", "git:", "github:", "hex:"]
            .iter()
            .any(|key| rest.contains(key));
    is_dependency.then(|| {
        Dependency::new(name, kind)
            .requiring(version.unwrap_or_default())
            .at(local.or_else(sibling))
    })
}
