//! Adds the paths that the caller wants whatever the rules say.

use std::fs;
use std::path::Path;

use kitbag_core::problem::{Problem, ProblemKind};

use super::NAMED_SIZE_LIMIT;
use super::entry::{FileEntry, Skipped, Walk};
use super::rules;
use super::skip;
use super::visit::about;

/// Adds each named file that the walk left out; a name that cannot be added becomes a problem.
///
/// A link inside the root adds the file that it leads to.
pub(super) fn add(root: &Path, named: &[String], walk: &mut Walk) {
    // Links are resolved on both sides, or a named link could lead out of the root.
    let Ok(real_root) = root.canonicalize() else {
        return;
    };
    for name in named {
        if let Err(problem) = add_one(&real_root, name, walk) {
            walk.problems.push(problem);
        }
    }
}

fn add_one(root: &Path, name: &str, walk: &mut Walk) -> Result<(), Problem> {
    let problem = |kind, why: &str| Problem::new("", kind, format!("`{name}` {why}"));
    let missing = |_| problem(ProblemKind::NotFound, "does not exist");
    let outside = || problem(ProblemKind::NotFound, "is outside the root");
    let real = root.join(name).canonicalize().map_err(missing)?;
    let path = rules::below(root, &real).ok_or_else(outside)?;
    if real.is_dir() {
        let problem = problem(ProblemKind::Ignored, "is a folder");
        return Err(problem.with_hint("name its files, or use a pattern"));
    }
    if path.split('/').any(skip::never_shown) {
        return Err(problem(ProblemKind::LeftOut, "is never shown"));
    }
    if !walk.files.iter().any(|file| file.path == path) {
        // The file is shown after all, or has a new reason below.
        walk.skipped.retain(|skipped| skipped.path != path);
        match about(fs::symlink_metadata(&real), NAMED_SIZE_LIMIT) {
            Ok((size, modified)) => walk.files.push(FileEntry::new(path, size, modified)),
            Err(reason) => walk.skipped.push(Skipped::new(path, reason)),
        }
    }
    Ok(())
}
