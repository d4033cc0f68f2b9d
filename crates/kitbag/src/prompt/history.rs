//! What was said long ago gives way: it becomes chunks, of which the fit may show a summary.

use kitbag_core::chunk::{
    ChunkType, ContextChunk, ContextPriority, Detail, Level, Relevance, Trust,
};
use kitbag_core::message::Message;
use kitbag_core::summarize::{Speaker, Utterance, extract};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_layout::PastMessage;
use kitbag_layout::reserved::neutralise;

/// So many messages give way at once, so that the beginning of the history moves rarely and a
/// provider's cache survives most turns.
const STEP: usize = 8;

/// The most tokens of a summary of so many messages.
const SUMMARY: Tokens = Tokens(120);

/// All that gave way is as likely needed, so that it stands in the order in which it was said, and
/// what gives way later stands behind it.
const RELEVANCE: Relevance = Relevance::from_ppm(200_000);

/// Takes the oldest messages out of a history that fills more than half of the budget. `said` are
/// the same messages as they were said, without the wrappers they were sent in.
pub(super) fn demote(
    history: &mut Vec<Message>,
    said: &[PastMessage],
    budget: Tokens,
    counter: &dyn TokenCounter,
) -> Vec<ContextChunk> {
    let first = first_kept(history, Tokens(budget.0 / 2), counter);
    history.drain(..first);
    said.iter()
        .take(first)
        .collect::<Vec<_>>()
        .chunks(STEP)
        .zip(0..)
        .map(|(messages, number)| chunk(messages, number, counter))
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

/// Messages of long ago: whole, or their most telling sentences.
fn chunk(messages: &[&PastMessage], number: usize, counter: &dyn TokenCounter) -> ContextChunk {
    let mut whole = String::new();
    let mut said = Vec::new();
    for message in messages {
        let (who, speaker) = match message.is_assistant {
            true => ("Assistant", Speaker::Assistant),
            false => ("User", Speaker::User),
        };
        let text = neutralise(&message.text);
        whole.push_str(&format!("{who}: {text}\n"));
        said.push(Utterance::new(speaker, text));
    }
    let summary = extract(&said, &[], SUMMARY, counter);
    let is_shorter = !summary.is_empty() && summary.len() < whole.len();
    // The number is padded, since chunks that are as likely needed stand in the order of their ids.
    let chunk = ContextChunk::new(ChunkType::Turn, format!("turns/{number:06}"), whole)
        .with_priority(ContextPriority::Medium)
        .with_relevance(RELEVANCE)
        .with_trust(Trust::Untrusted);
    match is_shorter {
        true => chunk.with_level(Level::new(Detail::Line, summary)),
        false => chunk,
    }
}
