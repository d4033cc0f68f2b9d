//! What gatherers brought, and what is attached to the task, as scored chunks.

use std::collections::BTreeMap;

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level};
use kitbag_core::rank::{Prioritizer, RankTask, RankedChunk};
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::report::{Excluded, Pack};
use super::shorten::shorten;
use super::strategy::Strategy;
use super::{Attachment, change};
use crate::gather::Gathered;
use crate::redaction::{self, Redaction};

/// What is to be shown besides the files of the survey.
pub(super) struct Brought {
    pub(super) chunks: Vec<RankedChunk>,
    /// What has no room in its share.
    pub(super) excluded: Vec<Excluded>,
    /// The secrets that were replaced.
    pub(super) redacted: Vec<Redaction>,
}

impl Brought {
    /// Limits the first chunks, which come from our own gatherers, to their shares.
    pub(super) fn new(
        gathered: &Gathered,
        strategy: Strategy,
        own: usize,
        budget: Tokens,
        counter: &dyn TokenCounter,
    ) -> Self {
        let mut brought = Self {
            chunks: Vec::new(),
            excluded: Vec::new(),
            redacted: gathered.redacted.clone(),
        };
        for (place, chunk) in gathered.chunks.iter().enumerate() {
            let mut chunk = chunk.clone();
            if let Some(priority) = strategy.priority.filter(|_| place < own) {
                chunk.priority = priority;
            }
            let is_first = strategy.priority.is_some() && place < own;
            if let Some(most) = strategy.most(&chunk, budget).filter(|_| place < own) {
                limit(&mut chunk, most, counter);
                if chunk.levels.is_empty() {
                    let reason = format!("its share of the budget is {most} tokens, too few");
                    brought.excluded.push(Excluded::new(chunk.source, reason));
                    continue;
                }
                if is_first {
                    // As much as its share allows: that is what an overview is for.
                    chunk.levels.truncate(1);
                }
            }
            brought.chunks.push(chunk.into());
        }
        brought
    }

    /// Adds a text that belongs to the task. One that is long may be shown by its beginning and its
    /// end, in a quarter of the budget.
    pub(super) fn attach(
        &mut self,
        attached: &Attachment,
        budget: Tokens,
        counter: &dyn TokenCounter,
    ) {
        let (name, text) = (attached.name.as_str(), attached.text.as_str());
        let mut chunk =
            ContextChunk::new(attachment(), name, text).with_priority(ContextPriority::High);
        self.redacted.extend(redaction::of_chunk(&mut chunk));
        if let Some(short) = shorten(chunk.content(), Tokens(budget.0 / 4), counter) {
            chunk.levels.push(Level::new(Detail::Slice, short));
        }
        self.chunks.push(chunk.into());
    }

    /// Gives the chunks their scores.
    pub(super) fn score(&mut self, prioritizer: &dyn Prioritizer, task: &RankTask) {
        for ranked in &mut self.chunks {
            ranked.score = prioritizer.score(&ranked.chunk, task);
        }
    }

    /// Takes away the files that a chunk stands for: nothing is shown twice.
    pub(super) fn replace(
        &mut self,
        files: &mut Vec<RankedChunk>,
        pins: &[String],
        budget: Tokens,
    ) {
        let mut stand_ins: BTreeMap<String, String> = BTreeMap::new();
        for other in self.chunks.iter().map(|other| &other.chunk) {
            let reason = || {
                let kind = other.chunk_type.as_str();
                format!("the {kind} `{}` stands for it", other.source)
            };
            if !other.content().trim().is_empty() {
                stand_ins.entry(other.source.clone()).or_insert_with(reason);
            }
            if let Some(path) = change::shown_whole(other, budget) {
                stand_ins.entry(path.to_owned()).or_insert_with(reason);
            }
        }
        files.retain(|file| {
            let source = &file.chunk.source;
            let stands_for = stand_ins.get(source).filter(|_| !pins.contains(source));
            if let Some(reason) = stands_for {
                let reason = reason.clone();
                self.excluded.push(Excluded::new(source.as_str(), reason));
            }
            stands_for.is_none()
        });
    }
}

/// Says what became of an attachment that is not there, or not whole.
pub(super) fn attachment_problem(attached: &Attachment, pack: &Pack) -> Option<String> {
    let name = &attached.name;
    let is_it = |kind: &ChunkType, source: &str| *kind == attachment() && source == name;
    let shown = pack
        .chunks
        .iter()
        .find(|chunk| is_it(&chunk.chunk_type, &chunk.source));
    match shown.map(|chunk| chunk.level) {
        Some(Detail::Full) => None,
        Some(_) => Some(format!(
            "`{name}` is longer than a quarter of the budget: its middle was left out"
        )),
        None if attached.text.trim().is_empty() => None,
        None => Some(format!("`{name}` was left out: there is no room for it")),
    }
}

fn attachment() -> ChunkType {
    ChunkType::Other("attachment".into())
}

/// A text shorter than this says nothing but that it was shortened.
const FEWEST: Tokens = Tokens(40);

/// Takes off the levels that are too large; where all are, the last is shortened.
fn limit(chunk: &mut ContextChunk, most: Tokens, counter: &dyn TokenCounter) {
    let last = chunk.levels.last().cloned();
    chunk
        .levels
        .retain(|level| counter.count(&level.content) <= most);
    if let Some(last) = last.filter(|_| chunk.levels.is_empty() && most >= FEWEST)
        && let Some(short) = shorten(&last.content, most, counter)
    {
        // What matters most stands at the beginning.
        let coverage = Coverage::from_permille(last.coverage.permille() / 10 * 9);
        chunk
            .levels
            .push(Level::new(Detail::Slice, short).with_coverage(coverage));
    }
}
