//! Lists the files of a workspace.
//!
//! Git's ignore rules decide, and the skips that a context needs come on top: vendored folders,
//! lock files, minified and generated text, binaries, secrets. A skip is reported with its reason, once
//! for a whole folder; files that an ignore file hides are not reported. No file is opened but the ignore
//! files, and nothing here looks at contents.

mod entry;
mod named;
mod role;
mod rules;
pub(crate) mod select;
mod skip;
mod vendored;
mod visit;

use std::path::Path;

use kitbag_core::problem::{Problem, ProblemKind};

pub use self::entry::{FileEntry, Skipped, Walk};
pub use self::role::FileRole;
pub(crate) use self::role::is_bulk;
use self::select::Selection;
pub use self::skip::SkipReason;
use crate::workspace::WorkspaceOptions;

/// Files larger than this are skipped unless they are named.
pub const SIZE_LIMIT: u64 = 4 << 20;

/// Files larger than this are skipped even if they are named.
pub const NAMED_SIZE_LIMIT: u64 = 64 << 20;

/// Lists the files under `root`, sorted by path, with what was left out and why. `tracked` are the
/// paths below the root that git tracks, sorted, where git was asked.
///
/// Files that git ignores are left out unless git tracks them; `.ignore` and `.kitbagignore` leave
/// out tracked files too. Where `.gitignore` files would leave nothing at all, and no tracked file
/// speaks for them, they are dropped and [`Walk::problems`] says so.
///
/// ```no_run
/// use std::path::Path;
/// use kitbag_workspace::walk::walk;
/// use kitbag_workspace::workspace::WorkspaceOptions;
///
/// let mut options = WorkspaceOptions::default();
/// options.exclude = vec!["*.sql".to_owned()];
/// for file in walk(Path::new("."), &options, None).files {
///     assert!(!file.path.ends_with(".sql"));
/// }
/// ```
#[must_use]
pub fn walk(root: &Path, options: &WorkspaceOptions, tracked: Option<&[String]>) -> Walk {
    let mut problems = Vec::new();
    let selection = Selection::new(options, &mut problems);
    let tracked = tracked.unwrap_or_default();
    let mut walk = visit::visit(root, &selection, tracked, rules::GitRules::Applied);
    // Somebody who points at a folder that is ignored as a whole wants to see it.
    if walk.files.is_empty() && walk.git_ignored && tracked.is_empty() {
        let without = visit::visit(root, &selection, tracked, rules::GitRules::Dropped);
        if !without.files.is_empty() {
            walk = without;
            let message = "it leaves no file here and git tracks none: it was not applied";
            let problem = Problem::new(".gitignore", ProblemKind::Ignored, message);
            walk.problems.push(problem);
        }
    }
    walk.problems.append(&mut problems);
    vendored::leave_out(&selection, &mut walk);
    // Last, since a named file takes back the skip that the walk noted for it.
    named::add(root, &options.named, &mut walk);
    walk.into_sorted()
}
