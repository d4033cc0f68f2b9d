//! The places of a prompt, in their order: what changes least stands first.

use serde::{Deserialize, Serialize};

/// A place in the prompt. The order of the variants is the order in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// Tool definitions.
    Tools,
    /// The base prompt.
    Identity,
    /// Context messages for `system`.
    System,
    /// Documents, workspace, slow facts, and context messages for `session`.
    Session,
    /// Context messages for `conversation`.
    Conversation,
    /// What was said.
    History,
    /// What is new each turn: recalled memory, entities, the trace, the clock.
    Volatile,
    /// The message to answer.
    Current,
    /// The tool steps of this turn.
    Steps,
    /// Context messages for `suffix_system`.
    SuffixSystem,
}

impl Band {
    /// All bands, in order.
    pub const ALL: [Self; 10] = [
        Self::Tools,
        Self::Identity,
        Self::System,
        Self::Session,
        Self::Conversation,
        Self::History,
        Self::Volatile,
        Self::Current,
        Self::Steps,
        Self::SuffixSystem,
    ];

    /// The band as it is spelled in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Identity => "identity",
            Self::System => "system",
            Self::Session => "session",
            Self::Conversation => "conversation",
            Self::History => "history",
            Self::Volatile => "volatile",
            Self::Current => "current",
            Self::Steps => "steps",
            Self::SuffixSystem => "suffix_system",
        }
    }
}
