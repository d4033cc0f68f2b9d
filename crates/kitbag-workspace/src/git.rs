//! Git's view of the work tree.
//!
//! Each question is one `git` process, run so that nothing in a foreign repository's configuration
//! can start another program. Nothing is ever written.

mod command;
mod diff;
mod log;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use self::command::Git;
pub use self::diff::{Changes, FileDiff, FileStatus};
pub use self::log::Commit;

/// The time that git has for an answer, unless the caller says otherwise.
// A repository may name a pipe as a file of its configuration, for which git would wait for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// A work tree, seen from one of its folders. All paths are below that folder; what lies outside
/// it is left out.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
    patience: Duration,
    answers: Arc<Answers>,
}

/// The answers that git gives once.
#[derive(Debug, Default)]
struct Answers {
    has_commits: OnceLock<bool>,
    history: OnceLock<Result<Vec<Commit>, GitError>>,
}

/// A question that git could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// There is no `git` program, or it cannot be started.
    #[error("git cannot be run: {message}")]
    NotRun {
        /// The system's message.
        message: String,
    },
    /// The repository belongs to somebody else, and git will not read it.
    #[error("git does not trust `{root}`, which belongs to another user")]
    NotTrusted {
        /// The folder in question.
        root: String,
    },
    /// A revision that git does not know.
    #[error("`{revision}` is not a commit")]
    UnknownRevision {
        /// The revision asked for.
        revision: String,
    },
    /// The answer would not end.
    #[error("`git {command}` answers with more than {limit} bytes")]
    TooLong {
        /// The command of git.
        command: String,
        /// The number of bytes that would have been read.
        limit: usize,
    },
    /// The answer did not come.
    #[error("`git {command}` did not end within {seconds} seconds")]
    TimedOut {
        /// The command of git.
        command: String,
        /// The time that git had.
        seconds: u64,
    },
    /// Git gave up for another reason.
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// The command of git.
        command: String,
        /// Git's message, shortened.
        message: String,
    },
}

impl GitError {
    /// The way out, where one is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotRun { .. } => Some("install git, or go without its history".into()),
            Self::NotTrusted { root } => Some(format!(
                "if you trust it: git config --global --add safe.directory '{root}'"
            )),
            Self::UnknownRevision { .. } => Some("`git log --oneline` lists commits".into()),
            Self::TooLong { .. } | Self::TimedOut { .. } | Self::Failed { .. } => None,
        }
    }
}

impl Repository {
    /// Finds the work tree that `root` is in; `None` if `root` is in no work tree.
    ///
    /// # Errors
    ///
    /// When git is missing, refuses to read the repository or takes more than a minute.
    pub fn discover(root: &Path) -> Result<Option<Self>, GitError> {
        Self::discover_within(root, PATIENCE)
    }

    /// Finds the work tree as [`discover`](Self::discover) does, and gives each of git's answers
    /// no more than this time.
    ///
    /// # Errors
    ///
    /// When git is missing, refuses to read the repository or takes longer.
    pub fn discover_within(root: &Path, patience: Duration) -> Result<Option<Self>, GitError> {
        let repository = Self::presumed(root, patience);
        Ok(repository.is_work_tree()?.then_some(repository))
    }

    /// Finds the work tree as [`discover`](Self::discover) does, and lists the paths that git tracks
    /// in it, for which git is asked at the same time.
    #[expect(clippy::type_complexity, reason = "two answers that fail apart")]
    pub(crate) fn discover_with_tracked(
        root: &Path,
    ) -> Result<Option<(Self, Result<Vec<String>, GitError>)>, GitError> {
        let repository = Self::presumed(root, PATIENCE);
        let (is_work_tree, tracked) =
            // At once: most roots are work trees, and each answer waits for a process.
            rayon::join(|| repository.is_work_tree(), || repository.tracked());
        Ok(is_work_tree?.then_some((repository, tracked)))
    }

    fn presumed(root: &Path, patience: Duration) -> Self {
        Self {
            root: root.to_path_buf(),
            patience,
            answers: Arc::default(),
        }
    }

    fn is_work_tree(&self) -> Result<bool, GitError> {
        match self.git().run("rev-parse", &["--is-inside-work-tree"]) {
            // Inside `.git` itself the answer is `false`.
            Ok(answer) => Ok(answer.trim_ascii() == b"true"),
            // Git has one exit code for all its refusals.
            Err(GitError::Failed { message, .. })
                if message.contains("not a git repository")
                    || message.contains("cannot use bare repository") =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Tells if anything was committed yet.
    fn has_commits(&self) -> bool {
        // `HEAD` exists before the first commit, but names a branch without one.
        let ask = || {
            let head = ["--verify", "--quiet", "HEAD^{commit}"];
            self.git().run("rev-parse", &head).is_ok()
        };
        *self.answers.has_commits.get_or_init(ask)
    }

    fn git(&self) -> Git<'_> {
        Git::new(&self.root, self.patience)
    }

    /// The paths that git tracks, sorted, with those of submodules that are checked out.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub fn tracked(&self) -> Result<Vec<String>, GitError> {
        self.listed(&["-z", "--cached", "--recurse-submodules"])
    }

    /// The paths that git neither tracks nor ignores, sorted.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub fn untracked(&self) -> Result<Vec<String>, GitError> {
        self.listed(&["-z", "--others", "--exclude-standard"])
    }

    fn listed(&self, arguments: &[&str]) -> Result<Vec<String>, GitError> {
        let list = self.git().run("ls-files", arguments)?;
        let paths = list
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty());
        // A name that is no UTF-8 is never walked either.
        let paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
        let mut paths: Vec<String> = paths.map(str::to_owned).collect();
        // The files of a submodule stand where its folder stood, and a conflict lists a path twice.
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }
}
