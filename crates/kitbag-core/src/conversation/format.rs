//! Shows a conversation's history to a depth.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{ConversationHistory, ConversationTurn, PendingKind, PendingState, RECENT_TURNS};
use crate::chunk::{ChunkType, ContextPriority};
use crate::neutral::{indented, one_line};
use crate::view::item::{Item, list, short};
use crate::view::number_of_turns;

/// The number of turns that depth 5 shows, recent and older together.
const SUMMARY_TURNS: usize = 5;

/// Shows the history to a depth.
#[must_use]
pub fn format_conversation_for_prompt(history: &ConversationHistory, depth: Depth) -> String {
    let view = ConversationView::new(depth, &[]);
    list(&history_items(history, &view, 0), NO_CONVERSATION)
}

/// The text shown when there is no history.
pub(crate) const NO_CONVERSATION: &str = "No earlier conversation.";

/// The extent to which a history is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
#[non_exhaustive]
pub enum Depth {
    /// Nothing; written `0`.
    #[default]
    Nothing,
    /// The recent turns; written `2`.
    Recent,
    /// The recent turns and a summary of the rest: older stored turns up to five in all, a line
    /// each, and the summary of those before; written `5`.
    WithSummary,
    /// Everything: all stored turns, the summaries, and the open question; written `full`.
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
            // A configuration may have `2` as a number.
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

/// An unknown depth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown conversation depth `{value}`, expected 0, 2, 5 or full")]
pub struct UnknownDepth {
    /// The depth asked for.
    pub value: String,
}

/// The visible parts of a history: a depth, and parts beyond it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversationView {
    pub depth: Depth,
    /// The parts that are shown although the depth does not include them.
    pub also: Cow<'static, [ConversationPart]>,
    /// The number of turns that are recent.
    #[serde(deserialize_with = "number_of_turns")]
    pub recent_turns: usize,
}

impl Default for ConversationView {
    fn default() -> Self {
        Self::new(Depth::Nothing, &[])
    }
}

impl ConversationView {
    pub(crate) const fn new(depth: Depth, also: &'static [ConversationPart]) -> Self {
        Self {
            depth,
            also: Cow::Borrowed(also),
            recent_turns: RECENT_TURNS,
        }
    }

    /// Tells whether `part` is shown.
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
    /// The conversation before the recent turns.
    Summary,
    /// The subject of the conversation as a whole.
    Engagement,
    /// The question that waits for the user.
    Pending,
}

/// Returns the items of a view at the beginning of turn `turn_num`. The turns are numbered back
/// from it, so that each keeps its number as older ones leave.
pub(crate) fn history_items(
    history: &ConversationHistory,
    view: &ConversationView,
    turn_num: u32,
) -> Vec<Item> {
    let mut items = Vec::new();
    if view.shows(ConversationPart::Engagement) {
        let about = history.engagement_summary.as_str();
        let kind = ChunkType::Summary;
        items.extend(Item::labelled(kind, "engagement", "Session", about));
    }
    let (older, recent) = (&history.older_turns, &history.recent_turns);
    let mut shown_older = 0;
    if view.shows(ConversationPart::Summary) {
        let said = history.history_summary.as_str();
        let summary = Item::labelled(ChunkType::Summary, "history_summary", "Earlier", said);
        items.extend(summary.map(|item| item.with_priority(ContextPriority::High)));
        shown_older = match view.depth {
            Depth::Nothing => 0,
            Depth::Full => older.len(),
            Depth::Recent | Depth::WithSummary => SUMMARY_TURNS.saturating_sub(recent.len()),
        };
    }
    if view.depth != Depth::Nothing {
        let hidden = older.len().saturating_sub(shown_older);
        // A depth without older turns leaves them out on purpose, and counts none.
        if hidden > 0 && shown_older > 0 {
            let text = format!("({hidden} more turns are not shown)");
            items.push(Item::new(ChunkType::Turn, "turns_not_shown", [text]));
        }
        let turns = older.iter().chain(recent).enumerate().skip(hidden);
        let count = u32::try_from(older.len() + recent.len()).unwrap_or(u32::MAX);
        // Imported messages belong to no counted turn, so there may be more turns than were
        // counted.
        let turn_num = turn_num.max(count.saturating_add(1));
        for (index, turn) in turns {
            let is_recent = index >= older.len();
            let back = count.saturating_sub(u32::try_from(index).unwrap_or(u32::MAX));
            let item = turn_item(turn, turn_num.saturating_sub(back), is_recent);
            // The latest turn keeps its whole relevance, and each one before it half of the next
            // one's.
            items.push(item.aged(back.saturating_sub(1)));
        }
    }
    if view.shows(ConversationPart::Pending) {
        items.extend(history.pending.as_ref().map(pending_item));
    }
    items
}

/// Returns a recent turn word for word, or as a line when there is no room for that; an older one
/// as a line. A turn that is left out leaves a trace.
fn turn_item(turn: &ConversationTurn, number: u32, is_recent: bool) -> Item {
    let gone = format!("(turn {number} is not shown)");
    let (texts, priority) = if is_recent {
        let texts = Vec::from([verbatim(turn), in_a_line(turn), gone]);
        (texts, ContextPriority::High)
    } else {
        (Vec::from([in_a_line(turn), gone]), ContextPriority::Medium)
    };
    Item::new(ChunkType::Turn, format!("turn/{number}"), texts).with_priority(priority)
}

fn verbatim(turn: &ConversationTurn) -> String {
    // The answer itself if it was kept; in a line the summary comes first.
    let words = [turn.assistant.as_deref(), Some(&turn.assistant_summary)];
    let said = words.into_iter().flatten().find(|text| has_text(text));
    let assistant = said.map_or_else(|| NO_ANSWER.to_owned(), |text| indented(text, 2));
    let user = indented(&turn.user, 2);
    format!("User: {user}\n- Assistant: {assistant}")
}

/// Returns the start of the user's message, and the condensed answer.
fn in_a_line(turn: &ConversationTurn) -> String {
    let words = turn.assistant.as_deref().unwrap_or_default();
    let assistant = match turn.assistant_summary.as_str() {
        summary if has_text(summary) => one_line(summary).into_owned(),
        _ if has_text(words) => short(words),
        _ => NO_ANSWER.to_owned(),
    };
    format!("User: {}\n  Assistant: {assistant}", short(&turn.user))
}

const NO_ANSWER: &str = "(no answer)";

fn has_text(text: &str) -> bool {
    !text.trim().is_empty()
}

fn pending_item(pending: &PendingState) -> Item {
    let asked = match &pending.kind {
        PendingKind::Propose => Cow::Borrowed("Proposed, not approved yet"),
        PendingKind::Clarify => Cow::Borrowed("Asked to clarify, not answered yet"),
        PendingKind::AskUser => Cow::Borrowed("Asked, not answered yet"),
        PendingKind::Other(kind) => one_line(kind),
    };
    let context = pending.context.as_str();
    // Both levels name the kind, so that the short one still says that something is open.
    let [mut whole, cut] = if has_text(context) {
        [indented(context, 2), short(context)].map(|context| format!("{asked}: {context}"))
    } else {
        [asked.to_string(), asked.to_string()]
    };
    for question in &pending.questions {
        let question = question
            .as_str()
            .map_or_else(|| question.to_string(), str::to_owned);
        whole.push_str(&format!("\n  - {}", one_line(&question)));
    }
    Item::new(ChunkType::Summary, "pending", [whole, cut]).critical()
}
