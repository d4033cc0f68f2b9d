//! The stored state of a conversation between turns, as JSON.
//!
//! Each part has one writer: Understand the decision log (through
//! [`TurnState::curate`](crate::view::TurnState::curate)), Act the registry's entities and their data,
//! Summarize ([`crate::summarize`]) everything else. The fields are public for those who show, store
//! and forget them.
//!
//! Loads and saves without loss: fields that this version does not know are kept, here and in
//! every record below. A missing field loads as empty, and so does `null`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::conversation::{ConversationTurn, PendingState};
use crate::entity::{DecisionEntry, SessionIdRegistry};
use crate::reasoning::{StepSummary, TurnExecutionSummary};

/// The stored state of a conversation: all three layers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ConversationContext {
    /// The latest exchanges, oldest first.
    #[serde(deserialize_with = "null_as_default")]
    pub recent_turns: Vec<ConversationTurn>,
    /// A summary of everything that was said before them.
    #[serde(deserialize_with = "null_as_default")]
    pub history_summary: String,
    /// The subject of the conversation as a whole.
    #[serde(deserialize_with = "null_as_default")]
    pub engagement_summary: String,
    /// The question that the user has not answered.
    pub pending_clarification: Option<PendingState>,
    /// The entities.
    #[serde(deserialize_with = "null_as_default")]
    pub id_registry: SessionIdRegistry,
    /// The decisions and actions of the latest turns, oldest first.
    #[serde(deserialize_with = "null_as_default")]
    pub turn_summaries: Vec<TurnExecutionSummary>,
    /// A summary of the decisions and actions before them.
    #[serde(deserialize_with = "null_as_default")]
    pub reasoning_summary: String,
    /// Contents stored under a key: see [`ConversationContext::archived`].
    #[serde(deserialize_with = "null_as_default")]
    pub content_archive: Map<String, Value>,
    /// The latest decisions about entities, oldest first.
    #[serde(deserialize_with = "null_as_default")]
    pub understand_decision_log: Vec<DecisionEntry>,
    /// Compressed older steps, in the shape that their writers gave them.
    #[serde(deserialize_with = "null_as_default")]
    pub step_summaries: Vec<Value>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The most results that the archive keeps; entries of other writers do not count and stay.
const ARCHIVE_LIMIT: usize = 20;

impl ConversationContext {
    /// Creates a conversation in which nothing was said yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the content that was archived under a key, with refs in place of row ids.
    #[must_use]
    pub fn archived(&self, key: &str) -> Option<Value> {
        let entry = self.content_archive.get(key)?;
        // Entries of other writers are contents without this wrapper.
        let content = archived_at(entry).and_then(|_| entry.get("content"));
        Some(self.id_registry.hide_rows_in_data(content.unwrap_or(entry)))
    }

    /// Archives the result of a step under a key made of its numbers, and removes the oldest.
    pub(crate) fn archive(&mut self, turn: u32, step: &StepSummary, result: Value) {
        let about = [&step.description, &step.outcome];
        let about = about.into_iter().find(|text| !text.trim().is_empty());
        let entry = json!({
            "turn": turn,
            "step": step.step_num,
            "description": about.map_or("", String::as_str),
            "content": result,
        });
        let key = format!("turn_{turn}_step_{}", step.step_num);
        self.content_archive.insert(key, entry);

        let entries = self.content_archive.iter();
        let ours = entries.filter_map(|(key, entry)| Some((archived_at(entry)?, key.clone())));
        let mut ours: Vec<_> = ours.collect();
        // By numbers, since the key `turn_10_step_1` comes before `turn_2_step_1`.
        ours.sort();
        let surplus = ours.len().saturating_sub(ARCHIVE_LIMIT);
        for (_, key) in ours.into_iter().take(surplus) {
            self.content_archive.remove(&key);
        }
    }
}

/// Returns the turn and step of an entry that [`ConversationContext::archive`] made.
fn archived_at(entry: &Value) -> Option<(u64, u64)> {
    let number = |name: &str| entry.get(name)?.as_u64();
    // Without it the entry is another writer's, even if it has numbers by these names.
    entry.get("content")?;
    Some((number("turn")?, number("step")?))
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
