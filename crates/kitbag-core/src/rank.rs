//! Scores chunks for a task and puts them in order, each part of the score visible.
//!
//! The score orders and explains. A chunk's worth to the fit comes from its relevance instead,
//! which says how likely the chunk is needed.

mod words;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::chunk::{ChunkId, ChunkType, ContextChunk};
use crate::envelope::{TaskEnvelope, TaskType};
use crate::time;

/// Scores the chunks and sorts them, the best first. Equal scores are ordered by relevance, then
/// by id, so that the order of the input never matters.
#[must_use]
pub fn rank(
    chunks: Vec<ContextChunk>,
    task: &RankTask,
    prioritizer: &dyn Prioritizer,
) -> Vec<RankedChunk> {
    let mut ranked: Vec<RankedChunk> = chunks
        .into_iter()
        .map(|chunk| RankedChunk {
            score: prioritizer.score(&chunk, task),
            chunk,
        })
        .collect();
    // Ids may repeat here, since duplicates are merged only when the prompt is assembled: the
    // content settles the last ties.
    ranked.sort_by(|a, b| {
        let by_score = b.score.total().cmp(&a.score.total());
        by_score
            .then_with(|| b.chunk.relevance.cmp(&a.chunk.relevance))
            .then_with(|| a.chunk.id.cmp(&b.chunk.id))
            .then_with(|| a.chunk.content().cmp(b.chunk.content()))
    });
    ranked
}

/// Gives a chunk its score. Implement it to bring knowledge of your own, by adding parts to what
/// [`ScoreWeights`] gives.
///
/// ```
/// use kitbag_core::chunk::ContextChunk;
/// use kitbag_core::rank::{Prioritizer, RankTask, Score, ScoreWeights};
///
/// struct DomainFirst;
///
/// impl Prioritizer for DomainFirst {
///     fn score(&self, chunk: &ContextChunk, task: &RankTask) -> Score {
///         let score = ScoreWeights::default().score(chunk, task);
///         if chunk.source.contains("domain/models") {
///             score.plus("domain", 200)
///         } else {
///             score
///         }
///     }
/// }
/// ```
pub trait Prioritizer: Send + Sync {
    /// The score of `chunk` for `task`.
    fn score(&self, chunk: &ContextChunk, task: &RankTask) -> Score;
}

impl fmt::Debug for dyn Prioritizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prioritizer")
    }
}

/// A chunk with its score.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankedChunk {
    pub chunk: ContextChunk,
    pub score: Score,
}

impl From<ContextChunk> for RankedChunk {
    /// A chunk whose score is its priority.
    fn from(chunk: ContextChunk) -> Self {
        Self {
            score: Score::default().plus("base", chunk.priority.score()),
            chunk,
        }
    }
}

/// The task, as far as it is known when chunks are scored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankTask {
    /// The kind of task, if known.
    pub task_type: Option<TaskType>,
    /// The text of the request.
    pub request: String,
    /// The newest modification among the chunks, from which recency counts: never the clock.
    pub newest: Option<Timestamp>,
    /// The envelope that the task arrived in, if any.
    pub envelope: Option<TaskEnvelope>,
    /// Scores that retrieval gave to chunks before anyone ranked them.
    pub evidence: BTreeMap<ChunkId, Score>,
    keywords: Vec<String>,
}

impl RankTask {
    /// Creates a task over these chunks.
    #[must_use]
    pub fn new(task_type: Option<TaskType>, request: &str, chunks: &[ContextChunk]) -> Self {
        Self {
            task_type,
            request: request.into(),
            newest: chunks.iter().filter_map(last_modified).max(),
            envelope: None,
            evidence: BTreeMap::new(),
            keywords: words::keywords(request),
        }
    }

    /// Creates the task of an envelope, over these chunks.
    #[must_use]
    pub fn of(envelope: TaskEnvelope, chunks: &[ContextChunk]) -> Self {
        let task = Self::new(Some(envelope.task_type), &envelope.user_request, chunks);
        Self {
            envelope: Some(envelope),
            ..task
        }
    }
}

/// A score with its parts, in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    parts: Vec<ScorePart>,
}

impl Score {
    /// The sum of the parts.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(part.value))
    }

    /// Returns the parts.
    #[must_use]
    pub fn parts(&self) -> &[ScorePart] {
        &self.parts
    }

    /// Adds a part; a part of 0 is left out.
    #[must_use]
    pub fn plus(mut self, name: impl Into<Cow<'static, str>>, value: i64) -> Self {
        if value != 0 {
            let name = name.into();
            self.parts.push(ScorePart { name, value });
        }
        self
    }
}

/// One reason for a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScorePart {
    /// The name of the reason.
    pub name: Cow<'static, str>,
    /// The points that it adds or takes away.
    pub value: i64,
}

