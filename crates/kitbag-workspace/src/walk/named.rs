//! Adds the paths that the caller wants whatever the rules say.

use std::fs;
use std::path::Path;

use kitbag_core::problem::{Problem, ProblemKind};

use super::NAMED_SIZE_LIMIT;
use super::entry::{FileEntry, Skipped, Walk};
use super::rules;
use super::skip::{self, SkipReason};
use super::visit::{modified, unreadable};

/// Adds each named file that the walk left out; what cannot be added is told.
///
/// A link inside the root adds the file that it leads to.
pub(super) fn add(root: &Path, named: &[String], walk: &mut Walk) {
    let Ok(real_root) = root.canonicalize() else {
        return;
    };
    for name in named {
        let Ok(real) = real_root.join(name).canonicalize() else {
            walk.problems.push(problem(
                ProblemKind::NotFound,
                format!("`{name}` does not exist"),
            ));
            continue;
        };
        let Some(path) = rules::below(&real_root, &real) else {
            walk.problems.push(problem(
                ProblemKind::NotFound,
                format!("`{name}` is outside the root"),
            ));
            continue;
        };
        if real.is_dir() {
            let message = format!("`{name}` is a folder");
            let hint = "name its files, or use a pattern";
            walk.problems
                .push(problem(ProblemKind::Ignored, message).with_hint(hint));
            continue;
        }
        if path.split('/').any(skip::never_shown) {
            walk.problems.push(problem(
                ProblemKind::LeftOut,
                format!("`{name}` is never shown"),
            ));
            continue;
        }
        if walk.files.iter().any(|file| file.path == path) {
            continue;
        }
        walk.skipped.retain(|skipped| skipped.path != path);
        match entry(&real, &path) {
            Ok(file) => walk.files.push(file),
            Err(reason) => walk.skipped.push(Skipped::new(path, reason)),
        }
    }
}

fn entry(real: &Path, path: &str) -> Result<FileEntry, SkipReason> {
    let metadata = fs::symlink_metadata(real).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(SkipReason::NotAFile);
    }
    if metadata.len() > NAMED_SIZE_LIMIT {
        return Err(SkipReason::Huge {
            size: metadata.len(),
        });
    }
    Ok(FileEntry::new(path, metadata.len(), modified(&metadata)))
}

fn problem(kind: ProblemKind, message: String) -> Problem {
    Problem::new("", kind, message)
}
