//! Leaves out a `vendor` folder that git tracks: code of other projects, unless most of the source is in
//! it.
//!
//! In some projects `vendor` is a word of the trade. So only one near the root counts, only beside more source of the
//! project's own, and only where something in it shows that it holds projects.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{Skipped, Walk};
use super::role::FileRole;
use super::select::Selection;
use super::skip::SkipReason;

/// Takes the files of such folders out of a walk, and notes each folder as skipped.
pub(super) fn leave_out(selection: &Selection, walk: &mut Walk) {
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    let mut own = 0;
    for file in &walk.files {
        let is_source = usize::from(file.role == FileRole::Source);
        match vendor_folder(&file.path) {
            Some(folder) => *folders.entry(folder.to_owned()).or_default() += is_source,
            None => own += is_source,
        }
    }
    let is_lifted = |folder: &str| folder.split('/').any(|part| selection.lifts_folder(part));
    folders.retain(|folder, source| {
        *source <= own && own > 0 && !is_lifted(folder) && holds_projects(folder, walk)
    });
    if folders.is_empty() {
        return;
    }
    walk.files.retain(|file| {
        let folder = vendor_folder(&file.path);
        !folder.is_some_and(|folder| folders.contains_key(folder))
    });
    let skipped = folders.into_keys();
    walk.skipped
        .extend(skipped.map(|folder| Skipped::new(folder, SkipReason::Vendored)));
}

/// Tells whether a folder holds other projects: a manifest or a licence below it, or, at the root, several folders
/// and no source beside them.
fn holds_projects(folder: &str, walk: &Walk) -> bool {
    // The walk leaves out a project with a licence of its own, and notes it.
    let is_project = |skipped: &Skipped| {
        skipped.reason == SkipReason::Vendored && below(folder, &skipped.path).is_some()
    };
    if walk.skipped.iter().any(is_project) {
        return true;
    }
    let mut packages = BTreeSet::new();
    let mut has_own = false;
    for file in &walk.files {
        let Some(path) = below(folder, &file.path) else {
            continue;
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_licence = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT"];
        if file.role == FileRole::Manifest || is_licence.iter().any(|l| name.starts_with(l)) {
            return true;
        }
        match path.split_once('/') {
            Some((package, _)) => drop(packages.insert(package)),
            None => has_own |= file.role == FileRole::Source,
        }
    }
    !folder.contains('/') && !has_own && packages.len() > 1
}

/// The rest of a path below a folder.
fn below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// The folder of other projects' code that a path is in: at the root, or in a folder there.
fn vendor_folder(path: &str) -> Option<&str> {
    let mut end = 0;
    for folder in path.split('/').take(2) {
        end += folder.len();
        if folder == "vendor" && end < path.len() {
            return path.get(..end);
        }
        end += 1;
    }
    None
}
