//! The unit of context: a file, a fact, a turn, an entity, a reminder, at several levels of detail.
//!
//! A chunk does not know its cost: that belongs to a tokenizer and to the form it is rendered in.

mod json;
mod level;
mod priority;
mod split;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::role::Visibility;
use crate::tokens::{TokenCounter, Tokens};

pub use json::ChunkError;
pub use level::{Coverage, Detail, Level};
pub use priority::{ContextPriority, PriorityError};
pub use split::split_text;

/// A discrete unit of context.
///
/// Reads the plain JSON (`content`, `source`, `chunk_type`, `priority`, `metadata`) and the one
/// with `levels`; `content` is then that of the first level.
///
/// ```
/// use kitbag_core::chunk::{ContextChunk, ContextPriority};
///
/// let json = r#"{"content":"fn main() {}","source":"a.rs","chunk_type":"file","priority":"HIGH"}"#;
/// let chunk: ContextChunk = serde_json::from_str(json).unwrap();
/// assert_eq!(chunk.id.as_str(), "file:a.rs");
/// assert_eq!(chunk.priority, ContextPriority::High);
/// assert_eq!(chunk.levels.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "json::ChunkJson", into = "json::ChunkJson")]
#[non_exhaustive]
pub struct ContextChunk {
    /// Stable from turn to turn.
    pub id: ChunkId,
    /// The file, fact or turn that it shows: `src/auth.rs`, `fact/timezone`, `turn/12`.
    pub source: String,
    /// The kind of thing that it shows.
    pub chunk_type: ChunkType,
    /// Importance, set before the task is known.
    pub priority: ContextPriority,
    /// Likelihood that the task needs it.
    pub relevance: Relevance,
    /// Place in the prompt.
    pub band: ChunkBand,
    /// Author of the words, which decides how far they may instruct.
    pub trust: Trust,
    /// Readers besides the model.
    pub visibility: Visibility,
    /// Its renderings, the most detailed first.
    pub levels: Vec<Level>,
    /// Language, last modification, and whatever the gatherer knows.
    pub metadata: Map<String, Value>,
}

impl ContextChunk {
    /// Creates a chunk with one level, its full content: medium priority, certain relevance,
    /// untrusted.
    #[must_use]
    pub fn new(
        chunk_type: ChunkType,
        source: impl Into<String>,
        content: impl Into<String>,
    ) -> Self {
        let source = source.into();
        Self {
            id: ChunkId::new(&chunk_type, &source),
            source,
            chunk_type,
            priority: ContextPriority::Medium,
            relevance: Relevance::CERTAIN,
            band: ChunkBand::Session,
            trust: Trust::Untrusted,
            visibility: Visibility::All,
            levels: alloc::vec![Level::new(Detail::Full, content)],
            metadata: Map::new(),
        }
    }

    /// Sets the priority.
    #[must_use]
    pub fn with_priority(mut self, priority: ContextPriority) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the relevance.
    #[must_use]
    pub fn with_relevance(mut self, relevance: Relevance) -> Self {
        self.relevance = relevance;
        self
    }

    /// Sets the place in the prompt.
    #[must_use]
    pub fn with_band(mut self, band: ChunkBand) -> Self {
        self.band = band;
        self
    }

    /// Sets the author of the words.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets the readers besides the model.
    #[must_use]
    pub fn with_visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// Adds a less detailed level.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.levels.push(level);
        self
    }

    /// Splits content of more than `max` tokens at its logical boundaries. The sources of the parts
    /// name their lines: `src/a.rs:1-80`.
    ///
    /// Only the first level is split, and the others are dropped; a chunk that fits stays as it is.
    #[must_use]
    pub fn split(self, max: Tokens, counter: &dyn TokenCounter) -> Vec<Self> {
        let parts = split_text(self.content(), max, counter);
        if parts.len() <= 1 {
            return alloc::vec![self];
        }
        let size = self.content().len().max(1);
        let mut first = 1;
        let part = |content: String| {
            let breaks = u32::try_from(content.matches('\n').count()).unwrap_or(u32::MAX);
            let ends_line = u32::from(content.ends_with('\n'));
            let last = first + breaks - ends_line;
            let lines = (first, last);
            // A part that ends inside a line shares that line with the next part.
            first += breaks;
            let mut chunk = self.clone();
            chunk.source = format!("{}:{}-{}", self.source, lines.0, lines.1);
            chunk.id = ChunkId::new(&self.chunk_type, &chunk.source);
            // Together the parts are worth what the whole was.
            let share = (content.len() * 1_000).div_ceil(size).min(1_000);
            let coverage = Coverage::from_permille(u16::try_from(share).unwrap_or(1_000));
            chunk.levels = alloc::vec![Level {
                lines: alloc::vec![lines],
                coverage,
                ..Level::new(Detail::Full, content)
            }];
            chunk
        };
        parts.into_iter().map(part).collect()
    }

    /// The text of the most detailed level.
    #[must_use]
    pub fn content(&self) -> &str {
        // A chunk that was read from JSON has a level; one that was built by hand may have none.
        self.levels.first().map_or("", |level| &level.content)
    }

    /// The language of a fenced text, from the metadata.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        self.metadata.get("language").and_then(Value::as_str)
    }
}

