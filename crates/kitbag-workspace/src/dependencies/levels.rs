//! The manifests as text, at several sizes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Dependencies, Dependency, DependencyKind, Ecosystem, Manifest};
use crate::shown::{counted, ever_shorter, first_of, shown};

/// The details that are shown, with the most manifests and the most names of each kind, from the
/// largest to the smallest.
const SIZES: [(Detail, usize, usize); 4] = [
    (Detail::All, 150, 100),
    (Detail::Primary, 80, 60),
    (Detail::Names, 60, 40),
    (Detail::Needed, 30, 20),
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    All,
    /// Nothing of tests, examples and vendored code.
    Primary,
    /// No versions and places either.
    Names,
    /// Nothing but what is needed to run either.
    Needed,
}

/// The most packages of an ecosystem that the shortest text names.
const MOST_USED: usize = 30;

/// The names and folders of the packages whose manifests are shown.
type Packages<'d> = BTreeSet<(&'d str, &'d str)>;

/// The texts of a chunk about dependencies, the most detailed first and each shorter than the one
/// before: everything, the project proper, names alone, names of what it needs to run, and for each
/// ecosystem what most of its packages use.
///
/// Without manifests the list is empty.
#[must_use]
pub fn levels(dependencies: &Dependencies) -> Vec<String> {
    let sizes =
        SIZES.map(|(detail, manifests, names)| text(dependencies, detail, manifests, names));
    ever_shorter(sizes.into_iter().chain([summary(dependencies)]))
}

fn text(dependencies: &Dependencies, detail: Detail, most: usize, names: usize) -> String {
    let all = &dependencies.manifests;
    // A project of nothing but examples is about its examples.
    let is_all = detail == Detail::All || !all.iter().any(|manifest| manifest.is_primary);
    let wanted = all.iter().filter(|manifest| is_all || manifest.is_primary);
    let shown: Vec<&Manifest> = wanted.take(most).collect();
    let packages: Packages<'_> = shown
        .iter()
        .filter_map(|manifest| Some((manifest.name.as_deref()?, manifest.folder())))
        .collect();
    let mut text = String::new();
    for manifest in &shown {
        write_manifest(&mut text, manifest, detail, names, &packages);
    }
    if let more @ 1.. = all.len() - shown.len() {
        text.push_str(&format!("… {}\n", counted(more, "more manifest")));
    }
    text
}

fn write_manifest(
    text: &mut String,
    manifest: &Manifest,
    detail: Detail,
    most: usize,
    packages: &Packages<'_>,
) {
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
        let is_shown = kind == DependencyKind::Normal || detail < Detail::Needed;
        let mut known = BTreeSet::new();
        let of_kind = manifest.dependencies.iter().filter(|dependency| {
            // A manifest may name one package twice, for instance for two platforms.
            is_shown && dependency.kind == kind && known.insert(&dependency.name)
        });
        let items = of_kind.map(|dependency| item(dependency, detail, packages));
        let names = first_of(items, most).join(", ");
        if !names.is_empty() {
            text.push_str(&format!("  {title}{names}\n"));
        }
    }
}

fn item(dependency: &Dependency, detail: Detail, packages: &Packages<'_>) -> String {
    let name = shown(&dependency.name);
    match (&dependency.local, &dependency.requirement) {
        _ if detail >= Detail::Names => name.into_owned(),
        // Its manifest has a line of its own, which says where it is.
        // The text of 98 manifests shrinks from 34.6 kB to 28.6 kB by this.
        (Some(folder), _) if packages.contains(&(dependency.name.as_str(), folder.as_str())) => {
            format!("{name} (local)")
        }
        (Some(folder), _) if folder.is_empty() => format!("{name} (the root)"),
        (Some(folder), _) => format!("{name} ({})", shown(folder)),
        // A comma with a blank is what stands between two dependencies.
        (None, Some(requirement)) => format!("{name} {}", shown(&requirement.replace(", ", ","))),
        (None, None) => name.into_owned(),
    }
}

/// A line for each ecosystem: how many packages there are, and what most of them use.
fn summary(dependencies: &Dependencies) -> String {
    let mut ecosystems: BTreeMap<Ecosystem, (usize, BTreeMap<&str, usize>)> = BTreeMap::new();
    let primary = dependencies
        .manifests
        .iter()
        .filter(|manifest| manifest.is_primary);
    for manifest in primary {
        let (packages, uses) = ecosystems.entry(manifest.ecosystem).or_default();
        *packages += 1;
        let needed = manifest.dependencies.iter().filter(|dependency| {
            dependency.local.is_none() && dependency.kind == DependencyKind::Normal
        });
        let names: BTreeSet<&str> = needed.map(|dependency| dependency.name.as_str()).collect();
        for name in names {
            *uses.entry(name).or_default() += 1;
        }
    }
    let mut text = String::new();
    for (ecosystem, (packages, uses)) in ecosystems {
        let mut ranked: Vec<(&str, usize)> = uses.into_iter().collect();
        // By name among equals, so the text is the same in every run.
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let names = ranked.iter().map(|(name, _)| shown(name).into_owned());
        let names = first_of(names, MOST_USED).join(", ");
        let colon = if names.is_empty() { "" } else { ": " };
        let manifests = counted(packages, "manifest");
        text.push_str(&format!(
            "{}, {manifests}{colon}{names}\n",
            ecosystem.as_str()
        ));
    }
    text
}
