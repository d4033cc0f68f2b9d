//! The first stage: the best messages by postings alone.
//!
//! Each word of the query counts once per message: with the strength that it has in the best passage,
//! or, discounted, in a message nearby. So a message is credited with what its neighbours say about
//! the same thing, and never twice for one word.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::evidence::{Evidence, Place};
use super::query::{Query, QueryWord};
use super::weights::RecallWeights;
use crate::text::{Bm25, inverse_frequency};

/// The best `limit` messages for a query, best first, neighbours of hits among them.
#[must_use]
pub fn candidates(
    query: &Query,
    evidence: &Evidence,
    weights: &RecallWeights,
    limit: usize,
) -> Vec<Candidate> {
    let found = Found::new(query, evidence, weights);
    let mut candidates = Vec::new();
    let dated: BTreeSet<(u32, u32)> = evidence.dated.iter().copied().collect();
    let mut rest = found.messages.as_slice();
    while let Some(first) = rest.first() {
        let end = rest
            .iter()
            .take_while(|message| message.conversation == first.conversation)
            .count();
        let (conversation, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        found.score_conversation(conversation, weights, &mut candidates);
        rest = after;
    }
    let best = candidates
        .iter()
        .map(|candidate| candidate.words)
        .max()
        .unwrap_or(0);
    let known: BTreeSet<(u32, u32)> = candidates
        .iter()
        .map(|candidate| (candidate.conversation, candidate.message))
        .collect();
    for &(conversation, message) in dated.difference(&known) {
        candidates.push(Candidate::new(conversation, message));
    }
    let day = rounded(weights.day / 1000.0 * to_float(best));
    candidates.sort_by_cached_key(|candidate| {
        let place = (candidate.conversation, candidate.message);
        let bonus = if dated.contains(&place) { day } else { 0 };
        core::cmp::Reverse((candidate.words.max(candidate.words_as_reply) + bonus, place))
    });
    candidates.truncate(limit);
    candidates
}

/// A message that may be what the query is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The conversation's number in the scope.
    pub conversation: u32,
    /// The message's number in the conversation.
    pub message: u32,
    /// The passage that says most.
    pub passage: u16,
    /// What the words of the message and its neighbours tell, in millionths.
    pub words: i64,
    /// The same when the message before asks a question.
    pub words_as_reply: i64,
    /// What the words of the whole conversation tell, in millionths.
    pub conversation_words: i64,
}

impl Candidate {
    /// A candidate without evidence from words.
    #[must_use]
    pub fn new(conversation: u32, message: u32) -> Self {
        Self {
            conversation,
            message,
            passage: 0,
            words: 0,
            words_as_reply: 0,
            conversation_words: 0,
        }
    }
}

/// One word of the query in one passage.
#[derive(Clone, Copy)]
struct Strength {
    place: Place,
    word: usize,
    value: f64,
}

/// One message that has words of the query.
struct FoundMessage {
    conversation: u32,
    message: u32,
    /// Its strengths by passage and word.
    strengths: Vec<Strength>,
    /// The greatest strength of each word.
    best: Vec<f64>,
}

struct Found {
    words: usize,
    messages: Vec<FoundMessage>,
}

impl Found {
    fn new(query: &Query, evidence: &Evidence, weights: &RecallWeights) -> Self {
        let mut strengths = Vec::new();
        for (at, word) in query.words().iter().enumerate() {
            add_strengths(at, word, evidence, weights, &mut strengths);
        }
        strengths.sort_by(|a, b| {
            (a.place, a.word)
                .cmp(&(b.place, b.word))
                .then(b.value.total_cmp(&a.value))
        });
        strengths.dedup_by_key(|strength| (strength.place, strength.word));
        let words = query.words().len();
        let mut messages: Vec<FoundMessage> = Vec::new();
        for strength in strengths {
            let Place {
                conversation,
                message,
                ..
            } = strength.place;
            let is_same = |last: &&mut FoundMessage| {
                (last.conversation, last.message) == (conversation, message)
            };
            let strengths = Vec::from([strength]);
            match messages.last_mut().filter(is_same) {
                Some(last) => last.strengths.push(strength),
                None => {
                    let best = Vec::new();
                    messages.push(FoundMessage {
                        conversation,
                        message,
                        strengths,
                        best,
                    });
                }
            }
        }
        for message in &mut messages {
            message.best = alloc::vec![0.0; words];
            for strength in &message.strengths {
                raise(&mut message.best, strength.word, strength.value);
            }
        }
        Self { words, messages }
    }

