//! A folder with code: what is in it, and git's view of it. Everything else starts from here.

mod occurrences;
mod path_words;
mod texts;
mod touched;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kitbag_core::problem::Problem;

use crate::git::{Commit, Repository};
use crate::relevance::imports::PathIndex;
use crate::text;
use crate::walk::select::Selection;
use crate::walk::{FileEntry, Skipped, walk};

use path_words::PathWords;
pub(crate) use texts::Texts;
pub(crate) use touched::Touched;

/// A listed workspace. It is listed once, when it is opened.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    repository: Option<Repository>,
    files: Vec<FileEntry>,
    skipped: Vec<Skipped>,
    problems: Vec<Problem>,
    selection: Selection,
    looked_at: Vec<String>,
    texts: Option<Texts>,
    path_words: OnceLock<PathWords>,
    path_index: OnceLock<PathIndex>,
    touched: OnceLock<Touched>,
}

/// The choice of files that are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceOptions {
    /// Only files that match one of these are listed; empty means all.
    ///
    /// The patterns are those of `.gitignore`, so `src` takes the folder and `*.rs` files at any
    /// depth; braces list alternatives. A pattern that itself names something usually skipped, such
    /// as `*.min.js`, `Cargo.lock` or `vendor/lib`, lifts that skip. None lifts an ignore file.
    pub include: Vec<String>,
    /// Files and folders that match one of these are left out, with the same patterns.
    pub exclude: Vec<String>,
    /// Paths below the root that are wanted whatever the rules say.
    pub named: Vec<String>,
    /// Asks git for tracked files and for the history.
    pub use_git: bool,
}

impl Default for WorkspaceOptions {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            named: Vec::new(),
            use_git: true,
        }
    }
}

/// A root that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such folder, or it cannot be read.
    #[error("cannot read the folder `{}`: {source}", root.display())]
    Root {
        /// The folder.
        root: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file is no workspace.
    #[error("`{}` is not a folder", root.display())]
    NoFolder {
        /// The path that was given.
        root: PathBuf,
    },
}

impl Workspace {
    /// Lists the files below `root`. Problems with git or single files do not fail it.
    ///
    /// # Errors
    /// When `root` is no folder that can be read.
    pub fn open(root: &Path, options: &WorkspaceOptions) -> Result<Self, OpenError> {
        let unreadable = |source| OpenError::Root {
            root: root.to_owned(),
            source,
        };
        if !root.metadata().map_err(unreadable)?.is_dir() {
            return Err(OpenError::NoFolder {
                root: root.to_owned(),
            });
        }
        // The walk would only note a problem, and a workspace without files would look like
        // success.
        std::fs::read_dir(root).map_err(unreadable)?;

        let mut problems = Vec::new();
        let found = match options.use_git {
            true => Repository::discover_with_tracked(root),
            false => Ok(None),
        };
        let found = found.unwrap_or_else(|error| {
            let mut problem = Problem::failed("git", &error);
            problem.hint = error.hint();
            problems.push(problem);
            None
        });
        let (repository, tracked) = found.unzip();
        // Without the list, ignored files that git tracks are missing; all else is still worth
        // listing.
        let listed = tracked.transpose().unwrap_or_else(|error| {
            problems.push(Problem::failed("git ls-files", error));
            None
        });
        let walked = walk(root, options, listed.as_deref());
        problems.extend(walked.problems);
        Ok(Self {
            root: root.to_owned(),
            repository,
            files: walked.files,
            skipped: walked.skipped,
            problems,
            // The walk has reported the invalid patterns already.
            selection: Selection::new(options, &mut Vec::new()),
            looked_at: walked.looked_at,
            texts: None,
            path_words: OnceLock::new(),
            path_index: OnceLock::new(),
            touched: OnceLock::new(),
        })
    }

    /// The same, which keeps the texts that are read.
    pub(crate) fn keeping(mut self, texts: Texts) -> Self {
        self.texts = Some(texts.of(self.files.len()));
        self
    }

    /// The folders and ignore files that were looked at, below the root.
    pub(crate) fn looked_at(&self) -> &[String] {
        &self.looked_at
    }

    /// The words of the paths.
    pub(crate) fn path_words(&self) -> &PathWords {
        if let Some(words) = self.path_words.get() {
            return words;
        }
        // Not within the initialisation: while a thread of the pool waits for the others' share of this work, it
        // may take up another survey, which would wait for the initialisation to end.
        let words = PathWords::of(&self.files);
        self.path_words.get_or_init(|| words)
    }

    /// The files by their names.
    pub(crate) fn path_index(&self) -> &PathIndex {
        self.path_index.get_or_init(|| PathIndex::new(&self.files))
    }

    /// The changes of the files in the log; none if it cannot be read.
    pub(crate) fn touched(&self) -> &Touched {
        self.touched
            .get_or_init(|| Touched::of(self.commits(), &self.files))
    }

    fn commits(&self) -> &[Commit] {
        let history = self.repository.as_ref().map(Repository::history);
        history.and_then(Result::ok).unwrap_or_default()
    }

    /// The last change of a listed file, in seconds since 1970: by the log, or outside of git by the file
    /// system. None for one that the log does not have.
    #[must_use]
    pub fn last_change(&self, path: &str) -> Option<i64> {
        let found = self
            .files
            .binary_search_by(|file| file.path.as_str().cmp(path));
        let place = found.ok()?;
        match self.repository {
            Some(_) => *self.touched().last.get(place)?,
            None => self.files.get(place)?.modified,
        }
    }

    /// The latest of all changes, in seconds since 1970.
    #[must_use]
    pub fn newest_change(&self) -> Option<i64> {
        match self.repository {
            Some(_) => self.commits().first().map(|commit| commit.time),
            None => self.files.iter().filter_map(|file| file.modified).max(),
        }
    }

    /// The texts that are kept, if any are.
    pub(crate) fn texts(&self) -> Option<&Texts> {
        self.texts.as_ref()
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The repository it is in, if git was asked and there is one.
    #[must_use]
    pub fn repository(&self) -> Option<&Repository> {
        self.repository.as_ref()
    }

    /// The files, sorted by path.
    #[must_use]
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// The files and folders that were left out, with their reasons.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The problems of the walk and of git.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Tells if the patterns of the caller let a path in, also one that is not listed, such as that of
    /// a deleted file.
    #[must_use]
    pub fn selects(&self, path: &str) -> bool {
        self.selection.selects(path)
    }

    /// The text of a listed file; nothing for another path, or for what is no text.
    #[must_use]
    pub fn read(&self, path: &str) -> Option<String> {
        let index = self
            .files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()?;
        let mut buffer = Vec::new();
        text::read(&self.root, self.files.get(index)?, &mut buffer).ok()?;
        Some(text::decode(&buffer)?.into_owned())
    }
}
