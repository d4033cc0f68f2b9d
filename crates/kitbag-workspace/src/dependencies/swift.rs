//! `Package.swift`.

use super::sources::Sources;
use super::written::{joined, string_after, strings};
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{join, name_of};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    sources.manifests(Ecosystem::Swift, |name| name == "Package.swift", read)
}

fn read(manifest: &mut Manifest, text: &str) -> Option<()> {
    let text = joined(text, "//").join("\n");
    if let Some((_, package)) = text.split_once("Package(") {
        manifest.name = string_after(package, "name").map(str::to_owned);
    }
    // What is used by a target is written `.product(…)`, what the package needs `.package(…)`.
    for call in text.split(".package(").skip(1) {
        let call = call.split_once(')').map_or(call, |(call, _)| call);
        let found = dependency(call, manifest.folder());
        manifest.dependencies.extend(found);
    }
    Some(())
}

fn dependency(call: &str, folder: &str) -> Option<Dependency> {
    let local = string_after(call, "path");
    let place = local.or_else(|| string_after(call, "url"))?;
    let name = string_after(call, "name").unwrap_or_else(|| {
        let place = place.trim_end_matches('/');
        name_of(place.strip_suffix(".git").unwrap_or(place))
    });
    let mut versions = strings(call);
    versions.retain(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    let requirement = match versions.as_slice() {
        [from, to] => format!("{from} to {to}"),
        [version] => (*version).to_owned(),
        _ => string_after(call, "branch").unwrap_or_default().to_owned(),
    };
    let dependency = Dependency::new(name, DependencyKind::Normal).requiring(requirement);
    Some(dependency.at(local.and_then(|path| join(folder, path))))
}
