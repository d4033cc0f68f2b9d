//! The changes of a work tree or between revisions, file by file.
//!
//! Untracked files are no part of it: git knows nothing to compare them with. [`FileDiff::added`]
//! makes one of them a change.

mod parse;
mod terse;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{GitError, Repository};

/// Patches beyond this many bytes in all are left out; the paths and what happened to them stay.
const LIMIT: usize = 16 << 20;

/// Whatever the configuration says. To look further into a submodule would start git in it, with its
/// own settings.
const OPTIONS: &str = "--raw --patch --relative --no-ext-diff --no-textconv --no-color --find-renames \
    --unified=3 --inter-hunk-context=0 --src-prefix=a/ --dst-prefix=b/ --submodule=short \
    --ignore-submodules=dirty --abbrev=40 -O/dev/null";

/// The changes to list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Changes {
    /// The difference between the last commit and the work tree, staged or not.
    Uncommitted,
    /// The content of the next commit.
    Staged,
    /// The difference between a revision and the work tree; or, for `a..b` and `a...b`, the one
    /// between two of them.
    Since(String),
}

impl Changes {
    /// Tells if the work tree is one side of it, so that files that git does not track yet belong to
    /// it as well.
    #[must_use]
    pub fn has_work_tree(&self) -> bool {
        match self {
            Self::Uncommitted => true,
            Self::Staged => false,
            Self::Since(revision) => {
                // Each of these stands for two revisions or more, or for a commit against its
                // parents.
                let is_range = |mark: &str| revision.contains(mark);
                !["..", "^!", "^-", "^@"].into_iter().any(is_range)
            }
        }
    }
}

/// The kind of change that a file had.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It has gone.
    Deleted,
    /// Its content or its mode changed.
    Modified,
    /// It was called something else.
    Renamed {
        /// The old path; below the root, or it would be [`Added`](Self::Added).
        from: String,
    },
    /// It became a link, or a link became a file.
    TypeChanged,
    /// A merge left it to be resolved; only of use for what is staged, as the work tree's file
    /// has both sides.
    Unmerged,
}

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileDiff {
    /// The path now, or where the file was.
    pub path: String,
    /// The kind of its change.
    pub status: FileStatus,
    /// Set if git takes it for no text; then there is no patch to read.
    pub binary: bool,
    /// The first and the last line of each run of new lines, as the file is now. Where lines were
    /// only taken out, it is the line that follows them, which may be one past the end.
    pub hunks: Vec<(u32, u32)>,
    /// The patch, with its header lines; empty where it was too long.
    pub patch: String,
}

impl FileDiff {
    /// A file that git does not track, as if it were added; without contents if it is not text.
    #[must_use]
    pub fn added(path: impl Into<String>, text: Option<&str>) -> Self {
        let path = path.into();
        let lines = text.map_or(0, |text| text.lines().count());
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        let mut patch = String::new();
        if let Some(text) = text {
            patch = format!("diff --git a/{path} b/{path}\nnew file mode 100644\n");
            if lines > 0 {
                let hunk = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n");
                patch.push_str(&hunk);
            }
            patch.extend(text.split_inclusive('\n').flat_map(|line| ["+", line]));
            if lines > 0 && !text.ends_with('\n') {
                patch.push_str("\n\\ No newline at end of file\n");
            }
        }
        Self {
            path,
            status: FileStatus::Added,
            binary: text.is_none(),
            hunks: (lines > 0).then_some((1, lines)).into_iter().collect(),
            patch,
        }
    }
}

impl Repository {
    /// The changes below the root, sorted by path. Before the first commit everything that is
    /// tracked is one.
    ///
    /// # Errors
    ///
    /// When git fails, or does not know the revision.
    pub fn diff(&self, changes: &Changes) -> Result<Vec<FileDiff>, GitError> {
        let mut arguments: Vec<&str> = OPTIONS.split(' ').collect();
        let base = if self.has_commits() {
            "HEAD".to_owned()
        } else {
            self.empty_tree()?
        };
        let revision = match changes {
            Changes::Uncommitted => &base,
            Changes::Staged => {
                arguments.push("--cached");
                &base
            }
            Changes::Since(revision) => self.checked(revision)?,
        };
        arguments.extend(["--end-of-options", revision, "--"]);
        let mut git = self.git().with_limit(LIMIT);
        // Git would run these programs on files of the work tree. Emptied, they are skipped.
        for key in self.filters()? {
            git.set(key, "");
        }
        let answer = git.run_up_to_limit("diff", &arguments)?;
        // The list of files comes before the patches, so a cut answer mostly has it whole.
        let mut files = parse::parse(&answer.bytes, answer.complete);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// The id of the tree without files, which git knows although nobody stored it.
    fn empty_tree(&self) -> Result<String, GitError> {
        let id = self.git().run("hash-object", &["-t", "tree", "--stdin"])?;
        Ok(String::from_utf8_lossy(id.trim_ascii()).into_owned())
    }

    /// Refuses what git would take for an option, and what it does not know.
    fn checked<'r>(&self, revision: &'r str) -> Result<&'r str, GitError> {
        let unknown = || GitError::UnknownRevision {
            revision: revision.to_owned(),
        };
        if revision.is_empty() || revision.starts_with('-') || revision.contains('\0') {
            return Err(unknown());
        }
        let arguments = ["--quiet", "--revs-only", "--end-of-options", revision];
        match self.git().run("rev-parse", &arguments) {
            Ok(ids) if !ids.trim_ascii().is_empty() => Ok(revision),
            Ok(_) | Err(GitError::Failed { .. }) => Err(unknown()),
            Err(error) => Err(error),
        }
    }

    /// The keys of all programs that the configuration puts between the work tree and git.
    fn filters(&self) -> Result<Vec<String>, GitError> {
        let pattern = r"^filter\..*\.(clean|process|smudge|required)$";
        let arguments = ["-z", "--name-only", "--get-regexp", pattern];
        let names = match self.git().run("config", &arguments) {
            Ok(names) => names,
            // Git fails without a message if nothing matches.
            Err(GitError::Failed { message, .. }) if message.is_empty() => Vec::new(),
            Err(error) => return Err(error),
        };
        let keys = names
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty());
        let keys: BTreeSet<_> = keys.map(String::from_utf8_lossy).collect();
        Ok(keys.into_iter().map(Cow::into_owned).collect())
    }
}
