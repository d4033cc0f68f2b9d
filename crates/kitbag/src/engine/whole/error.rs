//! Errors of building an engine.

#[cfg(feature = "providers")]
use crate::provider::ProviderError;
use crate::tokens::VocabularyError;

use super::super::AgentError;

/// An error of building an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The project has no such agent.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The counter of the model is not in this build.
    #[error(transparent)]
    Counter(#[from] VocabularyError),
    /// There is no provider for the model, or its settings cannot be used.
    #[cfg(feature = "providers")]
    #[error(transparent)]
    Provider(#[from] ProviderError),
}

impl EngineError {
    /// The remedy.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Agent(error) => error.hint(),
            Self::Counter(_) => None,
            #[cfg(feature = "providers")]
            Self::Provider(error) => error.hint(),
        }
    }
}
