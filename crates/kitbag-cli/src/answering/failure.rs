//! Failures of engines and providers, with the option that helps.

use kitbag::answer::AnswerError;
use kitbag::command::CommandError;
use kitbag::engine::EngineError;
use kitbag::provider::ProviderError;

use crate::failure::Failure;
use crate::output::one_line;

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Agent(error) => error.into(),
            EngineError::Provider(error) => provider_failure(error),
            error => Self::new(&error),
        }
    }
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Refused(refused) => {
                // On one line: a sender's name comes from outside and may hold line ends.
                let failure = Self::new(one_line(&refused.to_string()));
                failure.hint(one_line(&refused.hint()))
            }
            AnswerError::Command(error) => (*error).into(),
            AnswerError::Turn(error) => error.into(),
            AnswerError::Store { error, .. } => error.into(),
            AnswerError::Provider { error, .. } => provider_failure(error),
            error => Self::new(&error),
        }
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Turn(error) => error.into(),
            CommandError::Store(error) => error.into(),
            CommandError::Engine(error) => error.into(),
            error => {
                let hint = error.hint();
                Self::new(one_line(&error.to_string())).hint_if(hint.as_deref().map(one_line))
            }
        }
    }
}

/// A failure of a provider, with the option that helps.
#[expect(clippy::needless_pass_by_value, reason = "maps an error")]
pub(super) fn provider_failure(error: ProviderError) -> Failure {
    let hint = error.hint();
    let hint = match &error {
        ProviderError::Untrusted { .. } => Some(
            "if you trust the file, name it with `--config` or KITBAG_CONFIG; or define the provider in \
             your own configuration, kitbag/kitbag.yaml in the configuration folder"
                .to_owned(),
        ),
        ProviderError::UntrustedModel { .. } => Some(
            "if you trust the file, name it with `--config` or KITBAG_CONFIG; or name a model of the \
             provider in your own configuration, kitbag/kitbag.yaml in the configuration folder"
                .to_owned(),
        ),
        ProviderError::NoModel { .. } => {
            Some("name one with `--model`, as `provider/model`".to_owned())
        }
        // The hints of the other errors already name what a user of the command can do.
        _ => hint,
    };
    Failure::new(one_line(&error.to_string())).hint_if(hint.as_deref().map(one_line))
}
