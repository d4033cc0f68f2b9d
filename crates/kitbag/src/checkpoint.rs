//! Saves the state of a task so that it can be resumed: one JSON file for each session.
//!
//! A file is replaced whole or not at all, and one that is damaged never hides the others. The clock
//! is the caller's. The context that was chosen may be kept with it, so that the prompt of a resumed
//! task has the code in it: see [`Checkpoint::prompt`].

mod error;
mod files;
mod record;
mod resume;
mod secrets;
mod session_id;

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use error::CheckpointError;
pub use record::{Checkpoint, CheckpointState, ContextSummary, SavedContext};
pub use session_id::{SessionId, SessionIdError};

/// The checkpoints in a folder.
///
/// ```
/// use kitbag::checkpoint::{Checkpoint, Checkpoints};
/// use kitbag::core::envelope::{TaskEnvelope, TaskType};
///
/// let root = tempfile::tempdir()?;
/// let checkpoints = Checkpoints::in_root(root.path());
/// let now = kitbag::core::time::parse("2024-01-15T10:30:00Z").ok_or("no time")?;
/// let task = TaskEnvelope::new(TaskType::Implement, "add user authentication", "session_abc123", now);
///
/// checkpoints.save(&Checkpoint::of(&task, now)?)?;
/// let restored = checkpoints.restore(&"session_abc123".parse()?)?;
/// assert_eq!(restored.resume().user_request, "add user authentication");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
}

/// The checkpoints of a folder, and the files that are damaged.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Listing {
    /// The checkpoints, the latest first.
    pub checkpoints: Vec<Checkpoint>,
    /// The files that could not be read, by name.
    pub problems: Vec<CheckpointError>,
}

impl Checkpoints {
    /// The checkpoints in this very folder. Nothing is created before something is saved.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The checkpoints of a project: `.kitbag/sessions` under its root.
    #[must_use]
    pub fn in_root(root: &Path) -> Self {
        Self::new(root.join(".kitbag").join("sessions"))
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Saves a checkpoint in place of the session's former one, and returns its file. Secrets in what
    /// was asked and said are replaced first.
    ///
    /// # Errors
    /// When the file cannot be written; the former one is then as it was.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<PathBuf, CheckpointError> {
        let path = self.path_of(&checkpoint.session_id);
        let json = serde_json::to_string_pretty(checkpoint)
            .map_err(|error| CheckpointError::damaged(&path, &error))?;
        // Before anything reaches the disk: a later pass would leave secrets in deleted blocks and backups.
        let json = secrets::without_secrets(&format!("{json}\n"), &checkpoint.session_id);
        files::create_private(&self.folder)
            .map_err(|error| CheckpointError::io("create", &self.folder, error))?;
        files::replace(&path, json.as_bytes())
            .map_err(|error| CheckpointError::io("write", &path, error))?;
        Ok(path)
    }

    /// Lists every checkpoint, the latest first. A folder that does not exist holds none.
    ///
    /// # Errors
    /// When the folder cannot be read. A file that cannot is among the problems.
    pub fn list(&self) -> Result<Listing, CheckpointError> {
        let mut listing = Listing::default();
        let unreadable = |error| CheckpointError::io("read", &self.folder, error);
        let files = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            files => files.map_err(unreadable)?,
        };
        let mut paths = Vec::new();
        for file in files {
            paths.push(file.map_err(unreadable)?.path());
        }
        // The order of a folder is up to the file system; problems must come in the same order every time.
        paths.sort();
        for path in paths {
            // Other files are skipped, such as a temporary file that a crash left behind.
            let name = path.file_name().and_then(|name| name.to_str());
            let id = name.and_then(|name| name.strip_suffix(".json")?.parse().ok());
            let Some(id) = id else { continue };
            match read(&path, &id) {
                Ok(checkpoint) => listing.checkpoints.push(checkpoint),
                Err(problem) => listing.problems.push(problem),
            }
        }
        let listed = &mut listing.checkpoints;
        listed.sort_by(|a, b| (b.timestamp, &a.session_id).cmp(&(a.timestamp, &b.session_id)));
        Ok(listing)
    }

    /// The checkpoint of a session.
    ///
    /// # Errors
    /// When there is none, or its file cannot be read.
    pub fn restore(&self, id: &SessionId) -> Result<Checkpoint, CheckpointError> {
        read(&self.path_of(id), id).map_err(|error| self.or_none(id, error))
    }

    /// Deletes the checkpoint of a session.
    ///
    /// # Errors
    /// When there is none, or its file cannot be deleted.
    pub fn delete(&self, id: &SessionId) -> Result<(), CheckpointError> {
        let path = self.path_of(id);
        fs::remove_file(&path)
            .map_err(|error| self.or_none(id, CheckpointError::io("delete", &path, error)))
    }

    fn path_of(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Turns a missing file into the error of a missing checkpoint.
    fn or_none(&self, id: &SessionId, error: CheckpointError) -> CheckpointError {
        match error {
            CheckpointError::File { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                CheckpointError::NotFound {
                    id: id.clone(),
                    folder: self.folder.clone(),
                }
            }
            other => other,
        }
    }
}

fn read(path: &Path, id: &SessionId) -> Result<Checkpoint, CheckpointError> {
    let json = fs::read(path).map_err(|error| CheckpointError::io("read", path, error))?;
    let checkpoint: Checkpoint =
        serde_json::from_slice(&json).map_err(|error| CheckpointError::damaged(path, &error))?;
    // A file that was copied under another name would otherwise resume the wrong session.
    if checkpoint.session_id == *id {
        Ok(checkpoint)
    } else {
        Err(CheckpointError::OtherSession {
            path: path.to_owned(),
            found: checkpoint.session_id,
        })
    }
}
