//! Errors of answering a turn.

use kitbag_store::StoreError;

use super::Answer;
use crate::command::CommandError;
use crate::engine::TurnError;
use crate::extension::Ended;
use crate::provider::ProviderError;
use crate::receive::Refused;

/// An error of answering a turn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The sender may not send messages on the channel. Nothing of the message is stored.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The message is a command that cannot be followed.
    #[error(transparent)]
    Command(Box<CommandError>),
    /// There is no prompt.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The store failed.
    #[error("{error}")]
    Store {
        error: StoreError,
        /// The result of the answer; none where nothing was sent.
        came: Option<Box<Answer>>,
    },
    /// The provider failed.
    #[error("{error}")]
    Provider {
        error: ProviderError,
        /// The result of the answer; none where nothing was sent.
        came: Option<Box<Answer>>,
    },
    /// The answer was stopped.
    #[error("the answer was stopped")]
    Stopped {
        /// Its result.
        came: Option<Box<Answer>>,
    },
    /// The view of a node has errors in the configuration.
    #[error("the node `{node}` has errors in the configuration")]
    NoView { node: &'static str },
    /// An extension ended the turn.
    #[error("the extension `{extension}` ended the turn: {reason}")]
    Ended {
        extension: String,
        reason: String,
        /// The result of the answer; none where nothing was sent.
        came: Option<Box<Answer>>,
    },
    /// The engine was built without a provider.
    #[error("there is no provider to ask")]
    NoProvider,
    /// The provider's dialect makes no request of a prompt.
    #[error("the provider takes no request that can be made of a prompt")]
    NoRequest,
}

impl AnswerError {
    /// The remedy.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(refused) => Some(refused.hint()),
            Self::Command(error) => error.hint(),
            Self::Turn(error) => error.hint(),
            Self::Store { error, .. } => error.hint().map(str::to_owned),
            Self::Provider { error, .. } => error.hint(),
            Self::NoProvider => Some("give the engine a provider when it is built".to_owned()),
            Self::NoView { .. } => Some("correct it under `nodes:`".to_owned()),
            Self::Stopped { .. } | Self::Ended { .. } | Self::NoRequest => None,
        }
    }
}

impl AnswerError {
    /// The same with the part of the answer that arrived. A function of its own: moving an answer about in the function that
    /// makes one would take much of a small thread's stack.
    pub(super) fn with_answer(self, answer: Answer) -> Self {
        let came = Some(Box::new(answer));
        match self {
            Self::Provider { error, .. } => Self::Provider { error, came },
            Self::Stopped { .. } => Self::Stopped { came },
            Self::Ended {
                extension, reason, ..
            } => Self::Ended {
                extension,
                reason,
                came,
            },
            Self::Store { error, .. } => Self::Store { error, came },
            other => other,
        }
    }
}

impl From<CommandError> for AnswerError {
    fn from(error: CommandError) -> Self {
        Self::Command(Box::new(error))
    }
}

impl From<Ended> for AnswerError {
    fn from(ended: Ended) -> Self {
        let Ended { extension, reason } = ended;
        Self::Ended {
            extension,
            reason,
            came: None,
        }
    }
}

impl From<StoreError> for AnswerError {
    fn from(error: StoreError) -> Self {
        Self::Store { error, came: None }
    }
}

impl From<ProviderError> for AnswerError {
    fn from(error: ProviderError) -> Self {
        Self::Provider { error, came: None }
    }
}
