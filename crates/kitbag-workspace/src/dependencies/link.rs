//! Finds the dependencies that are packages of the workspace itself.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};

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
                // The manifests come from the root down: of two with one name the upper one counts.
                .or_insert_with(|| manifest.folder().to_owned());
        }
    }
    for manifest in manifests {
        let ecosystem = manifest.ecosystem;
        let own = manifest.folder().to_owned();
        for dependency in &mut manifest.dependencies {
            let key = (ecosystem, canonical(ecosystem, &dependency.name));
            // A package may have the name of a foreign one that it depends on.
            let named = folders.get(&key).filter(|folder| **folder != own);
            dependency.local = dependency.local.take().or_else(|| named.cloned());
        }
    }
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
    included: Vec<GlobMatcher>,
    excluded: Vec<GlobMatcher>,
}

impl Members {
    /// Adds globs that are relative to `folder`; one with `!` before it excludes.
    pub(super) fn add<'g>(&mut self, folder: &str, globs: impl Iterator<Item = &'g str>) {
        for glob in globs.map(str::trim) {
            match glob.strip_prefix('!') {
                Some(excluded) => self.excluded.extend(matcher(folder, excluded)),
                None => self.included.extend(matcher(folder, glob)),
            }
        }
    }

    /// Adds folders that are relative to `folder`, and are no globs.
    pub(super) fn add_folders<'g>(&mut self, folder: &str, folders: impl Iterator<Item = &'g str>) {
        let globs = folders.map(globset::escape);
        self.included
            .extend(globs.filter_map(|glob| matcher(folder, &glob)));
    }

    /// Takes the folders that the globs name out again.
    pub(super) fn exclude<'g>(&mut self, folder: &str, globs: impl Iterator<Item = &'g str>) {
        let globs = globs.map(str::trim);
        self.excluded
            .extend(globs.filter_map(|glob| matcher(folder, glob)));
    }

    /// Makes the members primary.
    pub(super) fn mark(&self, manifests: &mut [Manifest]) {
        for manifest in manifests {
            let folder = manifest.folder();
            let any = |globs: &[GlobMatcher]| globs.iter().any(|glob| glob.is_match(folder));
            manifest.is_primary |= any(&self.included) && !any(&self.excluded);
        }
    }
}

fn matcher(folder: &str, glob: &str) -> Option<GlobMatcher> {
    // The folder is no glob, even if it has a bracket in its name.
    let folder = globset::escape(folder);
    let glob = join(&folder, glob)?;
    let glob = GlobBuilder::new(&glob)
        .literal_separator(true)
        .build()
        .ok()?;
    Some(glob.compile_matcher())
}
