//! The one policy that shortens a history: the oldest messages lose their detail first, and
//! messages that are not shown word for word are counted in the prompt.
//!
//! The newest messages stand as they were sent, without a gap. Of those before them the latest are
//! summarised, as far as the fit has room for that; the rest are a number in one line. That line is
//! critical, so that no history has a hole that the prompt does not mention.
//!
//! The beginning of the history moves rarely. Every message that leaves it changes the bytes of all
//! that follow and so loses the provider's cache; therefore many leave at once, until half of the
//! room is free again.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::assembly::Epoch;
use crate::assembly::form::countable::message_tokens;
use crate::chunk::{
    ChunkBand, ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level, Relevance, Trust,
};
use crate::message::Message;
use crate::problem::{Problem, ProblemKind};
use crate::role::Role;
use crate::summarize::{Speaker, Utterance, extract};
use crate::tokens::{TokenCounter, Tokens};

/// The source of the chunk that replaces the messages before the history.
pub(crate) const EARLIER: &str = "history/earlier";

/// The most messages before the history that are summarised. A caller has to read that many beyond
/// those that are shown.
pub const SUMMARISED: usize = 24;

/// The number of messages that are summarised together.
const STEP: usize = 8;

/// The most tokens of the summary of one step.
const STEP_TOKENS: Tokens = Tokens(120);

/// The tokens around a message: its heading and blank lines.
const AROUND: Tokens = Tokens(8);

/// The most that may stand word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryRoom {
    pub tokens: Tokens,
    pub messages: usize,
}

impl HistoryRoom {
    /// Returns half of it.
    pub(crate) const fn half(self) -> Self {
        self.part(2)
    }

    const fn part(self, of: u16) -> Self {
        Self {
            tokens: Tokens(self.tokens.0 / of as u32),
            messages: self.messages / of as usize,
        }
    }
}

/// A history that fits.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ShortHistory {
    /// The messages that stand word for word, oldest first.
    pub messages: Vec<Message>,
    /// The chunk that replaces those before them.
    pub earlier: Option<ContextChunk>,
    /// The note on how many were left out.
    pub problem: Option<Problem>,
}

/// Shortens a history to its room.
///
/// `unread` counts the messages before those of `history`. `previous` is the epoch of the latest
/// prompt: a history that continues that one's begins at the same message as long as there is room.
/// `said` returns the words of a message without the wrapper it was sent in.
#[must_use]
pub fn shorten(
    mut history: Vec<Message>,
    unread: usize,
    room: HistoryRoom,
    previous: Option<&Epoch>,
    said: &dyn Fn(&Message) -> String,
    counter: &dyn TokenCounter,
) -> ShortHistory {
    let start = start(&history, unread, room, previous, counter);
    let messages = history.split_off(start);
    let left_out = history.len().saturating_add(unread);
    if left_out == 0 {
        return ShortHistory {
            messages,
            earlier: None,
            problem: None,
        };
    }
    let all = left_out.saturating_add(messages.len());
    let tokens: Tokens = history.iter().map(|one| message_cost(one, counter)).sum();
    let hint = match room.messages {
        // A node's view decides how much it sees.
        0 => None,
        most if tokens <= room.tokens && all > most => {
            Some(format!("a prompt shows {most} messages at most"))
        }
        _ => Some(String::from("a larger budget shows more of them")),
    };
    let message = format!("{left_out} of {all} messages are not shown word for word");
    ShortHistory {
        messages,
        earlier: Some(earlier(&history, left_out, said, counter)),
        problem: Some(Problem {
            hint,
            ..Problem::new("history", ProblemKind::LeftOut, message)
        }),
    }
}

/// Returns the first message of `history` that stands word for word.
#[must_use]
pub fn start(
    history: &[Message],
    unread: usize,
    room: HistoryRoom,
    previous: Option<&Epoch>,
    counter: &dyn TokenCounter,
) -> usize {
    let fits = TailTokens::new(history, counter);
    // Half of the room is left to later turns, so that the beginning does not move with each of
    // them.
    let half = room.half();
    let continued = previous.and_then(|epoch| epoch.history_start(history));
    let continued = continued.filter(|&start| fits.within(start, room));
    // A history that was shortened for a smaller prompt grows again once it takes at most a quarter
    // of its room. It then fills half of the room, so that this happens rarely.
    if let Some(start) = continued.filter(|&start| !fits.within(start, room.part(4))) {
        return start;
    }
    if unread == 0 && fits.within(0, if continued.is_some() { half } else { room }) {
        return 0;
    }
    // A first prompt may use all the room; one in a series leaves some to the next.
    let room = match previous {
        Some(_) => half,
        None => room,
    };
    let first = fits.first(room);
    let first = continued.map_or(first, |start| first.min(start));
    next_beginning(history, first)
}

