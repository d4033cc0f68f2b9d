//! The places of a prompt in their order. What changes least comes first, so that a provider's
//! cache of the beginning survives most turns.

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
    /// The messages of the conversation, and the memory recalled for them.
    History,
    /// Content that is new each turn: entities, the trace, the clock.
    Volatile,
    /// The message to answer.
    Current,
    /// The tool steps of this turn.
    Steps,
    /// Context messages for `suffix_system`.
    SuffixSystem,
}

names!(Band {
    Tools = "tools",
    Identity = "identity",
    System = "system",
    Session = "session",
    Conversation = "conversation",
    History = "history",
    Volatile = "volatile",
    Current = "current",
    Steps = "steps",
    SuffixSystem = "suffix_system",
});
