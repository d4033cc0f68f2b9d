//! The JSON of a chunk: the plain one and the one with levels, checked as they are read.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::{
    ChunkBand, ChunkId, ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level,
    Relevance, Trust,
};
use crate::role::Visibility;

/// A chunk as it is written in JSON.
#[derive(Clone, Serialize, Deserialize)]
#[serde(expecting = "a chunk, which is an object")]
pub(super) struct ChunkJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<ChunkId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    source: String,
    chunk_type: ChunkType,
    priority: ContextPriority,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relevance: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    band: Option<ChunkBand>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trust: Option<Trust>,
    #[serde(default, skip_serializing_if = "Visibility::is_all")]
    visibility: Visibility,
    /// A hint by the caller, never relied on: only the range is checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<LevelJson>>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Clone, Serialize, Deserialize)]
struct LevelJson {
    level: Detail,
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coverage: Option<Number>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lines: Vec<(u32, u32)>,
}

/// A chunk that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// Neither content nor levels.
    #[error(
        "chunk `{source_name}` has no levels: give it `content`, or at least one entry in `levels`"
    )]
    NoLevels { source_name: String },
    /// A number outside its range.
    #[error("chunk `{source_name}` has {field} {value}; expected a whole number from 0 to {max}")]
    OutOfRange {
        source_name: String,
        field: &'static str,
        /// The rejected value.
        value: String,
        /// The largest value.
        max: u32,
    },
}

impl TryFrom<ChunkJson> for ContextChunk {
    type Error = ChunkError;

    fn try_from(json: ChunkJson) -> Result<Self, ChunkError> {
        let ranged = |field, value: &Option<Number>, default: u32, max: u32| {
            let Some(value) = value else {
                return Ok(default);
            };
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            number
                .filter(|&number| number <= max)
                .ok_or_else(|| ChunkError::OutOfRange {
                    source_name: json.source.clone(),
                    field,
                    value: alloc::format!("{value}"),
                    max,
                })
        };
        ranged("tokens", &json.tokens, 0, u32::MAX)?;
        let relevance = ranged("relevance", &json.relevance, 1_000_000, 1_000_000)?;
        let mut levels = Vec::new();
        for level in json.levels.iter().flatten() {
            let usual = u32::from(level.level.usual_coverage().permille());
            let coverage = ranged("coverage", &level.coverage, usual, 1000)?;
            // `ranged` let at most 1000 pass, so the conversion keeps the value.
            levels.push(Level {
                level: level.level,
                content: level.content.clone(),
                coverage: Coverage::from_permille(u16::try_from(coverage).unwrap_or(1000)),
                lines: level.lines.clone(),
            });
        }
        // `levels` wins over `content`: an empty list is an error and no reason to fall back.
        if let (true, None, Some(content)) = (levels.is_empty(), &json.levels, json.content) {
            levels.push(Level::new(Detail::Full, content));
        }
        if levels.is_empty() {
            return Err(ChunkError::NoLevels {
                source_name: json.source,
            });
        }
        Ok(Self {
            id: json
                .id
                .unwrap_or_else(|| ChunkId::new(&json.chunk_type, &json.source)),
            source: json.source,
            chunk_type: json.chunk_type,
            priority: json.priority,
            relevance: Relevance::from_ppm(relevance),
            band: json.band.unwrap_or_default(),
            trust: json.trust.unwrap_or_default(),
            visibility: json.visibility,
            levels,
            metadata: json.metadata,
        })
    }
}

impl From<ContextChunk> for ChunkJson {
    fn from(chunk: ContextChunk) -> Self {
        let content = chunk.content().into();
        // A chunk with nothing but its full text is written in the plain form, without `levels`.
        let plain = matches!(chunk.levels.as_slice(), [only] if *only == Level::new(Detail::Full, &*only.content));
        let levels = chunk.levels.into_iter().map(|level| LevelJson {
            level: level.level,
            content: level.content,
            coverage: Some(level.coverage.permille().into()),
            lines: level.lines,
        });
        Self {
            id: Some(chunk.id),
            content: Some(content),
            source: chunk.source,
            chunk_type: chunk.chunk_type,
            priority: chunk.priority,
            relevance: Some(chunk.relevance.ppm().into()),
            band: Some(chunk.band),
            trust: Some(chunk.trust),
            visibility: chunk.visibility,
            tokens: None,
            levels: (!plain).then(|| levels.collect()),
            metadata: chunk.metadata,
        }
    }
}