/// Returns the first message from which on a history fits.
pub(crate) fn first_that_fits(
    history: &[Message],
    room: HistoryRoom,
    counter: &dyn TokenCounter,
) -> usize {
    next_beginning(history, TailTokens::new(history, counter).first(room))
}

/// Returns the first message, from `first` on, that a history may begin with.
fn next_beginning(history: &[Message], first: usize) -> usize {
    let later = history.iter().skip(first).position(begins);
    later.map_or(history.len(), |later| first + later)
}

/// Tells whether a history may begin with a message: nothing may separate a result from its call,
/// and providers want no assistant's message first.
pub(crate) fn begins(message: &Message) -> bool {
    match message.role {
        Role::User => !message.answers_a_call(),
        Role::System => true,
        Role::Assistant | Role::Tool => false,
    }
}

/// The tokens of each message together with all that follow it, newest first.
struct TailTokens(Vec<Tokens>);

impl TailTokens {
    fn new(history: &[Message], counter: &dyn TokenCounter) -> Self {
        let sums = history.iter().rev().scan(Tokens::ZERO, |sum, message| {
            *sum = sum.saturating_add(message_cost(message, counter));
            Some(*sum)
        });
        Self(sums.collect())
    }

    /// Tells whether the messages from `start` on fit into `room`.
    fn within(&self, start: usize, room: HistoryRoom) -> bool {
        let count = self.0.len().saturating_sub(start);
        let tokens = self.0.get(..count).and_then(|sums| sums.last());
        count <= room.messages && tokens.is_none_or(|tokens| *tokens <= room.tokens)
    }

    fn first(&self, room: HistoryRoom) -> usize {
        let first = (0..self.0.len()).find(|&start| self.within(start, room));
        first.unwrap_or(self.0.len())
    }
}

/// Estimates the tokens that a message takes in a prompt: its blocks, its calls, its pictures and
/// files, and the text around it.
#[must_use]
pub fn message_cost(message: &Message, counter: &dyn TokenCounter) -> Tokens {
    message_tokens(message, counter).saturating_add(AROUND)
}

/// Builds the chunk that replaces messages: a summary of the latest of them, and a line that counts
/// all. Each level summarises fewer messages, the oldest left out first.
fn earlier(
    messages: &[Message],
    left_out: usize,
    said: &dyn Fn(&Message) -> String,
    counter: &dyn TokenCounter,
) -> ContextChunk {
    let line = match left_out {
        1 => String::from("1 earlier message of this conversation is not shown"),
        _ => format!("{left_out} earlier messages of this conversation are not shown"),
    };
    let steps: Vec<String> = messages
        // From the end, so that only the oldest step may be a short one.
        .rchunks(STEP)
        .take(SUMMARISED / STEP)
        .map(|step| summary(step, said, counter))
        // Stops at a step in which nobody spoke, so that the summaries have no gap.
        .take_while(|text| !text.is_empty())
        .collect();
    let mut chunk = ContextChunk::new(ChunkType::Turn, EARLIER, "")
        .with_priority(ContextPriority::Critical)
        .with_relevance(Relevance::from_ppm(300_000))
        .with_trust(Trust::User)
        .with_band(ChunkBand::History);
    chunk.levels.clear();
    for (count, coverage) in [(3, 600), (2, 450), (1, 300)] {
        if count > steps.len() {
            continue;
        }
        let mut text = format!("{line}; the latest of them in short:");
        for step in steps.iter().take(count).rev() {
            text.push('\n');
            text.push_str(step);
        }
        chunk = chunk.with_level(
            Level::new(Detail::Slice, text).with_coverage(Coverage::from_permille(coverage)),
        );
    }
    chunk.with_level(Level::new(Detail::Line, line))
}

fn summary(
    messages: &[Message],
    said: &dyn Fn(&Message) -> String,
    counter: &dyn TokenCounter,
) -> String {
    let utterance = |message: &Message| {
        let speaker = match message.role {
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
            // Instructions and results are not part of what two people said.
            Role::System | Role::Tool => return None,
        };
        // People read summaries, so internal messages stay out of them.
        message
            .is_for_user()
            .then(|| Utterance::new(speaker, said(message)))
    };
    let said: Vec<Utterance> = messages.iter().filter_map(utterance).collect();
    extract(&said, &[], STEP_TOKENS, counter)
}

#[cfg(test)]
mod tests;
