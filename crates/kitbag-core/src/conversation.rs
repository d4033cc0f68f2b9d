//! Layer 2, what user and assistant said: recent turns, summaries, and what is still open.
//!
//! Summarize owns it: [`crate::summarize`] writes every part, and the other nodes only read.
//!
//! ```
//! use kitbag_core::conversation::{
//!     Depth, UnknownDepth, format_conversation_for_prompt, get_conversation_history,
//!     get_conversation_with_engagement, get_recent_conversation,
//! };
//!
//! let stored = serde_json::from_str(
//!     r#"{"recent_turns": [{"user": "A soup?", "assistant_summary": "Lemon soup."}],
//!         "history_summary": "They never eat fish.", "engagement_summary": "Dinner"}"#,
//! )?;
//! let history = get_conversation_history(&stored);
//! assert_eq!(
//!     format_conversation_for_prompt(&history, "5".parse()?),
//!     "- Earlier: They never eat fish.\n- User: A soup?\n- Assistant: Lemon soup."
//! );
//! assert_eq!(get_recent_conversation(&stored, 2).history_summary, "");
//! assert_eq!(get_conversation_with_engagement(&stored).engagement_summary, "Dinner");
//! let wrong: Result<Depth, UnknownDepth> = "3".parse();
//! assert_eq!(wrong.unwrap_err().value, "3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod format;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use format::{
    ConversationPart, ConversationView, Depth, UnknownDepth, format_conversation_for_prompt,
};
pub(crate) use format::{NO_CONVERSATION, history_items};

use crate::stored::{ConversationContext, null_as_default};
use crate::view::BUILTIN_VIEWS;

/// How many recent turns are shown in full, unless a view says otherwise.
pub(crate) const RECENT_TURNS: usize = 2;

/// Builds the history of a stored conversation, with its last two turns in full.
#[must_use]
pub fn get_conversation_history(stored: &ConversationContext) -> ConversationHistory {
    get_conversation_history_of(stored, RECENT_TURNS)
}

/// Builds the last `depth` turns of a stored conversation and nothing else, as Act sees them.
#[must_use]
pub fn get_recent_conversation(stored: &ConversationContext, depth: usize) -> ConversationHistory {
    let [.., act, _, _] = &BUILTIN_VIEWS;
    get_conversation_history_of(stored, depth).seen_as(&act.conversation)
}

/// Builds the recent turns, the engagement and what is pending, as Reply sees them.
#[must_use]
pub fn get_conversation_with_engagement(stored: &ConversationContext) -> ConversationHistory {
    let [.., reply, _] = &BUILTIN_VIEWS;
    get_conversation_history(stored).seen_as(&reply.conversation)
}

/// Builds the history of a stored conversation, with `recent_turns` turns in full.
pub(crate) fn get_conversation_history_of(
    stored: &ConversationContext,
    recent_turns: usize,
) -> ConversationHistory {
    let older = stored.recent_turns.len().saturating_sub(recent_turns);
    ConversationHistory {
        recent_turns: stored.recent_turns.iter().skip(older).cloned().collect(),
        older_turns: stored.recent_turns.iter().take(older).cloned().collect(),
        history_summary: stored.history_summary.clone(),
        engagement_summary: stored.engagement_summary.clone(),
        pending: stored
            .pending_clarification
            .clone()
            .map(PendingState::with_older_context)
            .filter(|pending| !pending.is_empty()),
    }
}

/// What was said, most recent in full.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ConversationHistory {
    /// The latest exchanges, oldest first.
    pub recent_turns: Vec<ConversationTurn>,
    /// Exchanges before these that are stored and in no summary yet, oldest first.
    pub older_turns: Vec<ConversationTurn>,
    /// What was said before, compressed.
    pub history_summary: String,
    /// What the conversation as a whole is about.
    pub engagement_summary: String,
    /// What the user was asked and has not answered.
    pub pending: Option<PendingState>,
}

impl ConversationHistory {
    /// Without what a view hides.
    pub(crate) fn seen_as(mut self, view: &ConversationView) -> Self {
        if view.depth == Depth::Nothing {
            self.recent_turns.clear();
        }
        if !view.shows(ConversationPart::Summary) {
            self.older_turns.clear();
            self.history_summary.clear();
        }
        if !view.shows(ConversationPart::Engagement) {
            self.engagement_summary.clear();
        }
        self.pending = self
            .pending
            .filter(|_| view.shows(ConversationPart::Pending));
        self
    }
}

/// One exchange.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ConversationTurn {
    /// What the user said.
    #[serde(deserialize_with = "null_as_default")]
    pub user: String,
    /// What the assistant answered, condensed.
    #[serde(deserialize_with = "null_as_default")]
    pub assistant_summary: String,
    /// What the assistant answered, word for word, where it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant: Option<String>,
    /// In which way the turn ended by asking the user, if it did: what it says was not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<PendingKind>,
    /// What the router decided.
    pub routing: Option<Value>,
    /// When it was.
    #[serde(deserialize_with = "null_as_default")]
    pub timestamp: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ConversationTurn {
    /// An exchange.
    #[must_use]
    pub fn new(user: impl Into<String>, assistant_summary: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            assistant_summary: assistant_summary.into(),
            ..Self::default()
        }
    }
}

/// What the user was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingState {
    /// In which way it was asked.
    #[serde(rename = "type", default, deserialize_with = "null_as_default")]
    pub kind: PendingKind,
    /// What was proposed or asked.
    #[serde(default, deserialize_with = "null_as_default")]
    pub context: String,
    /// The single questions, if there are any.
    #[serde(default, deserialize_with = "null_as_default")]
    pub questions: Vec<Value>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl PendingState {
    /// Something that waits for the user.
    #[must_use]
    pub fn new(kind: PendingKind, context: impl Into<String>) -> Self {
        Self {
            kind,
            context: context.into(),
            questions: Vec::new(),
            other: Map::new(),
        }
    }

    /// Whether it asks nothing: older records write what is not there as an empty one.
    pub(crate) fn is_empty(&self) -> bool {
        let unnamed = self.kind == PendingKind::default();
        unnamed && self.context.is_empty() && self.questions.is_empty()
    }

    /// Older records have the context under other names.
    fn with_older_context(mut self) -> Self {
        if self.context.is_empty() {
            let text = |name: &&str| {
                self.other
                    .get(*name)?
                    .as_str()
                    .filter(|text| !text.is_empty())
            };
            let found = ["goal", "proposal_message"].iter().find_map(text);
            self.context = found.unwrap_or_default().to_owned();
        }
        self
    }
}

/// In which way the user was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PendingKind {
    /// A plan waits for approval.
    Propose,
    /// A request was unclear.
    Clarify,
    /// A step needs something from the user.
    AskUser,
    /// A kind that this version does not know.
    #[serde(untagged)]
    Other(String),
}

impl Default for PendingKind {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

#[cfg(test)]
mod tests;
