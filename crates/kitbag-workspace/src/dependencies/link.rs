//! Which dependencies are packages of the workspace itself.

use std::collections::BTreeMap;

use globset::GlobBuilder;

use super::{Ecosystem, Manifest};
use crate::relative::join;

/// Gives every dependency that is a package of the workspace its folder.
///
/// A manifest that names the folder itself is believed. Otherwise a dependency is local if a primary
/// manifest of the same ecosystem has its name.
pub(super) fn link(manifests: &mut [Manifest]) {
    let mut folders: BTreeMap<(Ecosystem, String), String> = BTreeMap::new();
    for manifest in manifests.iter().filter(|manifest| manifest.is_primary) {
        if let Some(name) = &manifest.name {
            let key = (manifest.ecosystem, canonical(manifest.ecosystem, name));
            folders
                .entry(key)
                .or_insert_with(|| manifest.folder().to_owned());
        }
    }
    for manifest in manifests {
        let ecosystem = manifest.ecosystem;
        let own = manifest.folder().to_owned();
        for dependency in &mut manifest.dependencies {
            let key = (ecosystem, canonical(ecosystem, &dependency.name));
            let named = folders.get(&key).filter(|folder| **folder != own);
            dependency.local = dependency.local.take().or_else(|| named.cloned());
        }
    }
}

/// The folder of each package of the workspace, in every spelling that imports use.
pub(super) fn packages(manifests: &[Manifest]) -> BTreeMap<String, String> {
    let mut packages = BTreeMap::new();
    let mut add = |ecosystem, name: &str, folder: &str| {
        if matches!(ecosystem, Ecosystem::Cargo | Ecosystem::Python) && name.contains('-') {
            let imported = name.replace('-', "_");
            packages
                .entry(imported)
                .or_insert_with(|| folder.to_owned());
        }
        packages
            .entry(name.to_owned())
            .or_insert_with(|| folder.to_owned());
    };
    for manifest in manifests.iter().filter(|manifest| manifest.is_primary) {
        if let Some(name) = &manifest.name {
            add(manifest.ecosystem, name, manifest.folder());
        }
    }
    for manifest in manifests {
        for dependency in &manifest.dependencies {
            if let Some(folder) = &dependency.local {
                add(manifest.ecosystem, &dependency.name, folder);
            }
        }
    }
    packages
}

/// A name as its ecosystem compares names.
fn canonical(ecosystem: Ecosystem, name: &str) -> String {
    match ecosystem {
        Ecosystem::Python => name.to_lowercase().replace(['_', '.'], "-"),
        Ecosystem::Cargo => name.replace('_', "-"),
        Ecosystem::DotNet | Ecosystem::Composer => name.to_lowercase(),
        _ => name.to_owned(),
    }
}

/// The members of workspaces, by the globs that name them.
#[derive(Default)]
pub(super) struct Members {
    included: Vec<globset::GlobMatcher>,
    excluded: Vec<globset::GlobMatcher>,
}

impl Members {
    /// Adds a glob that is relative to `folder`; one with `!` before it excludes.
    pub(super) fn add(&mut self, folder: &str, glob: &str) {
        match glob.trim().strip_prefix('!') {
            Some(excluded) => self.excluded.extend(matcher(folder, excluded)),
            None => self.included.extend(matcher(folder, glob.trim())),
        }
    }

    /// Takes the folders that the glob names out again.
    pub(super) fn exclude(&mut self, folder: &str, glob: &str) {
        self.excluded.extend(matcher(folder, glob.trim()));
    }

    /// Makes the members primary.
    pub(super) fn mark(&self, manifests: &mut [Manifest]) {
        for manifest in manifests {
            manifest.is_primary |= self.contains(manifest.folder());
        }
    }

    fn contains(&self, folder: &str) -> bool {
        let any = |globs: &[globset::GlobMatcher]| globs.iter().any(|glob| glob.is_match(folder));
        any(&self.included) && !any(&self.excluded)
    }
}

fn matcher(folder: &str, glob: &str) -> Option<globset::GlobMatcher> {
    // The folder is no glob, even if it has a bracket in its name.
    let folder = globset::escape(folder);
    let glob = join(&folder, glob)?;
    let glob = GlobBuilder::new(&glob)
        .literal_separator(true)
        .build()
        .ok()?;
    Some(glob.compile_matcher())
}
