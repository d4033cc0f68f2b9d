//! `mix.exs`.

use super::sources::Sources;
use super::written::{first_string, lines, string_after};
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::join;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    sources.manifests(Ecosystem::Hex, |name| name == "mix.exs", read)
}

fn read(manifest: &mut Manifest, text: &str) -> Option<()> {
    for line in lines(text, "#") {
        if let Some((_, app)) = line.split_once("app: :") {
            manifest.name = Some(app.chars().take_while(|c| is_name(*c)).collect());
        }
        if let (None, Some(version)) = (&manifest.version, line.strip_prefix("version:")) {
            manifest.version = first_string(version).map(str::to_owned);
        }
        for entry in line.split("{:").skip(1) {
            let found = dependency(entry, manifest.folder());
            manifest.dependencies.extend(found);
        }
    }
    Some(())
}

/// Reads what follows `{:`, such as `phoenix, "~> 1.7", only: :test}`.
fn dependency(entry: &str, folder: &str) -> Option<Dependency> {
    let (name, rest) = entry.split_once(',')?;
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let rest = rest.trim();
    let version = first_string(rest).filter(|_| rest.starts_with('"'));
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
    let sibling = format!("../{name}");
    let sibling = rest
        .contains("in_umbrella: true")
        .then_some(sibling.as_str());
    let place = string_after(rest, "path").or(sibling);
    let has_source = ["path:", "git:", "github:", "hex:"]
        .iter()
        .any(|key| rest.contains(key));
    // Tuples that are no dependencies begin in the same way.
    let is_dependency = version.is_some() || sibling.is_some() || has_source;
    let dependency = Dependency::new(name, kind).requiring(version.unwrap_or_default());
    is_dependency.then(|| dependency.at(place.and_then(|place| join(folder, place))))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
