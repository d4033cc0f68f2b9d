//! Blocks: a prompt by band, before it takes the shape of a provider's request.

use alloc::string::String;

use serde::Serialize;

use super::kept::Kept;
use crate::band::Band;
use crate::chunk::{ChunkId, ChunkType, Detail};
use crate::envelope::ToolDefinition;
use crate::message::Message;
use crate::role::Role;

/// A part of a request. Its words are final; the JSON around them is not decided here.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Block {
    /// The place.
    pub band: Band,
    /// The part.
    #[serde(flatten)]
    pub body: BlockBody,
}

impl Block {
    pub(super) const fn new(band: Band, body: BlockBody) -> Self {
        Self { band, body }
    }

    /// Tells whether it is an instruction before the conversation: the operator's words, or a chunk
    /// that was chosen for the session.
    #[must_use]
    pub fn is_instruction(&self) -> bool {
        let is_operators = match &self.body {
            BlockBody::Text { role, .. } => *role == Role::System,
            BlockBody::Chunk { .. } => true,
            BlockBody::Tool(_) | BlockBody::Message(_) => false,
        };
        is_operators && self.band <= Band::Session
    }
}

/// The kinds of blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockBody {
    /// A tool on offer.
    Tool(ToolDefinition),
    /// A text that is in no message: the base prompt, or a context message.
    Text {
        /// The speaker.
        role: Role,
        text: String,
    },
    /// A message.
    Message(Message),
    /// A chunk that was chosen. Chunks of one band that follow each other are one text.
    Chunk {
        /// The chunk.
        id: ChunkId,
        /// The chunk's source.
        source: String,
        /// The chunk's kind.
        chunk_type: ChunkType,
        /// The level that is shown.
        level: Detail,
        /// The piece, as it stands in the prompt.
        text: String,
    },
}

impl From<&Kept> for BlockBody {
    fn from(kept: &Kept) -> Self {
        Self::Chunk {
            id: kept.id.clone(),
            source: kept.source.clone(),
            chunk_type: kept.chunk_type.clone(),
            level: kept.detail,
            text: kept.text.clone(),
        }
    }
}
