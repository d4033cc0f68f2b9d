//! Secrets in a message that was just typed: a screen shows them masked, although the request has them.

use std::borrow::Cow;

use kitbag::layout::StoredSecrets;
use kitbag::project::Project;
use kitbag::secrets::SecretValues;

use crate::output;

/// The secrets of a message.
pub(crate) struct TypedSecrets(SecretValues);

impl TypedSecrets {
    /// The secrets to mask: none where `memory: {secrets: keep}` of the project says that they are no trouble.
    pub(crate) fn of(message: &str, project: Option<&Project>) -> Self {
        Self(
            match project.and_then(|project| project.config.memory.secrets) {
                Some(StoredSecrets::Keep) => SecretValues::default(),
                _ => SecretValues::of(message, ""),
            },
        )
    }

    /// The text to print. Says that what is sent differs from it.
    pub(crate) fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let masked = self.0.masked(text);
        if let Cow::Owned(_) = masked {
            output::say(format_args!(
                "note: a secret in the message is masked here; the request that is sent has it"
            ));
        }
        masked
    }
}
