//! What is known, as chunks with levels.

use kitbag_core::assembly::{Draft, Epoch};
use kitbag_core::chunk::{
    ChunkBand, ChunkId, ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level,
    Relevance, Trust,
};
use kitbag_core::message::Message;
use kitbag_core::problem::Problem;
use kitbag_core::rank::RankedChunk;
use kitbag_core::role::Role;
use kitbag_core::summarize::{Speaker, Utterance, extract};
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::ContextSettings;
use crate::error::StoreError;
use crate::fact::Fact;
use crate::message::StoredMessage;
use crate::recall::Recalled;
use crate::summary::Summary;

/// What the sources gave.
#[derive(Default)]
pub(super) struct Known {
    pub(super) facts: Vec<Fact>,
    pub(super) summaries: Vec<Summary>,
    pub(super) recalled: Vec<Recalled>,
    pub(super) epoch: Option<Epoch>,
    pub(super) problems: Vec<Problem>,
}

impl Known {
    /// The result, or nothing and a line about why.
    pub(super) fn or_tell<T: Default>(&mut self, source: &str, result: Result<T, StoreError>) -> T {
        result.unwrap_or_else(|error| {
            self.problems.push(Problem::failed(source, error));
            T::default()
        })
    }

    /// Takes what becomes chunks.
    pub(super) fn take(&mut self) -> (Vec<Fact>, Vec<Summary>, Vec<Recalled>) {
        let facts = std::mem::take(&mut self.facts);
        let summaries = std::mem::take(&mut self.summaries);
        (facts, summaries, std::mem::take(&mut self.recalled))
    }
}

/// The tokens that the history may take, word for word: three quarters of what the base prompt and
/// the message leave, so that what is known besides has room.
pub(super) fn history_room(
    draft: &Draft,
    settings: &ContextSettings,
    counter: &dyn TokenCounter,
) -> Tokens {
    let fixed = counter
        .count(&draft.identity)
        .saturating_add(counter.count(&draft.current.content.text()));
    let left = settings.budget.saturating_sub(fixed);
    Tokens(left.0 / 4 * 3)
}

/// Around a message: its heading, and blank lines.
const AROUND: Tokens = Tokens(8);

/// Puts the newest messages into the history, as many as there is room for without a gap, and gives
/// back those before them.
pub(super) fn split_history(
    said: Vec<StoredMessage>,
    room: Tokens,
    counter: &dyn TokenCounter,
    history: &mut Vec<Message>,
) -> Vec<StoredMessage> {
    let mut left = room;
    let mut first = said.len();
    for message in said.iter().rev() {
        let cost = counter.count(&message.text()).saturating_add(AROUND);
        if cost > left {
            break;
        }
        left = left.saturating_sub(cost);
        first -= 1;
    }
    let mut older = said;
    let newest = older.split_off(first);
    history.extend(newest.into_iter().map(StoredMessage::into_history));
    older
}

/// Everything that may be in the prompt.
pub(super) fn chunks(
    (facts, summaries, recalled): (Vec<Fact>, Vec<Summary>, Vec<Recalled>),
    older: Vec<StoredMessage>,
    counter: &dyn TokenCounter,
) -> Vec<RankedChunk> {
    let facts = facts.iter().map(fact);
    let newest = summaries.len();
    let summaries = summaries
        .iter()
        .enumerate()
        .map(|(index, summary)| summarised(summary, newest - index, counter));
    let best = recalled.first().map_or(1, |hit| hit.score.max(1));
    let recalled = recalled.iter().map(|hit| remembered(hit, best));
    let count = older.len();
    let older = older
        .iter()
        .enumerate()
        .map(|(index, message)| earlier(message, count - index, counter));
    let chunks = facts.chain(summaries).map(RankedChunk::from);
    chunks
        .chain(older.map(RankedChunk::from))
        .chain(recalled)
        .collect()
}

/// What stands in the prompt since the epoch began and is no longer known: facts that were unset or
/// forgotten. What is only not relevant any more stays, for the cache's sake.
pub(super) fn retracted(epoch: Option<&Epoch>, chunks: &[RankedChunk]) -> Vec<ChunkId> {
    let is_known = |id: &ChunkId| chunks.iter().any(|ranked| ranked.chunk.id == *id);
    let kept = epoch.into_iter().flat_map(|epoch| &epoch.kept);
    kept.filter(|kept| kept.chunk_type == ChunkType::Fact && !is_known(&kept.id))
        .map(|kept| kept.id.clone())
        .collect()
}