    /// Scores the messages of a conversation and those near them.
    fn score_conversation(
        &self,
        messages: &[FoundMessage],
        weights: &RecallWeights,
        to: &mut Vec<Candidate>,
    ) {
        let mut whole = alloc::vec![0.0; self.words];
        let mut near: Vec<u32> = Vec::new();
        for found in messages {
            for (word, &value) in found.best.iter().enumerate() {
                raise(&mut whole, word, value);
            }
            let first = found.message.saturating_sub(REACH);
            near.extend(first..=found.message.saturating_add(REACH));
        }
        near.sort_unstable();
        near.dedup();
        let conversation_words = rounded(1e6 * whole.iter().sum::<f64>());
        let mut from = 0;
        for message in near {
            while messages
                .get(from)
                .is_some_and(|found| found.message + REACH < message)
            {
                from += 1;
            }
            let around = messages.get(from..).unwrap_or_default();
            let around = around
                .iter()
                .take_while(|found| found.message <= message.saturating_add(REACH));
            let Some(mut candidate) = self.score(message, around, weights) else {
                continue;
            };
            candidate.conversation_words = conversation_words;
            to.push(candidate);
        }
    }

    fn score<'f>(
        &self,
        message: u32,
        around: impl Iterator<Item = &'f FoundMessage>,
        weights: &RecallWeights,
    ) -> Option<Candidate> {
        let mut plain = alloc::vec![0.0; self.words];
        let mut reply = plain.clone();
        let mut own: &[Strength] = &[];
        let mut conversation = None;
        for found in around {
            conversation = Some(found.conversation);
            let distance = found.message.abs_diff(message) as usize;
            let Some(step) = distance.checked_sub(1) else {
                own = &found.strengths;
                for (word, &value) in found.best.iter().enumerate() {
                    raise(&mut plain, word, weights.inside * value);
                    raise(&mut reply, word, weights.inside * value);
                }
                continue;
            };
            let side = if found.message < message {
                &weights.before
            } else {
                &weights.after
            };
            let weight = side.get(step).copied().unwrap_or(0.0);
            let asked = if found.message < message && step == 0 {
                weights.asked
            } else {
                weight
            };
            for (word, &value) in found.best.iter().enumerate() {
                raise(&mut plain, word, weight * value);
                raise(&mut reply, word, asked * value);
            }
        }
        let mut candidate = Candidate::new(conversation?, message);
        (candidate.words, candidate.passage) = best_passage(own, &plain);
        candidate.words_as_reply = best_passage(own, &reply).0;
        Some(candidate)
    }
}

/// How far neighbours reach.
const REACH: u32 = 3;

/// The passage that tells most when the words around it are known, and what it tells.
fn best_passage(own: &[Strength], around: &[f64]) -> (i64, u16) {
    let mut best = (rounded(1e6 * around.iter().sum::<f64>()), 0);
    let mut is_first = true;
    for passage in own.chunk_by(|a, b| a.place.passage == b.place.passage) {
        let mut words = Vec::from(around);
        for strength in passage {
            raise(&mut words, strength.word, strength.value);
        }
        let sum = rounded(1e6 * words.iter().sum::<f64>());
        if is_first || sum > best.0 {
            best = (
                sum,
                passage.first().map_or(0, |strength| strength.place.passage),
            );
        }
        is_first = false;
    }
    best
}

/// Adds how strongly a word of the query stands in each passage, its rarity included.
fn add_strengths(
    at: usize,
    word: &QueryWord,
    evidence: &Evidence,
    weights: &RecallWeights,
    to: &mut Vec<Strength>,
) {
    let passages = usize::try_from(evidence.passages).unwrap_or(usize::MAX);
    let mut field =
        Bm25::new(to_float_u64(evidence.words) / to_float_u64(evidence.passages.max(1)));
    field.saturation = weights.saturation;
    field.length_weight = weights.length_weight;
    let lists = word
        .alternatives
        .iter()
        .filter_map(|term| evidence.postings.get(term));
    let holding = lists.clone().map(Vec::len).sum();
    let rarity = inverse_frequency(passages, holding);
    for posting in lists.flatten() {
        let gain = field.gain(f64::from(posting.count), f64::from(posting.words));
        to.push(Strength {
            place: posting.place,
            word: at,
            value: rarity * gain,
        });
    }
}

fn raise(values: &mut [f64], at: usize, value: f64) {
    if let Some(held) = values.get_mut(at)
        && *held < value
    {
        *held = value;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "scores are far below 2^63, and the cast saturates"
)]
pub(super) fn rounded(value: f64) -> i64 {
    libm::round(value) as i64
}

#[expect(clippy::cast_precision_loss, reason = "scores are far below 2^52")]
pub(super) fn to_float(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn to_float_u64(value: u64) -> f64 {
    value as f64
}
