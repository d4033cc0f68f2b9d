//! The chunks of gatherers and the attachment of the task, with scores.

use std::collections::BTreeMap;

use kitbag_core::assembly::Assembly;
use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level};
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::rank::RankedChunk;
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::report::Excluded;
use super::{Attachment, PackOptions, Prepared, change};
use crate::engine::{Redaction, clean};
use crate::shorten::shorten;

/// Chunks other than the files of the survey.
pub(super) struct Others {
    pub(super) chunks: Vec<RankedChunk>,
    /// Chunks without room in their share.
    pub(super) excluded: Vec<Excluded>,
    /// The secrets that were replaced.
    pub(super) redacted: Vec<Redaction>,
}

impl Others {
    /// Limits the chunks of the built-in gatherers to their shares, takes the others as they are, and
    /// scores them all.
    pub(super) fn new(
        prepared: &Prepared,
        options: &PackOptions,
        counter: &dyn TokenCounter,
    ) -> Self {
        let (ours, others, budget) = (&prepared.ours, &prepared.others, options.budget);
        let mut all = Self {
            chunks: Vec::new(),
            excluded: Vec::new(),
            redacted: [ours.redacted.as_slice(), &others.redacted].concat(),
        };
        let strategy = prepared.strategy;
        for ranked in ours.chunks() {
            let mut chunk = ranked.chunk.clone();
            chunk.priority = strategy.priority.unwrap_or(chunk.priority);
            if let Some(most) = strategy.most(&chunk, budget) {
                limit(&mut chunk, most, counter);
                if chunk.levels.is_empty() {
                    let reason = format!("its share of the budget is {most} tokens, too few");
                    all.excluded.push(Excluded::new(chunk.source, reason));
                    continue;
                }
                if strategy.priority.is_some() {
                    // One level, so that the fit cannot trade it for a cheaper one: an overview fills its shares.
                    chunk.levels.truncate(1);
                }
            }
            all.chunks.push(chunk.into());
        }
        // A caller's own gatherers have no share: the caller knows how much they bring.
        all.chunks.extend(others.chunks().iter().cloned());
        if let Some(attached) = &prepared.request.attachment {
            all.attach(attached, budget, counter);
        }
        // Scored together and last: options and the task weigh every chunk in the same way.
        for ranked in &mut all.chunks {
            ranked.score = options.score(&ranked.chunk, &prepared.rank_task);
        }
        all
    }

    /// Adds a text that belongs to the task. One that is long may be shown by its beginning and its
    /// end, in a quarter of the budget.
    fn attach(&mut self, attached: &Attachment, budget: Tokens, counter: &dyn TokenCounter) {
        // Cleaned before it is shortened: half of a secret is not recognised.
        let text = clean(&attached.text, &attached.name);
        let mut chunk = ContextChunk::new(attachment(), attached.name.as_str(), &*text.text)
            .with_priority(ContextPriority::High);
        if let Some(short) = shorten(&text.text, Tokens(budget.0 / 4), counter) {
            chunk.levels.push(Level::new(Detail::Slice, short));
        }
        self.redacted.extend(text.redacted);
        self.chunks.push(chunk.into());
    }

    /// The files that a chunk stands for, with the reason: nothing is shown twice.
    pub(super) fn stand_ins(&self, budget: Tokens) -> BTreeMap<String, String> {
        let mut stand_ins: BTreeMap<String, String> = BTreeMap::new();
        for other in self.chunks.iter().map(|other| &other.chunk) {
            let reason = || {
                let kind = other.chunk_type.as_str();
                format!("the {kind} `{}` stands for it", other.source)
            };
            // An empty chunk shows nothing and must not keep the file out.
            if !other.content().trim().is_empty() {
                stand_ins.entry(other.source.clone()).or_insert_with(reason);
            }
            if let Some(path) = change::shown_whole(other, budget) {
                stand_ins.entry(path.to_owned()).or_insert_with(reason);
            }
        }
        stand_ins
    }
}

/// The problem of an attachment that is not shown, or not whole.
pub(super) fn attachment_problem(attached: &Attachment, assembly: &Assembly) -> Option<Problem> {
    let name = &attached.name;
    let kind = attachment();
    let mut kept = assembly.kept.iter();
    let shown = kept.find(|kept| kept.chunk_type == kind && kept.source == *name);
    let (kind, message) = match shown.map(|kept| kept.detail) {
        Some(Detail::Full) => return None,
        Some(_) => (
            ProblemKind::Shortened,
            "it is longer than a quarter of the budget: its middle was left out",
        ),
        None if attached.text.trim().is_empty() => return None,
        None => (ProblemKind::LeftOut, "there is no room for it"),
    };
    Some(Problem::new(name.as_str(), kind, message))
}

fn attachment() -> ChunkType {
    ChunkType::Other("attachment".into())
}

/// The least room for a shortened text: in less, little but the note of the gap would remain.
const FEWEST: Tokens = Tokens(40);

/// Removes the levels that are too large; if none is left, shortens the last.
fn limit(chunk: &mut ContextChunk, most: Tokens, counter: &dyn TokenCounter) {
    let last = chunk.levels.last().cloned();
    let fits = |level: &Level| counter.count(&level.content) <= most;
    chunk.levels.retain(fits);
    if let Some(last) = last.filter(|_| chunk.levels.is_empty() && most >= FEWEST)
        && let Some(short) = shorten(&last.content, most, counter)
    {
        // The beginning and the end of a text, which stay, say most of it.
        let coverage = Coverage::from_permille(last.coverage.permille() / 10 * 9);
        let short = Level::new(Detail::Slice, short).with_coverage(coverage);
        chunk.levels.push(short);
    }
}