fn chunk(
    chunk_type: ChunkType,
    source: String,
    text: String,
    priority: ContextPriority,
    ppm: u32,
) -> ContextChunk {
    ContextChunk::new(chunk_type, source, text)
        .with_priority(priority)
        .with_relevance(Relevance::from_ppm(ppm))
        .with_trust(Trust::User)
}

fn fact(fact: &Fact) -> ContextChunk {
    let text = format!("About the user, {}: {}", fact.key, fact.value);
    let source = format!("fact/{}", fact.key);
    chunk(
        ChunkType::Fact,
        source,
        text,
        ContextPriority::High,
        600_000,
    )
    .with_band(ChunkBand::Session)
}

fn summarised(summary: &Summary, age: usize, counter: &dyn TokenCounter) -> ContextChunk {
    let day = summary.made.to_string();
    let day = day.split('T').next().unwrap_or_default();
    let source = format!("summary/{}/{}", summary.conversation.scope, summary.number);
    let text = |summary: &str| format!("Earlier conversation, summarised {day}: {summary}");
    let ppm = 600_000 / u32::try_from(age).unwrap_or(u32::MAX).max(1);
    let whole = chunk(
        ChunkType::Summary,
        source,
        text(&summary.text),
        ContextPriority::Medium,
        ppm,
    )
    .with_band(ChunkBand::Session);
    shorter(whole, &Utterance::of_summary(&summary.text), counter, text)
}

/// A message of an earlier conversation: the passage that says most.
fn remembered(hit: &Recalled, best: i64) -> RankedChunk {
    let share = hit.score.max(0).saturating_mul(800_000) / best;
    let text = format!(
        "{}: {}",
        said_by("Earlier", &hit.message),
        hit.text().trim()
    );
    let chunk = chunk(
        ChunkType::Turn,
        format!("message/{}", hit.message.id),
        text,
        ContextPriority::Medium,
        u32::try_from(share).unwrap_or(0),
    )
    .with_band(ChunkBand::Volatile);
    let mut ranked = RankedChunk::from(chunk);
    for part in &hit.parts {
        ranked.score = std::mem::take(&mut ranked.score).plus(part.name, part.value);
    }
    ranked
}

/// A message of this conversation for which the history has no room.
fn earlier(stored: &StoredMessage, age: usize, counter: &dyn TokenCounter) -> ContextChunk {
    let by = said_by("Earlier in this conversation", stored);
    let age = u32::try_from(age).unwrap_or(u32::MAX).max(1);
    let whole = chunk(
        ChunkType::Turn,
        format!("message/{}", stored.id),
        format!("{by}: {}", stored.text()),
        ContextPriority::Medium,
        (700_000 / (1 + age / 4)).max(20_000),
    )
    .with_band(ChunkBand::Session);
    let speaker = match stored.message.role {
        Role::User => Speaker::User,
        Role::System | Role::Assistant | Role::Tool => Speaker::Assistant,
    };
    let said = [Utterance::new(speaker, stored.text().into_owned())];
    shorter(whole, &said, counter, |extract| {
        format!("{by}, in short: {extract}")
    })
}

/// Adds levels with the most telling sentences alone, a third and a tenth as long.
fn shorter(
    mut chunk: ContextChunk,
    said: &[Utterance],
    counter: &dyn TokenCounter,
    text: impl Fn(&str) -> String,
) -> ContextChunk {
    let whole = counter.count(chunk.content());
    for (share, coverage) in [(3, 600), (10, 300)] {
        let limit = Tokens(whole.0 / share);
        if limit < Tokens(24) {
            continue;
        }
        let short = extract(said, &[], limit, counter);
        // Who speaks is said in front already.
        let said = Utterance::of_summary(&short)
            .into_iter()
            .map(|one| one.text);
        let short = said.collect::<Vec<_>>().join(" ");
        if !short.is_empty() && counter.count(&short) < whole {
            let level = Level::new(Detail::Slice, text(&short))
                .with_coverage(Coverage::from_permille(coverage));
            chunk = chunk.with_level(level);
        }
    }
    chunk
}

/// Who said it, and on which day.
fn said_by(when: &str, stored: &StoredMessage) -> String {
    let message = &stored.message;
    let name = message.name.as_deref().unwrap_or(message.role.as_str());
    match stored.at {
        Some(at) => format!("{when}, {} on {}", name, at.wall_clock().date()),
        None => format!("{when}, {name}"),
    }
}
