//! A chunk that is in the prompt, as it is shown.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::chunk::{ChunkBand, ChunkId, ChunkType, ContextPriority, Detail};
use crate::role::Visibility;
use crate::tokens::Tokens;

/// A chunk at the level that was chosen for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Kept {
    /// The chunk.
    pub id: ChunkId,
    /// Where it comes from.
    pub source: String,
    /// What it is.
    pub chunk_type: ChunkType,
    /// Its priority when it was chosen.
    pub priority: ContextPriority,
    /// Who may see it besides the model.
    #[serde(default, skip_serializing_if = "Visibility::is_all")]
    pub visibility: Visibility,
    /// The band it stands in.
    pub band: ChunkBand,
    /// The level that is shown.
    pub detail: Detail,
    /// The lines of the source that it shows, counted from 1, both ends included; empty where the
    /// level does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(u32, u32)>,
    /// The piece, as it stands in the prompt.
    pub text: String,
    /// What the piece costs.
    pub tokens: Tokens,
    /// The message of the history before which it was appended, for a chunk that came after the
    /// epoch began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
}
