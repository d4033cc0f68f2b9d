//! The times at which files were last changed: those of git's log, or of the file system outside git.

use std::collections::HashMap;

use jiff::Timestamp;
use kitbag_workspace::workspace::Workspace;

/// The last changes of a workspace's files. Inside a repository the times of the file system do not
/// count: in a clone they are those of the clone.
#[derive(Debug, Default)]
pub(super) struct Modified {
    /// In seconds since 1970.
    by_path: HashMap<String, i64>,
    /// The latest of all changes, from which recency counts.
    pub(super) newest: Option<Timestamp>,
}

impl Modified {
    /// Reads the log, which the survey has asked for already.
    pub(super) fn of_workspace(workspace: &Workspace) -> Self {
        let mut by_path = HashMap::new();
        let newest = match workspace.repository() {
            Some(repository) => {
                // A log that cannot be read is a problem of the survey's.
                let commits = repository.history().unwrap_or_default();
                for commit in commits {
                    for path in &commit.paths {
                        // The log begins with the newest commit, so that the first time of a path is its last change.
                        by_path.entry(path.clone()).or_insert(commit.time);
                    }
                }
                commits.first().map(|commit| commit.time)
            }
            None => {
                let files = workspace.files().iter();
                by_path.extend(files.filter_map(|file| Some((file.path.clone(), file.modified?))));
                by_path.values().copied().max()
            }
        };
        Self {
            by_path,
            newest: newest.and_then(|seconds| Timestamp::from_second(seconds).ok()),
        }
    }

    /// The last change of a file, in seconds since 1970; none for one that the log does not have.
    pub(super) fn of(&self, path: &str) -> Option<i64> {
        self.by_path.get(path).copied()
    }
}
