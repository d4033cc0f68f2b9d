//! Leaves out a `vendor` folder that git tracks: code of other projects, unless most of the source is in
//! it.
//!
//! Such a folder has nothing else that gives it away, and in some projects `vendor` is a word of the
//! trade. So only one near the root counts, and only beside more source of the project's own.

use std::collections::BTreeMap;

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
    folders.retain(|folder, source| *source <= own && own > 0 && !is_lifted(folder));
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

/// The folder of other projects' code that a path is in: at the root, or in a folder there.
fn vendor_folder(path: &str) -> Option<&str> {
    let mut end = 0;
    for folder in path.split('/').take(2) {
        end += folder.len();
        if matches!(folder, "vendor" | "vendors") && end < path.len() {
            return path.get(..end);
        }
        end += 1;
    }
    None
}