/// The built-in prioritizer: base + task + recency + mention − size, with these constants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ScoreWeights {
    /// For a debug task: sources named after errors and exceptions.
    pub debug: i64,
    /// For a test task: tests and fixtures.
    pub test: i64,
    /// For an implement task: the module or class that the request names.
    pub implement: i64,
    /// For a refactor task: dependencies and dependents.
    pub refactor: i64,
    /// For each keyword of the request in the source's name.
    pub mention_in_source: i64,
    /// For each other keyword of the request in the content.
    pub mention_in_content: i64,
    /// The most that mentions add.
    pub mention_limit: i64,
    /// For a modification at most this many days before the newest, the first that applies.
    pub recency: Vec<(i64, i64)>,
    /// The size in bytes up to which a chunk loses nothing.
    pub size_free: usize,
    /// The points that each doubling beyond that takes away.
    pub size_per_doubling: i64,
    /// The most that size takes away.
    pub size_limit: i64,
}

impl Default for ScoreWeights {
    fn default() -> Self {
        Self {
            debug: 300,
            test: 250,
            implement: 400,
            refactor: 200,
            mention_in_source: 150,
            mention_in_content: 50,
            mention_limit: 450,
            recency: alloc::vec![(1, 100), (7, 75), (30, 50), (90, 25)],
            size_free: 16 * 1024,
            size_per_doubling: 50,
            size_limit: 250,
        }
    }
}

impl Prioritizer for ScoreWeights {
    fn score(&self, chunk: &ContextChunk, task: &RankTask) -> Score {
        Score::default()
            .plus("base", chunk.priority.score())
            .plus("task", self.task_boost(chunk, task))
            .plus("recency", self.recency_boost(chunk, task))
            .plus("mention", self.mention_boost(chunk, task))
            .plus("size", -self.size_penalty(chunk))
    }
}

impl ScoreWeights {
    fn task_boost(&self, chunk: &ContextChunk, task: &RankTask) -> i64 {
        let named = |names: &str| {
            let mut words = words::of_path(&chunk.source);
            has_own_name(chunk) && words.any(|word| words::is_one_of(&word, names))
        };
        let (applies, boost) = match task.task_type {
            Some(TaskType::Debug) => (named(words::ERRORS), self.debug),
            Some(TaskType::Test) => (named(words::TESTS), self.test),
            Some(TaskType::Implement) => {
                let stem = words::stem_of(&chunk.source);
                (task.keywords.contains(&stem), self.implement)
            }
            Some(TaskType::Refactor) => (
                chunk.chunk_type == ChunkType::Dependency || is_relative(chunk),
                self.refactor,
            ),
            Some(TaskType::Analyze | TaskType::Review) | None => (false, 0),
        };
        if applies { boost } else { 0 }
    }

    fn recency_boost(&self, chunk: &ContextChunk, task: &RankTask) -> i64 {
        let (Some(newest), Some(modified)) = (task.newest, last_modified(chunk)) else {
            return 0;
        };
        // Against the newest chunk and not today, so that the same input always has the same score.
        let days = (newest.as_second() - modified.as_second()) / 86_400;
        let applies = self.recency.iter().find(|&&(limit, _)| days <= limit);
        applies.map_or(0, |&(_, boost)| boost)
    }

    fn mention_boost(&self, chunk: &ContextChunk, task: &RankTask) -> i64 {
        let source = match has_own_name(chunk) {
            true => chunk.source.to_lowercase(),
            false => String::new(),
        };
        let content = words::mentioned(&task.keywords, chunk.content());
        let mentions = task.keywords.iter().map(|keyword| {
            // In a name a keyword may be part of a word, as in `authentication.rs`; in a text that
            // would be chance.
            if source.contains(keyword) {
                self.mention_in_source
            } else if content.contains(&keyword) {
                self.mention_in_content
            } else {
                0
            }
        });
        mentions.sum::<i64>().min(self.mention_limit)
    }

    fn size_penalty(&self, chunk: &ContextChunk) -> i64 {
        // Below `size_free` the quotient is 0, which has no logarithm: such a chunk loses nothing.
        let doublings = (chunk.content().len() / self.size_free.max(1))
            .checked_ilog2()
            .unwrap_or(0);
        (i64::from(doublings) * self.size_per_doubling).min(self.size_limit)
    }
}

/// Tells names by the project or its user from our own, such as `git log`, which say nothing about
/// the chunk's content.
fn has_own_name(chunk: &ContextChunk) -> bool {
    !matches!(chunk.chunk_type, ChunkType::History | ChunkType::Structure)
}

/// Tells whether a gatherer marked the chunk as a dependency or a dependent of the task's target.
fn is_relative(chunk: &ContextChunk) -> bool {
    let relation = chunk
        .metadata
        .get("relation")
        .and_then(|value| value.as_str());
    matches!(relation, Some("dependency" | "dependent"))
}

fn last_modified(chunk: &ContextChunk) -> Option<Timestamp> {
    time::from_json(chunk.metadata.get("last_modified")?)
}

#[cfg(test)]
mod tests;
