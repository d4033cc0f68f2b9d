//! Errors of saving, reading and deleting checkpoints.

use std::io;
use std::path::{Path, PathBuf};

use super::SessionId;

/// A checkpoint that could not be saved, read or deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The session has no checkpoint.
    #[error("no checkpoint of session `{id}` in `{}`", folder.display())]
    NotFound {
        /// The session.
        id: SessionId,
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// The file is no checkpoint.
    #[error("`{}` is not a checkpoint: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason with its line, from the parser.
        reason: String,
    },
    /// The file is the checkpoint of another session than its name says.
    #[error("`{}` holds the checkpoint of session `{found}`", path.display())]
    OtherSession {
        /// The file.
        path: PathBuf,
        /// The session of the checkpoint.
        found: SessionId,
    },
    /// The system refused.
    #[error("cannot {action} `{}`: {source}", path.display())]
    File {
        /// The action that failed, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl CheckpointError {
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File {
            action,
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn damaged(path: &Path, error: &serde_json::Error) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound { .. } => "list the checkpoints to see which sessions have one".into(),
            Self::Damaged { path, .. } => format!(
                "mend or delete `{}`; the other checkpoints are not affected",
                path.display()
            ),
            Self::OtherSession { found, .. } => {
                format!("rename the file to `{found}.json`, or delete it")
            }
            Self::File { path, .. } => format!(
                "check that `{}` may be read and written, and that the disk is not full",
                path.display()
            ),
        }
    }
}
