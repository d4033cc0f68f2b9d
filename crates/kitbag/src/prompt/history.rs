//! What was said long ago gives way: it becomes chunks, of which the fit may show a summary.

use kitbag_core::chunk::{
    ChunkType, ContextChunk, ContextPriority, Detail, Level, Relevance, Trust,
};
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use kitbag_core::summarize::{Speaker, Utterance, extract};
use kitbag_core::tokens::{TokenCounter, Tokens};

/// The history begins at a multiple of this, so that its beginning moves rarely and a provider's
/// cache survives most turns.
const STEP: usize = 8;

/// The most tokens of a summary of a message.
const SUMMARY: Tokens = Tokens(40);

/// Takes the oldest messages out of a history that fills more than half of the budget.
pub(super) fn demote(
    history: &mut Vec<Message>,
    budget: Tokens,
    counter: &dyn TokenCounter,
) -> Vec<ContextChunk> {
    let first = first_kept(history, Tokens(budget.0 / 2), counter);
    history
        .drain(..first)
        .enumerate()
        .map(|(index, message)| chunk(&message, index, first, counter))
        .collect()
}

/// The first message of those that fit.
fn first_kept(history: &[Message], room: Tokens, counter: &dyn TokenCounter) -> usize {
    let mut used = Tokens(0);
    let too_early = history.iter().rposition(|message| {
        used = Tokens(
            used.0
                .saturating_add(counter.count(&message.content.text()).0),
        );
        used > room
    });
    too_early.map_or(0, |index| {
        (index + 1).next_multiple_of(STEP).min(history.len())
    })
}

/// A message of long ago: whole, or its most telling sentence. The later it was said, the likelier
/// it is needed.
fn chunk(
    message: &Message,
    index: usize,
    count: usize,
    counter: &dyn TokenCounter,
) -> ContextChunk {
    let (who, speaker) = match message.role {
        Role::Assistant => ("Assistant", Speaker::Assistant),
        Role::User | Role::System | Role::Tool => ("User", Speaker::User),
    };
    let text = message.content.text();
    let summary = extract(
        &[Utterance::new(speaker, text.as_ref())],
        &[],
        SUMMARY,
        counter,
    );
    let share = u32::try_from(index * 400_000 / count.max(1)).unwrap_or(0);
    let whole = format!("{who}: {text}");
    let is_shorter = !summary.is_empty() && summary.len() < whole.len();
    let chunk = ContextChunk::new(ChunkType::Turn, format!("turn/{index}"), whole)
        .with_priority(ContextPriority::Medium)
        .with_relevance(Relevance::from_ppm(100_000 + share))
        .with_trust(Trust::Untrusted);
    match is_shorter {
        true => chunk.with_level(Level::new(Detail::Line, summary)),
        false => chunk,
    }
}
