//! Compaction: the older part of a running conversation is summarised, as a checked transaction.
//!
//! Two steps, since a model that summarises answers later, or not at all. [`plan`] says which messages
//! leave and what of them must survive: instructions, the user's own words, the question that was asked
//! last, and calls without a result. [`CompactionPlan::compact`] puts a summary beside these, checks that
//! nothing is missing and that it is worth its while, or refuses. Nothing is read or stored here.

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

use crate::chunk::{
    ChunkBand, ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level, Relevance, Trust,
};
use crate::history::EARLIER;
use crate::message::Message;
use crate::neutral::one_line;

/// After a refusal a conversation grows by so many messages before it is tried again.
pub const GROWTH: u32 = 16;

/// The older part of a conversation in short, as it is kept between turns. One that stands for no
/// message tells only why there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Compaction {
    /// The number that the last of its messages has in the conversation.
    pub through: u32,
    /// The number of messages that it stands for.
    pub messages: u32,
    /// The summary of them.
    pub summary: String,
    /// Says that a model wrote the summary.
    pub by_model: bool,
    /// What the user said in them, oldest first.
    pub words: Vec<UserWords>,
    /// The number of the user's messages, told of in earlier compactions, that `words` lists no more.
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

/// An attempt to compact a conversation that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedAttempt {
    /// The number of messages that the conversation had then.
    pub messages: u32,
    /// Why.
    pub reason: String,
}

impl Compaction {
    /// The same with an attempt that was refused.
    #[must_use]
    pub fn refused(mut self, messages: u32, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        self.refused = Some(RefusedAttempt { messages, reason });
        self
    }

    /// Whether a conversation of so many messages may be compacted: an attempt that was refused is not
    /// repeated before it has grown.
    #[must_use]
    pub fn may_try(&self, messages: u32) -> bool {
        let refused = self.refused.as_ref();
        refused.is_none_or(|refused| messages >= refused.messages.saturating_add(GROWTH))
    }

    /// The line that says which messages it stands for.
    fn line(&self) -> String {
        match self.messages {
            1 => String::from("The first message of this conversation is not shown word for word"),
            count => format!(
                "The first {count} messages of this conversation are not shown word for word"
            ),
        }
    }

    /// The text that stands in the place of its messages.
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

    /// The chunk that stands before the history, for its messages and for those behind them that the
    /// history leaves out, which `left_out` tells of. None where it stands for nothing.
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
        // A smaller budget than the one it was made for may have no room for more.
        Some(chunk.with_level(Level::new(Detail::Line, line)))
    }
}

fn sliced(text: String, permille: u16) -> Level {
    Level::new(Detail::Slice, text).with_coverage(Coverage::from_permille(permille))
}

#[cfg(test)]
mod tests;