/// Identifies a chunk from turn to turn by its type and its source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChunkId(String);

impl ChunkId {
    /// Creates the id of the chunk of this type from this source.
    #[must_use]
    pub fn new(chunk_type: &ChunkType, source: &str) -> Self {
        Self(format!("{}:{source}", chunk_type.as_str()))
    }

    /// Appends a hash of `content`, for chunks that share an id but differ in content.
    #[must_use]
    pub fn with_content(&self, content: &str) -> Self {
        // Twelve digits (48 bits) are enough: only the chunks that share one id must differ.
        let hash = blake3::hash(content.as_bytes()).to_hex();
        Self(format!(
            "{}#{}",
            self.0,
            hash.chars().take(12).collect::<String>()
        ))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ChunkId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The kind of a chunk. An open set: a user's gatherer brings its own kinds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChunkType {
    /// A file of the workspace.
    File,
    /// The workspace's tree.
    Structure,
    /// The project's dependencies.
    Dependency,
    /// Recent changes.
    History,
    /// A document.
    Document,
    /// The result of a tool.
    ToolResult,
    /// Something known about the user.
    Fact,
    /// A past turn of the conversation.
    Turn,
    /// A summary of earlier messages.
    Summary,
    /// A thing that the conversation is about.
    Entity,
    /// A step of a turn.
    Step,
    /// A reminder.
    Reminder,
    /// A kind that is not known here.
    #[serde(untagged)]
    Other(String),
}

impl ChunkType {
    const KNOWN: [Self; 12] = [
        Self::File,
        Self::Structure,
        Self::Dependency,
        Self::History,
        Self::Document,
        Self::ToolResult,
        Self::Fact,
        Self::Turn,
        Self::Summary,
        Self::Entity,
        Self::Step,
        Self::Reminder,
    ];

    /// The type as it is spelled in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::File => "file",
            Self::Structure => "structure",
            Self::Dependency => "dependency",
            Self::History => "history",
            Self::Document => "document",
            Self::ToolResult => "tool_result",
            Self::Fact => "fact",
            Self::Turn => "turn",
            Self::Summary => "summary",
            Self::Entity => "entity",
            Self::Step => "step",
            Self::Reminder => "reminder",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for ChunkType {
    fn from(name: String) -> Self {
        Self::KNOWN
            .into_iter()
            .find(|known| known.as_str() == name)
            // A gatherer's own kind.
            .unwrap_or(Self::Other(name))
    }
}

/// The bands that hold chunks.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ChunkBand {
    /// Before the conversation, for content that lasts: documents, workspace, slow facts.
    #[default]
    Session,
    /// Right before the first message of the history, for the text that replaces older messages.
    History,
    /// Right before the message that needed it, where it stays as the conversation goes on:
    /// recalled memory.
    Appended,
    /// Behind the history, for content that is new each turn: entities, the trace, the clock.
    Volatile,
}

/// The author of a chunk's words.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The operator, who may instruct.
    Operator,
    /// The user.
    User,
    /// Anybody at an earlier time: shown under a heading that says so.
    Remembered,
    /// Anybody: data, never instructions.
    #[default]
    Untrusted,
}

/// The likelihood that a chunk is needed, in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "u32")]
pub struct Relevance(u32);

impl From<u32> for Relevance {
    /// The same as [`Relevance::from_ppm`].
    fn from(ppm: u32) -> Self {
        Self::from_ppm(ppm)
    }
}

impl Relevance {
    /// Certainly needed.
    pub const CERTAIN: Self = Self(1_000_000);

    /// Creates a relevance of `ppm` parts per million; more than a million counts as a million.
    #[must_use]
    pub const fn from_ppm(ppm: u32) -> Self {
        Self(if ppm > 1_000_000 { 1_000_000 } else { ppm })
    }

    /// Returns the parts per million.
    #[must_use]
    pub const fn ppm(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests;
