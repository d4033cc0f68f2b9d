//! What the manifests say as text, at several sizes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Dependencies, Dependency, DependencyKind, Ecosystem, Manifest};
use crate::structure::shown;

/// What is shown of the manifests, from the most to the least.
const SIZES: [Size; 4] = [
    Size {
        manifests: 150,
        names: 100,
        requirements: true,
        aside: true,
        only_normal: false,
    },
    Size {
        manifests: 80,
        names: 60,
        requirements: true,
        aside: false,
        only_normal: false,
    },
    Size {
        manifests: 60,
        names: 40,
        requirements: false,
        aside: false,
        only_normal: false,
    },
    Size {
        manifests: 30,
        names: 20,
        requirements: false,
        aside: false,
        only_normal: true,
    },
];

/// How many packages of an ecosystem the shortest text names.
const MOST_USED: usize = 30;

struct Size {
    manifests: usize,
    names: usize,
    requirements: bool,
    aside: bool,
    only_normal: bool,
}

/// The names and folders of the packages whose manifests are shown.
type Packages<'d> = BTreeSet<(&'d str, &'d str)>;

/// The texts of a chunk about dependencies, the most detailed first and each shorter than the one
/// before: everything, the project proper, names alone, names of what it needs to run, and for each
/// ecosystem what most of its packages use.
///
/// There is none if there are no manifests.
#[must_use]
pub fn levels(dependencies: &Dependencies) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    let sizes = SIZES.iter().map(|size| text(dependencies, size));
    for text in sizes.chain([summary(dependencies)]) {
        let shorter = levels.last().is_none_or(|last| text.len() < last.len());
        if shorter && !text.is_empty() {
            levels.push(text);
        }
    }
    levels
}

fn text(dependencies: &Dependencies, size: &Size) -> String {
    let mut text = String::new();
    // A project of nothing but examples is about its examples.
    let only_aside = !dependencies
        .manifests
        .iter()
        .any(|manifest| manifest.is_primary);
    let wanted = |manifest: &&Manifest| size.aside || manifest.is_primary || only_aside;
    let shown = || {
        dependencies
            .manifests
            .iter()
            .filter(wanted)
            .take(size.manifests)
    };
    let packages: Packages<'_> = shown()
        .filter_map(|manifest| Some((manifest.name.as_deref()?, manifest.folder())))
        .collect();
    for manifest in shown() {
        write_manifest(&mut text, manifest, size, &packages);
    }
    let left_out = dependencies.manifests.len() - shown().count();
    if left_out > 0 {
        let manifests = if left_out == 1 {
            "manifest"
        } else {
            "manifests"
        };
        text.push_str(&format!("… {left_out} more {manifests}\n"));
    }
    text
}

fn write_manifest(text: &mut String, manifest: &Manifest, size: &Size, packages: &Packages<'_>) {
    text.push_str(&shown(&manifest.path));
    for (mark, part) in [(": ", &manifest.name), (" ", &manifest.version)] {
        if let Some(part) = part.as_ref().filter(|_| manifest.name.is_some()) {
            text.push_str(mark);
            text.push_str(&shown(part));
        }
    }
    text.push_str(&format!(" ({})\n", manifest.ecosystem.as_str()));
    for (kind, title) in [
        (DependencyKind::Normal, ""),
        (DependencyKind::Peer, "peer: "),
        (DependencyKind::Optional, "optional: "),
        (DependencyKind::Build, "build: "),
        (DependencyKind::Dev, "dev: "),
    ] {
        if size.only_normal && kind != DependencyKind::Normal {
            continue;
        }
        let mut known = BTreeSet::new();
        let of_kind = manifest
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == kind);
        let of_kind: Vec<&Dependency> = of_kind
            .filter(|dependency| known.insert(&dependency.name))
            .collect();
        if of_kind.is_empty() {
            continue;
        }
        let names = of_kind.iter().take(size.names);
        let mut names: Vec<String> = names
            .map(|dependency| item(dependency, size, packages))
            .collect();
        if let more @ 1.. = of_kind.len() - names.len() {
            names.push(format!("… {more} more"));
        }
        text.push_str(&format!("  {title}{}\n", names.join(", ")));
    }
}

fn item(dependency: &Dependency, size: &Size, packages: &Packages<'_>) -> String {
    let mut item = shown(&dependency.name).into_owned();
    if !size.requirements {
        return item;
    }
    match (&dependency.local, &dependency.requirement) {
        // Its manifest has a line of its own, which says where it is.
        (Some(folder), _) if packages.contains(&(dependency.name.as_str(), folder.as_str())) => {
            item.push_str(" (local)");
        }
        (Some(folder), _) if folder.is_empty() => item.push_str(" (the root)"),
        (Some(folder), _) => item.push_str(&format!(" ({})", shown(folder))),
        (None, Some(requirement)) => {
            // A comma with a blank is what stands between two dependencies.
            let requirement = requirement.replace(", ", ",");
            item.push_str(&format!(" {}", shown(&requirement)));
        }
        (None, None) => {}
    }
    item
}

/// A line for each ecosystem: how many packages there are, and what most of them use.
fn summary(dependencies: &Dependencies) -> String {
    let mut ecosystems: BTreeMap<Ecosystem, (usize, BTreeMap<&str, usize>)> = BTreeMap::new();
    for manifest in dependencies
        .manifests
        .iter()
        .filter(|manifest| manifest.is_primary)
    {
        let (packages, uses) = ecosystems.entry(manifest.ecosystem).or_default();
        *packages += 1;
        let names: BTreeSet<&str> = manifest
            .dependencies
            .iter()
            .filter(|dependency| {
                dependency.local.is_none() && dependency.kind == DependencyKind::Normal
            })
            .map(|dependency| dependency.name.as_str())
            .collect();
        for name in names {
            *uses.entry(name).or_default() += 1;
        }
    }
    let mut text = String::new();
    for (ecosystem, (packages, uses)) in ecosystems {
        let mut ranked: Vec<(&str, usize)> = uses.into_iter().collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let more = ranked.len().saturating_sub(MOST_USED);
        let names = ranked.iter().take(MOST_USED);
        let mut names: Vec<String> = names.map(|(name, _)| shown(name).into_owned()).collect();
        if more > 0 {
            names.push(format!("… {more} more"));
        }
        let manifests = if packages == 1 {
            "manifest"
        } else {
            "manifests"
        };
        let uses = if names.is_empty() {
            String::new()
        } else {
            format!(": {}", names.join(", "))
        };
        text.push_str(&format!(
            "{}, {packages} {manifests}{uses}\n",
            ecosystem.as_str()
        ));
    }
    text
}
