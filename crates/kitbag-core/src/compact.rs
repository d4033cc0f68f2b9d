//! Compaction: the older part of a running conversation is summarised, as a checked transaction.
//!
//! There are two steps, because a model that summarises answers later, or not at all. [`plan`] says
//! which messages leave, and which parts of them must survive: instructions, the user's own words,
//! the latest question, and calls without a result. [`CompactionPlan::compact`] adds a summary,
//! checks that nothing is missing and that enough room is gained, or refuses. Nothing is read or
//! stored here.

mod calls;
mod plan;
mod words;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use calls::OpenCall;
pub use plan::{CompactionPlan, CompactionRefused, plan};
pub use words::UserWords;

use crate::assembly::Epoch;
use crate::chunk::{
    ChunkBand, ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level, Relevance, Trust,
};
use crate::history::EARLIER;
use crate::message::Message;
use crate::neutral::one_line;

/// The number of messages by which a conversation must grow after a refusal before the next
/// attempt.
pub const GROWTH: u32 = 16;

/// The older part of a conversation in short, as it is kept between turns. One that replaces no
/// message only records why there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Compaction {
    /// The number that the last of its messages has in the conversation.
    pub through: u32,
    /// The number of messages that it replaces.
    pub messages: u32,
    /// The summary of them.
    pub summary: String,
    /// Set if a model wrote the summary.
    pub by_model: bool,
    /// The user's words in them, oldest first.
    pub words: Vec<UserWords>,
    /// The number of the user's messages in earlier compactions that `words` no longer lists.
    pub unlisted: u32,
    /// The question that the assistant asked at the end of them.
    pub asked: Option<String>,
    /// Calls of tools that have no result.
    pub calls: Vec<OpenCall>,
    /// Instructions among them, which stay messages.
    pub instructions: Vec<Message>,
    /// The latest attempt that was refused.
    pub refused: Option<RefusedAttempt>,
}

/// A compaction that a prompt shows before the store has it. Whoever sends the prompt keeps it, if the
/// conversation is still the one that the prompt was made of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ShownCompaction {
    pub before: Compaction,
    /// The epoch of the prompt before: forgetting and editing remove it, and another prompt replaces it.
    pub epoch: Epoch,
    pub compaction: Compaction,
}

impl ShownCompaction {
    /// A compaction that takes the place of `before` in the prompt after the one of `epoch`.
    #[must_use]
    pub const fn new(before: Compaction, epoch: Epoch, compaction: Compaction) -> Self {
        Self {
            before,
            epoch,
            compaction,
        }
    }
}

/// An attempt to compact a conversation that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedAttempt {
    /// The number of messages that the conversation had then.
    pub messages: u32,
    pub reason: String,
}

impl Compaction {
    /// Records an attempt that was refused.
    #[must_use]
    pub fn refused(mut self, messages: u32, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        self.refused = Some(RefusedAttempt { messages, reason });
        self
    }

    /// Tells whether a conversation of `messages` messages may be compacted: a refused attempt is
    /// not repeated before it has grown.
    #[must_use]
    pub fn may_try(&self, messages: u32) -> bool {
        let refused = self.refused.as_ref();
        refused.is_none_or(|refused| messages >= refused.messages.saturating_add(GROWTH))
    }

    /// Returns the line that says which messages it replaces.
    fn line(&self) -> String {
        match self.messages {
            1 => String::from("The first message of this conversation is not shown word for word"),
            count => format!(
                "The first {count} messages of this conversation are not shown word for word"
            ),
        }
    }

    /// Returns the text that replaces its messages.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}; in short:\n{}", self.line(), self.summary.trim());
        if !self.words.is_empty() {
            text.push_str("\nThe user said there:");
        }
        if self.unlisted > 0 {
            text.push_str(&format!("\n- ({} earlier messages)", self.unlisted));
        }
        for words in &self.words {
            text.push_str(&words.line());
        }
        if let Some(asked) = &self.asked {
            text.push_str(&format!("\nThe assistant then asked: {}", one_line(asked)));
        }
        for call in &self.calls {
            text.push_str(&call.line());
        }
        text
    }

    /// Returns the chunk that stands before the history, for its messages and for those behind them
    /// that the history leaves out, which `left_out` describes. None if it replaces nothing.
    #[must_use]
    pub fn chunk(&self, left_out: Option<&ContextChunk>) -> Option<ContextChunk> {
        if self.messages == 0 {
            return None;
        }
        let mut chunk = ContextChunk::new(ChunkType::Turn, EARLIER, "")
            .with_priority(ContextPriority::Critical)
            .with_relevance(Relevance::from_ppm(1_000_000))
            .with_trust(Trust::User)
            .with_band(ChunkBand::History);
        chunk.levels.clear();
        let whole = self.text();
        let levels = left_out.map_or(&[][..], |left_out| &left_out.levels);
        for level in levels {
            let text = format!("{whole}\n{}", level.content);
            // The summary counts most. A quarter of the level's own coverage keeps the levels in
            // order.
            let coverage = 700 + level.coverage.permille() / 4;
            chunk = chunk.with_level(sliced(text, coverage));
        }
        let line = match levels.last() {
            Some(level) => format!("{}\n{}", self.line(), level.content),
            None => {
                chunk = chunk.with_level(sliced(whole, 1_000));
                self.line()
            }
        };
        // A smaller budget than the one it was made for may only have room for the line.
        Some(chunk.with_level(Level::new(Detail::Line, line)))
    }
}

fn sliced(text: String, permille: u16) -> Level {
    Level::new(Detail::Slice, text).with_coverage(Coverage::from_permille(permille))
}

#[cfg(test)]
mod tests;
