//! Layer 2: the words of user and assistant, as recent turns, summaries, and an open question.
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

/// The number of recent turns that are shown in full, unless a view says otherwise.
pub(crate) const RECENT_TURNS: usize = 2;

/// Returns the history of a stored conversation, with its last two turns in full.
#[must_use]
pub fn get_conversation_history(stored: &ConversationContext) -> ConversationHistory {
    get_conversation_history_of(stored, RECENT_TURNS)
}

/// Returns the last `depth` turns of a stored conversation and nothing else, as Act sees them.
#[must_use]
pub fn get_recent_conversation(stored: &ConversationContext, depth: usize) -> ConversationHistory {
    // The last three views are act, reply and turn.
    let [.., act, _, _] = &BUILTIN_VIEWS;
    get_conversation_history_of(stored, depth).seen_as(&act.conversation)
}

/// Returns the recent turns, the engagement and the open question, as Reply sees them.
#[must_use]
pub fn get_conversation_with_engagement(stored: &ConversationContext) -> ConversationHistory {
    let [.., reply, _] = &BUILTIN_VIEWS;
    get_conversation_history(stored).seen_as(&reply.conversation)
}

/// Returns the history of a stored conversation, with `recent_turns` turns in full.
pub(crate) fn get_conversation_history_of(
    stored: &ConversationContext,
    recent_turns: usize,
) -> ConversationHistory {
    let older = stored.recent_turns.len().saturating_sub(recent_turns);
    ConversationHistory {
        recent_turns: stored.recent_turns.iter().skip(older).cloned().collect(),
        // Stored turns beyond the recent ones are in no summary yet, so they must not vanish.
        older_turns: stored.recent_turns.iter().take(older).cloned().collect(),
        history_summary: stored.history_summary.clone(),
        engagement_summary: stored.engagement_summary.clone(),
        pending: stored
            .pending_clarification
            .clone()
            .map(PendingState::with_older_context)
            // Older records have an empty one when nothing is open.
            .filter(|pending| !pending.is_empty()),
    }
}

/// A conversation with its latest turns in full.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ConversationHistory {
    /// The latest exchanges, oldest first.
    pub recent_turns: Vec<ConversationTurn>,
    /// Exchanges before these that are stored and in no summary yet, oldest first.
    pub older_turns: Vec<ConversationTurn>,
    /// A summary of all exchanges before.
    pub history_summary: String,
    /// The subject of the conversation as a whole.
    pub engagement_summary: String,
    /// The question that the user has not answered.
    pub pending: Option<PendingState>,
}

impl ConversationHistory {
    /// Removes everything that a view hides.
    pub(crate) fn seen_as(mut self, view: &ConversationView) -> Self {
        // An ordinary turn has the history itself in its prompt.
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
    /// The user's words.
    #[serde(deserialize_with = "null_as_default")]
    pub user: String,
    /// The assistant's answer, condensed.
    #[serde(deserialize_with = "null_as_default")]
    pub assistant_summary: String,
    /// The assistant's answer word for word, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant: Option<String>,
    /// The kind of question that ended the turn, if one did: nothing that it proposes was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<PendingKind>,
    /// The router's decision.
    pub routing: Option<Value>,
    /// The time of the exchange.
    #[serde(deserialize_with = "null_as_default")]
    pub timestamp: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ConversationTurn {
    /// Creates an exchange.
    #[must_use]
    pub fn new(user: impl Into<String>, assistant_summary: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            assistant_summary: assistant_summary.into(),
            ..Self::default()
        }
    }
}

/// A question that waits for the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingState {
    /// The kind of question.
    #[serde(rename = "type", default, deserialize_with = "null_as_default")]
    pub kind: PendingKind,
    /// The proposal or the question.
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
    /// Creates a question that waits for the user.
    #[must_use]
    pub fn new(kind: PendingKind, context: impl Into<String>) -> Self {
        Self {
            kind,
            context: context.into(),
            questions: Vec::new(),
            other: Map::new(),
        }
    }

    /// Tells whether it asks nothing: older records write an empty one when nothing is open.
    pub(crate) fn is_empty(&self) -> bool {
        let unnamed = self.kind == PendingKind::default();
        unnamed && self.context.is_empty() && self.questions.is_empty()
    }

    /// Reads the context from the names that it has in older records.
    fn with_older_context(mut self) -> Self {
        if self.context.is_empty() {
            let text = |name: &&str| {
                self.other
                    .get(*name)?
                    .as_str()
                    .filter(|text| !text.is_empty())
            };
            // The goal is the more general of the two, and the message may repeat it.
            let found = ["goal", "proposal_message"].iter().find_map(text);
            self.context = found.unwrap_or_default().to_owned();
        }
        self
    }
}

/// The kinds of questions to the user.
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
