//! `Package.swift`.

use super::sources::Sources;
use super::written::{joined, string_after, strings};
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, name_of};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| name == "Package.swift") {
        let mut manifest = Manifest::new(path, Ecosystem::Swift);
        let text = joined(&text, "//").join("\n");
        if let Some((_, package)) = text.split_once("Package(") {
            manifest.name = string_after(package, "name").map(str::to_owned);
        }
        // What is used by a target is written `.product(…)`, what the package needs `.package(…)`.
        for call in text.split(".package(").skip(1) {
            let call = call.split_once(')').map_or(call, |(call, _)| call);
            manifest
                .dependencies
                .extend(dependency(call, folder_of(path)));
        }
        manifests.push(sources.bounded(manifest));
    }
    manifests
}

fn dependency(call: &str, folder: &str) -> Option<Dependency> {
    let local = string_after(call, "path");
    let place = local.or_else(|| string_after(call, "url"))?;
    let name = string_after(call, "name").unwrap_or_else(|| {
        let place = place.trim_end_matches('/');
        name_of(place.strip_suffix(".git").unwrap_or(place))
    });
    let versions: Vec<&str> = strings(call)
        .into_iter()
        .filter(|text| text.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    let branch = string_after(call, "branch").unwrap_or_default();
    let requirement = match versions.as_slice() {
        [from, to] => format!("{from} to {to}"),
        [version] => (*version).to_owned(),
        _ => branch.to_owned(),
    };
    let local = local.and_then(|path| join(folder, path));
    Some(
        Dependency::new(name, DependencyKind::Normal)
            .requiring(requirement)
            .at(local),
    )
}
