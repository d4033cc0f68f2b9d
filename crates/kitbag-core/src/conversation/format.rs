//! Shows a conversation's history to a depth.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{ConversationHistory, ConversationTurn, PendingKind, PendingState, RECENT_TURNS};
use crate::neutral::{indented, one_line};
use crate::section::Sections;

/// How many turns depth 5 shows, recent and older together.
const SUMMARY_TURNS: usize = 5;
/// How many characters of a user's message the one-line form of a turn shows.
const LINE_CHARS: usize = 200;

/// Shows the history to a depth.
#[must_use]
pub fn format_conversation_for_prompt(history: &ConversationHistory, depth: Depth) -> String {
    format_conversation_view(
        history,
        &ConversationView {
            depth,
            ..ConversationView::default()
        },
    )
}

/// How far back a history is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
#[non_exhaustive]
pub enum Depth {
    /// Not at all; written `0`.
    #[default]
    Nothing,
    /// The recent turns; written `2`.
    Recent,
    /// The recent turns and what came before in summary: older stored turns up to five in all, a
    /// line each, and the summary of the rest; written `5`.
    WithSummary,
    /// Everything: all stored turns, the summaries, and what is pending; written `full`.
    Full,
}

impl FromStr for Depth {
    type Err = UnknownDepth;

    fn from_str(depth: &str) -> Result<Self, Self::Err> {
        match depth {
            "0" => Ok(Self::Nothing),
            "2" => Ok(Self::Recent),
            "5" => Ok(Self::WithSummary),
            "full" => Ok(Self::Full),
            _ => Err(UnknownDepth {
                value: depth.to_owned(),
            }),
        }
    }
}

impl TryFrom<Value> for Depth {
    type Error = UnknownDepth;

    fn try_from(depth: Value) -> Result<Self, Self::Error> {
        match &depth {
            Value::String(text) => text.parse(),
            other => other.to_string().parse(),
        }
    }
}

impl Serialize for Depth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_u8(0),
            Self::Recent => serializer.serialize_u8(2),
            Self::WithSummary => serializer.serialize_u8(5),
            Self::Full => serializer.serialize_str("full"),
        }
    }
}

/// There is no such depth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown conversation depth `{value}`, expected 0, 2, 5 or full")]
pub struct UnknownDepth {
    /// The depth asked for.
    pub value: String,
}

/// What is shown of a history: a depth, and parts beyond it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConversationView {
    /// How far back.
    pub depth: Depth,
    /// What is shown although the depth does not include it.
    pub also: Cow<'static, [ConversationPart]>,
    /// How many turns are recent.
    pub recent_turns: usize,
}

impl Default for ConversationView {
    fn default() -> Self {
        Self {
            depth: Depth::Nothing,
            also: Cow::Borrowed(&[]),
            recent_turns: RECENT_TURNS,
        }
    }
}

impl ConversationView {
    /// Whether `part` is shown.
    #[must_use]
    pub fn shows(&self, part: ConversationPart) -> bool {
        self.depth == Depth::Full
            || (self.depth == Depth::WithSummary && part == ConversationPart::Summary)
            || self.also.contains(&part)
    }
}

/// A part of a history besides its recent turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConversationPart {
    /// What was said before the recent turns.
    Summary,
    /// What the conversation as a whole is about.
    Engagement,
    /// What waits for the user.
    Pending,
}

/// Shows what a view asks for.
#[must_use]
pub fn format_conversation_view(history: &ConversationHistory, view: &ConversationView) -> String {
    let mut sections = Sections::default();
    if view.shows(ConversationPart::Engagement) {
        sections.push("### Session", summary_item(&history.engagement_summary));
    }
    if view.shows(ConversationPart::Summary) {
        let room = SUMMARY_TURNS.saturating_sub(history.recent_turns.len());
        let hidden = match view.depth {
            Depth::Full => 0,
            _ => history.older_turns.len().saturating_sub(room),
        };
        let older = history.older_turns.iter().skip(hidden);
        let mut items = summary_item(&history.history_summary);
        if hidden > 0 {
            items.push(format!("- ({hidden} more turns are not shown)"));
        }
        items.extend(older.map(|turn| format_turn(turn, TurnDetail::Summary)));
        sections.push("### Earlier", items);
    }
    if view.depth != Depth::Nothing {
        let turns = history.recent_turns.iter();
        let turns = turns.map(|turn| format_turn(turn, TurnDetail::Verbatim));
        sections.push("### Recent turns", turns);
    }
    if let Some(pending) = history
        .pending
        .as_ref()
        .filter(|_| view.shows(ConversationPart::Pending))
    {
        sections.push("### Waiting for the user", pending_items(pending));
    }
    sections.finish("No earlier conversation.")
}

/// How much of a turn is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnDetail {
    /// What the user and the assistant said; the assistant condensed where no more was kept.
    Verbatim,
    /// A line: the start of the user's message, and the answer condensed.
    Summary,
}

/// Shows one turn as list items.
///
/// Row ids in it are not hidden here: see [`crate::entity::EntityRegistry::hide_row_ids`].
#[must_use]
pub fn format_turn(turn: &ConversationTurn, detail: TurnDetail) -> String {
    let summary = turn.assistant_summary.as_str();
    let words = turn.assistant.as_deref().unwrap_or_default();
    let (has_summary, has_words) = (!summary.trim().is_empty(), !words.trim().is_empty());
    let none = || "(no answer)".to_owned();
    match detail {
        TurnDetail::Verbatim => {
            let assistant = match (has_words, has_summary) {
                (true, _) => indented(words, 2),
                (false, true) => indented(summary, 2),
                (false, false) => none(),
            };
            format!(
                "- User: {}\n- Assistant: {assistant}",
                indented(&turn.user, 2)
            )
        }
        TurnDetail::Summary => {
            let assistant = match (has_summary, has_words) {
                (true, _) => one_line(summary).into_owned(),
                (false, true) => first_chars(words),
                (false, false) => none(),
            };
            format!(
                "- User: {}\n  Assistant: {assistant}",
                first_chars(&turn.user)
            )
        }
    }
}

/// The start of a text on one line, which says how much was cut.
fn first_chars(text: &str) -> String {
    let line = one_line(text);
    let surplus = line.chars().count().saturating_sub(LINE_CHARS);
    if surplus == 0 {
        return line.into_owned();
    }
    let start: String = line.chars().take(LINE_CHARS).collect();
    format!("{start}… ({surplus} more characters)")
}

fn summary_item(text: &str) -> Vec<String> {
    if text.trim().is_empty() {
        Vec::new()
    } else {
        [format!("- {}", indented(text, 2))].into()
    }
}

fn pending_items(pending: &PendingState) -> Vec<String> {
    let asked = match &pending.kind {
        PendingKind::Propose => Cow::Borrowed("Proposed, not approved yet"),
        PendingKind::Clarify => Cow::Borrowed("Asked to clarify"),
        PendingKind::AskUser => Cow::Borrowed("Asked"),
        PendingKind::Other(kind) => one_line(kind),
    };
    let context = pending.context.as_str();
    let mut items = Vec::from([if context.trim().is_empty() {
        format!("- {asked}")
    } else {
        format!("- {asked}: {}", indented(context, 2))
    }]);
    items.extend(pending.questions.iter().map(|question| match question {
        Value::String(text) => format!("  - {}", one_line(text)),
        other => format!("  - {}", one_line(&other.to_string())),
    }));
    items
}
