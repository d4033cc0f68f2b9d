//! The times at which files were last changed: those of git's log, or of the file system outside git.

use std::collections::HashMap;

use jiff::Timestamp;
use kitbag_workspace::walk::FileEntry;
use kitbag_workspace::workspace::Workspace;

/// The last changes of a workspace's files.
#[derive(Debug)]
pub(super) struct Modified {
    /// The times of the log, in seconds since 1970. None outside git, where those of the files count.
    by_path: Option<HashMap<String, i64>>,
    /// The latest of all changes, from which recency counts.
    pub(super) newest: Option<Timestamp>,
}

impl Modified {
    /// Nothing is known where git is not to be asked: in a clone the times of files are those of the
    /// clone.
    pub(super) fn unknown() -> Self {
        Self {
            by_path: Some(HashMap::new()),
            newest: None,
        }
    }

    /// Reads the log, which the survey has asked for already.
    pub(super) fn of_workspace(workspace: &Workspace) -> Self {
        let Some(repository) = workspace.repository() else {
            let times = workspace.files().iter().filter_map(|file| file.modified);
            return Self {
                by_path: None,
                newest: times.max().and_then(at),
            };
        };
        // A log that cannot be read is a problem of the survey's.
        let commits = repository.history().unwrap_or_default();
        let mut by_path = HashMap::new();
        for commit in commits {
            for path in &commit.paths {
                by_path.entry(path.clone()).or_insert(commit.time);
            }
        }
        Self {
            by_path: Some(by_path),
            newest: commits.first().and_then(|commit| at(commit.time)),
        }
    }

    /// The last change of a file, in seconds since 1970; none for one that the log does not have.
    pub(super) fn of(&self, file: &FileEntry) -> Option<i64> {
        match &self.by_path {
            Some(by_path) => by_path.get(&file.path).copied(),
            None => file.modified,
        }
    }
}

fn at(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_second(seconds).ok()
}
