//! The speaker of a message, and its readers.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The speaker of a message. Strict: an unknown role is refused when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions by the operator.
    // OpenAI's newer name for it.
    #[serde(alias = "developer")]
    System,
    /// The person, or the program that asks.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

names!(Role {
    System = "system",
    User = "user",
    Assistant = "assistant",
    Tool = "tool",
});

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The readers of a message besides the model, which sees every message.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// The user as well.
    #[default]
    All,
    /// Nobody else: the message is never shown to the user.
    Internal,
}

names!(Visibility {
    All = "all",
    Internal = "internal",
});

impl Visibility {
    /// Tells whether this is [`Visibility::All`], which JSON leaves out.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }
}
