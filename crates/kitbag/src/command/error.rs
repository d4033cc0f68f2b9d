//! Errors of commands.

use kitbag_store::StoreError;

use super::CommandSpec;
use crate::checkpoint::CheckpointError;
use crate::engine::{EngineError, TurnError};

/// An error of a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// There is no such command.
    #[error("there is no command `/{name}`")]
    Unknown {
        /// Its name, without the slash.
        name: String,
        /// The command that was meant, if it is a slip away from one.
        near: Option<&'static str>,
    },
    /// The command does not take these arguments.
    #[error("`/{}` {problem}", command.name)]
    Usage {
        command: &'static CommandSpec,
        problem: String,
    },
    /// The command is about memory, and nothing is remembered here.
    #[error("`/{command}` needs memory, and nothing is remembered here")]
    NoMemory { command: &'static str },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The conversation could not be saved as a task.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// There is no prompt.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// There is no such model or agent.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl CommandError {
    /// The remedy.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        // A message may begin with a path or a slash by chance.
        let as_message = "a space before the slash sends it to the model";
        match self {
            Self::Unknown { near: None, .. } => {
                Some(format!("`/help` lists the commands; {as_message}"))
            }
            Self::Unknown {
                near: Some(near), ..
            } => Some(format!("did you mean `/{near}`? {as_message}")),
            Self::Usage { command, .. } => {
                Some(format!("write `{}`; {as_message}", command.usage()))
            }
            Self::Store(error) => error.hint().map(str::to_owned),
            Self::Checkpoint(error) => Some(error.hint()),
            Self::Turn(error) => error.hint(),
            Self::Engine(error) => error.hint(),
            Self::NoMemory { .. } => None,
        }
    }
}
