//! Facts, summaries and recalled messages as chunks. Reading them is the store's.

use kitbag_core::assembly::{Epoch, Kept};
use kitbag_core::chunk::{
    ChunkBand, ChunkId, ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level,
    Relevance, Trust,
};
use kitbag_core::rank::RankedChunk;
use kitbag_core::statement::FactQuestion;
use kitbag_core::summarize::{Utterance, extract};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_store::{Fact, Later, Recalled, Recollections, StoredMessage, Summary};

use crate::engine::Contribution;

/// Facts, summaries and recalled messages as chunks.
pub(super) fn recollections(
    known: &Recollections,
    epoch: Option<&Epoch>,
    counter: &dyn TokenCounter,
) -> Contribution {
    let mut contribution = Contribution {
        problems: known.problems.clone(),
        ..Contribution::default()
    };
    for one in &known.facts {
        contribution.add(fact(one, &known.asked));
    }
    let count = known.summaries.len();
    for (index, summary) in known.summaries.iter().enumerate() {
        // The oldest comes first, so that the age of the latest is 1.
        contribution.add(summarised(summary, count - index, counter));
    }
    let best = known
        .recalled
        .first()
        .map_or(1, |hit| hit.score.total().max(1));
    for hit in &known.recalled {
        contribution.add(remembered(hit, best));
    }
    contribution.draft.retracted = retracted(epoch, contribution.chunks());
    contribution
}

/// The beginning of the source of each fact that is remembered.
const FACT: &str = "fact/";

/// Facts that stand in the prompt since the epoch began and no longer hold: they were unset or
/// forgotten. Chunks that are only not relevant any more stay, for the cache's sake, and so do facts
/// of other sources, about which memory knows nothing.
fn retracted(epoch: Option<&Epoch>, chunks: &[RankedChunk]) -> Vec<ChunkId> {
    let is_known = |id: &ChunkId| chunks.iter().any(|ranked| ranked.chunk.id == *id);
    let kept = epoch.into_iter().flat_map(|epoch| &epoch.kept);
    let is_remembered =
        |kept: &Kept| kept.chunk_type == ChunkType::Fact && kept.source.starts_with(FACT);
    kept.filter(|kept| is_remembered(kept) && !is_known(&kept.id))
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
        .with_trust(Trust::Remembered)
}

fn fact(fact: &Fact, asked: &FactQuestion) -> ContextChunk {
    let speaker = fact.speaker.as_deref();
    let (about, key) = match speaker {
        Some(name) => (name, fact.key.strip_prefix(name).unwrap_or(&fact.key)),
        None => ("the user", fact.key.as_str()),
    };
    let mut text = format!(
        "About {about}, {}: {}",
        key.trim_start_matches('/'),
        fact.value
    );
    if fact.drawn {
        let day = fact.since.to_string();
        let day = day.split('T').next().unwrap_or_default();
        text.push_str(&format!(" (said on {day})"));
    }
    let source = format!("{FACT}{}", fact.key);
    // A fact that was stated as one is meant to be known in every conversation; one that was drawn from
    // talk counts mostly when the message asks for it.
    let unasked = if fact.drawn { 300_000 } else { 600_000 };
    let ppm = match asked.relevance(&fact.key, &fact.value, speaker) {
        1000.. => 900_000,
        1.. => 750_000,
        0 => unasked,
    };
    let priority = ContextPriority::High;
    chunk(ChunkType::Fact, source, text, priority, ppm).with_band(ChunkBand::Session)
}

fn summarised(summary: &Summary, age: usize, counter: &dyn TokenCounter) -> ContextChunk {
    let day = summary.made.to_string();
    let day = day.split('T').next().unwrap_or_default();
    let text = |summary: &str| format!("Earlier conversation, summarised {day}: {summary}");
    let ppm = 600_000 / u32::try_from(age).unwrap_or(u32::MAX).max(1);
    let whole = text(&summary.text);
    let priority = ContextPriority::Medium;
    let whole = chunk(ChunkType::Summary, summary.source(), whole, priority, ppm);
    shorter(
        whole.with_band(ChunkBand::Session),
        &summary.text,
        counter,
        text,
    )
}

/// A message of an earlier conversation, or of this one before its history: the passage that says
/// most.
fn remembered(hit: &Recalled, best: i64) -> RankedChunk {
    let share = hit.score.total().max(0).saturating_mul(800_000) / best;
    let outdated = hit.outdated_by.as_ref().map(outdated).unwrap_or_default();
    let text = format!("{}{outdated}: {}", said_by(&hit.message), hit.text().trim());
    let chunk = chunk(
        ChunkType::Turn,
        format!("message/{}", hit.message.id),
        text,
        ContextPriority::Medium,
        u32::try_from(share).unwrap_or(0),
    )
    .with_band(ChunkBand::Appended)
    .with_visibility(hit.message.message.visibility);
    let mut ranked = RankedChunk::from(chunk);
    for part in hit.score.parts() {
        // The parts of the score stay visible, so that `explain` can say why a message is in.
        ranked.score = std::mem::take(&mut ranked.score).plus(part.name.clone(), part.value);
    }
    ranked
}

/// Adds levels with the most telling sentences alone, a third and a tenth as long.
fn shorter(
    mut chunk: ContextChunk,
    summary: &str,
    counter: &dyn TokenCounter,
    text: impl Fn(&str) -> String,
) -> ContextChunk {
    let whole = counter.count(chunk.content());
    for (share, coverage) in [(3, 600), (10, 300)] {
        let limit = Tokens(whole.0 / share);
        // Less than a sentence, which would say little.
        if limit < Tokens(24) {
            continue;
        }
        let short = extract(&Utterance::of_summary(summary), &[], limit, counter);
        if !short.is_empty() && counter.count(&short) < whole {
            let level = Level::new(Detail::Slice, text(&short));
            chunk = chunk.with_level(level.with_coverage(Coverage::from_permille(coverage)));
        }
    }
    chunk
}

/// A note that something no longer holds.
fn outdated(later: &Later) -> String {
    match later.at {
        Some(at) => format!(" (outdated, see {})", at.wall_clock().date()),
        None => " (outdated)".to_owned(),
    }
}

/// The speaker and the day.
fn said_by(stored: &StoredMessage) -> String {
    let role = stored.message.role.as_str();
    let name = stored.message.name.as_deref().unwrap_or(role);
    match stored.at {
        Some(at) => format!("Earlier, {name} on {}", at.wall_clock().date()),
        None => format!("Earlier, {name}"),
    }
}
