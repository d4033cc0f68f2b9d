//! The options that remedy problems and errors of the library, which knows nothing of options.

use kitbag::core::problem::{Problem, ProblemKind};
use kitbag::pack::PackError;
use kitbag::workspace::git::Changes;

/// The remedy for a problem.
pub(crate) fn remedy(problem: &Problem) -> Option<&str> {
    match problem.kind {
        ProblemKind::NoModel => Some("choose one with `--model`"),
        _ => problem.hint.as_deref(),
    }
}

/// The remedy for an error of a pack.
pub(crate) fn pack_hint(error: &PackError) -> Option<String> {
    let hint = match error {
        PackError::Open(_) => "name the folder of a project with `--root`",
        PackError::NoRepository => {
            "`--diff` and `--staged` need git and a git repository; leave out `--no-git`"
        }
        PackError::NoChange {
            changes: Changes::Staged,
            left_out: 0,
        } => "`git add` stages files; `--diff` packs changes that are not staged, too",
        PackError::NoChange {
            changes: Changes::Uncommitted,
            left_out: 0,
        } => "name an older revision to compare with, such as `--diff=HEAD~1`",
        other => return other.hint(),
    };
    Some(hint.to_owned())
}
