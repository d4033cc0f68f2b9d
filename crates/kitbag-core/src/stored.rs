//! What is kept of a conversation between turns, as JSON.
//!
//! Loads and saves without loss: fields that this version does not know are kept, here and in
//! every record below. A missing field loads as empty, and so does `null`.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::conversation::{ConversationTurn, PendingState};
use crate::entity::{DecisionEntry, EntityRegistry};
use crate::reasoning::TurnExecutionSummary;

/// The stored state of a conversation: all three layers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ConversationContext {
    /// The latest exchanges, oldest first.
    #[serde(deserialize_with = "null_as_default")]
    pub recent_turns: Vec<ConversationTurn>,
    /// What was said before them, compressed.
    #[serde(deserialize_with = "null_as_default")]
    pub history_summary: String,
    /// What the conversation as a whole is about.
    #[serde(deserialize_with = "null_as_default")]
    pub engagement_summary: String,
    /// What the user was asked and has not answered.
    pub pending_clarification: Option<PendingState>,
    /// The entities.
    #[serde(deserialize_with = "null_as_default")]
    pub id_registry: EntityRegistry,
    /// What was decided and done in the latest turns, oldest first.
    #[serde(deserialize_with = "null_as_default")]
    pub turn_summaries: Vec<TurnExecutionSummary>,
    /// What was decided and done before them, compressed.
    #[serde(deserialize_with = "null_as_default")]
    pub reasoning_summary: String,
    /// Contents put aside under a key, which Act can ask for.
    #[serde(deserialize_with = "null_as_default")]
    pub content_archive: Map<String, Value>,
    /// The latest decisions about entities, oldest first.
    #[serde(deserialize_with = "null_as_default")]
    pub understand_decision_log: Vec<DecisionEntry>,
    /// Compressed older steps, in the shape of those who wrote them.
    #[serde(deserialize_with = "null_as_default")]
    pub step_summaries: Vec<Value>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ConversationContext {
    /// A conversation in which nothing was said yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// Reads `null` as the empty value of its type.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
