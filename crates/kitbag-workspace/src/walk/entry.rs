//! The result of a walk: files, skips and problems.

use kitbag_core::problem::Problem;

use super::role::FileRole;
use super::skip::SkipReason;

/// The outcome of a walk; a problem with one path never fails it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Walk {
    /// The files, sorted by path.
    pub files: Vec<FileEntry>,
    /// The files and folders left out for a reason other than an ignore file, sorted by path.
    pub skipped: Vec<Skipped>,
    /// The problems with single paths and patterns.
    pub problems: Vec<Problem>,
    /// The folders that were listed and the ignore files in them, below the root: a change of one of them
    /// may change the outcome.
    pub(crate) looked_at: Vec<String>,
    /// Set if a rule of git's, rather than of `.ignore` or `.kitbagignore`, left anything out.
    pub(super) git_ignored: bool,
}

impl Walk {
    /// Sorts by path, so that the order does not depend on threads or on the file system.
    pub(super) fn into_sorted(mut self) -> Self {
        use rayon::slice::ParallelSliceMut as _;

        self.files.par_sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.skipped
            .sort_unstable_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
        self.looked_at.sort_unstable();
        self.problems
            .sort_by(|a, b| (&a.source, &a.message).cmp(&(&b.source, &b.message)));
        self
    }
}

/// One file of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEntry {
    /// The path below the root, with `/` between its parts.
    pub path: String,
    /// Its size in bytes when it was listed.
    pub size: u64,
    /// The time of its last change, in seconds since 1970, where the file system knows.
    pub modified: Option<i64>,
    /// The purpose of the file, judged by its path.
    pub role: FileRole,
}

impl FileEntry {
    /// Builds an entry with the role that its path tells.
    #[must_use]
    pub fn new(path: impl Into<String>, size: u64, modified: Option<i64>) -> Self {
        let path = path.into();
        let role = FileRole::of(&path);
        Self {
            path,
            size,
            modified,
            role,
        }
    }
}

/// A file or a whole folder that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The path below the root; bytes that are no UTF-8 are replaced.
    pub path: String,
    /// The reason.
    pub reason: SkipReason,
}

impl Skipped {
    pub(super) fn new(path: impl Into<String>, reason: SkipReason) -> Self {
        Self {
            path: path.into(),
            reason,
        }
    }
}
