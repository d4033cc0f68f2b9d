//! Chunks that are in the prompt, as they are shown.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{OutputForm, render_piece};
use crate::chunk::{ChunkBand, ChunkId, ChunkType, ContextChunk, ContextPriority, Detail};
use crate::rank::RankedChunk;
use crate::role::Visibility;
use crate::tokens::Tokens;

/// A chunk at the level that was chosen for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Kept {
    /// The chunk.
    pub id: ChunkId,
    /// The chunk's source.
    pub source: String,
    /// The chunk's kind.
    pub chunk_type: ChunkType,
    /// Its priority when it was chosen.
    pub priority: ContextPriority,
    /// Readers besides the model.
    #[serde(default, skip_serializing_if = "Visibility::is_all")]
    pub visibility: Visibility,
    /// The band it stands in.
    pub band: ChunkBand,
    /// The level that is shown.
    pub detail: Detail,
    /// The lines of the source that it shows, counted from 1, both ends included; empty if the
    /// level does not state them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(u32, u32)>,
    /// The piece, as it stands in the prompt.
    pub text: String,
    /// The tokens of the piece.
    pub tokens: Tokens,
    /// The message of the history before which it was appended, for a chunk that came after the
    /// epoch began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    /// Set if it stands under the heading of remembered chunks.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_remembered: bool,
}

/// Returns the chunks behind those that a prompt of this form keeps, each with only the level that
/// is shown.
///
/// They are found by source and text, since an assembly renames chunks that share an id.
#[must_use]
pub fn kept_chunks(kept: &[Kept], from: &[RankedChunk], form: OutputForm) -> Vec<ContextChunk> {
    let mut by_source: BTreeMap<&str, Vec<&ContextChunk>> = BTreeMap::new();
    for RankedChunk { chunk, .. } in from {
        by_source.entry(&chunk.source).or_default().push(chunk);
    }
    let shown = |one: &Kept| {
        by_source
            .get(one.source.as_str())?
            .iter()
            .find_map(|chunk| {
                let mut levels = chunk.levels.iter();
                // By its text, since a chunk may have many slices of the same detail.
                let level = levels.find(|level| render_piece(chunk, level, form) == one.text)?;
                Some(ContextChunk {
                    levels: alloc::vec![level.clone()],
                    ..(*chunk).clone()
                })
            })
    };
    kept.iter().filter_map(shown).collect()
}
