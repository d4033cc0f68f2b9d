//! The first stage: the best messages by postings alone.
//!
//! Each word of the query counts once for a message: with the strength that it has there, or,
//! discounted, in a message nearby. So a message is credited with what its neighbours say about the
//! same thing, and never twice for one word. Of a long message only one passage counts at a time:
//! all that it says together would touch any query.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::evidence::Evidence;
use super::query::Query;
use super::strengths::{Strength, strengths};
use super::weights::RecallWeights;

/// The best `limit` messages for a query, best first, neighbours of hits among them.
#[must_use]
pub fn candidates(
    query: &Query,
    evidence: &Evidence,
    weights: &RecallWeights,
    limit: usize,
) -> Vec<Candidate> {
    let strengths = strengths(query, evidence, weights);
    let mut found = Vec::new();
    for conversation in strengths.chunk_by(|a, b| a.place.conversation == b.place.conversation) {
        let number = conversation
            .first()
            .map(|strength| strength.place.conversation);
        if number.is_some_and(|number| evidence.admits(number)) {
            score_conversation(conversation, query.words().len(), weights, &mut found);
        }
    }
    let dated = evidence.dated.iter().copied();
    let dated: BTreeSet<(u32, u32)> = dated
        .filter(|(number, _)| evidence.admits(*number))
        .collect();
    if !dated.is_empty() {
        let known: BTreeSet<(u32, u32)> = found.iter().map(Candidate::place).collect();
        let others = dated.difference(&known);
        found.extend(others.map(|&(conversation, message)| Candidate::new(conversation, message)));
    }
    let scale = Scale::of(found.iter());
    let mut keyed: Vec<_> = found
        .into_iter()
        .map(|candidate| {
            let day = if dated.contains(&candidate.place()) {
                weights.day
            } else {
                0.0
            };
            let words = candidate.words.max(candidate.words_as_reply);
            let sum = scale.words(words) + scale.conversation(&candidate, weights) + day;
            (Reverse((rounded(sum), candidate.place())), candidate)
        })
        .collect();
    if limit < keyed.len() {
        keyed.select_nth_unstable_by_key(limit, |(key, _)| *key);
        keyed.truncate(limit);
    }
    keyed.sort_unstable_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, candidate)| candidate).collect()
}

/// A message that may be what the query is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The conversation's number in the scope.
    pub conversation: u32,
    /// The message's number in the conversation.
    pub message: u32,
    /// The passage that tells most.
    pub passage: u16,
    /// What the words of the message and its neighbours tell, in millionths.
    pub words: i64,
    /// The same when the message answers the one before it.
    pub words_as_reply: i64,
    /// What the words of the whole conversation tell, in millionths.
    pub conversation_words: i64,
}

impl Candidate {
    /// A candidate of which no words are known.
    #[must_use]
    pub fn new(conversation: u32, message: u32) -> Self {
        Self {
            conversation,
            message,
            ..Self::default()
        }
    }

    pub(super) const fn place(&self) -> (u32, u32) {
        (self.conversation, self.message)
    }
}

/// What the parts of a score are relative to: the most that the words of a candidate tell.
pub(super) struct Scale {
    words: f64,
    conversation: f64,
}

impl Scale {
    pub(super) fn of<'c>(candidates: impl Iterator<Item = &'c Candidate> + Clone) -> Self {
        let words = candidates.clone().map(|candidate| candidate.words).max();
        let conversation = candidates
            .map(|candidate| candidate.conversation_words)
            .max();
        Self {
            words: to_float(words.unwrap_or(0).max(1)),
            conversation: to_float(conversation.unwrap_or(0).max(1)),
        }
    }

    /// Words in thousandths of the most.
    pub(super) fn words(&self, words: i64) -> f64 {
        1000.0 * to_float(words) / self.words
    }

    /// The part of the score for the conversation.
    pub(super) fn conversation(&self, candidate: &Candidate, weights: &RecallWeights) -> f64 {
        weights.conversation * to_float(candidate.conversation_words) / self.conversation
    }
}

/// A message that has words of the query.
struct Spoken<'s> {
    message: u32,
    by_person: bool,
    /// In all its passages.
    all: &'s [Strength],
    /// In the passage that has most of them.
    best: &'s [Strength],
}

/// How far neighbours reach.
const REACH: u32 = 3;

/// Scores the messages of a conversation that have words of the query, and those near them.
fn score_conversation(
    strengths: &[Strength],
    words: usize,
    weights: &RecallWeights,
    to: &mut Vec<Candidate>,
) {
    let Some(conversation) = strengths
        .first()
        .map(|strength| strength.place.conversation)
    else {
        return;
    };
    let spoken: Vec<Spoken> = strengths
        .chunk_by(|a, b| a.place.message == b.place.message)
        .filter_map(Spoken::of)
        .collect();
    let mut whole = Told::new(words);
    whole.raise(strengths, 1.0);
    let conversation_words = whole.sum();
    let mut told = (Told::new(words), Told::new(words));
    let (mut from, mut next) = (0, 0);
    for at in &spoken {
        for message in at.message.saturating_sub(REACH).max(next)..=at.message.saturating_add(REACH)
        {
            let is_far = |spoken: &Spoken| spoken.message.saturating_add(REACH) < message;
            while spoken.get(from).is_some_and(is_far) {
                from += 1;
            }
            let near = spoken.get(from..).unwrap_or_default();
            let near = near
                .iter()
                .take_while(|other| other.message <= message.saturating_add(REACH));
            let mut candidate = Candidate::new(conversation, message);
            candidate.conversation_words = conversation_words;
            score(&mut candidate, near, weights, &mut told);
            to.push(candidate);
            next = message.saturating_add(1);
        }
    }
}

/// Scores one message by itself and its neighbours.
fn score<'s>(
    candidate: &mut Candidate,
    near: impl Iterator<Item = &'s Spoken<'s>>,
    weights: &RecallWeights,
    (plain, reply): &mut (Told, Told),
) {
    plain.clear();
    reply.clear();
    let mut own: &[Strength] = &[];
    for other in near {
        let distance = other.message.abs_diff(candidate.message) as usize;
        let Some(step) = distance.checked_sub(1) else {
            own = other.all;
            continue;
        };
        let is_before = other.message < candidate.message;
        let side = if is_before {
            &weights.before
        } else {
            &weights.after
        };
        let share = if other.by_person {
            1.0
        } else {
            weights.assistant_neighbour
        };
        let weight = side.get(step).copied().unwrap_or(0.0);
        let asked = if is_before && step == 0 {
            weights.asked
        } else {
            weight
        };
        plain.raise(other.best, share * weight);
        reply.raise(other.best, share * asked);
    }
    (candidate.words, candidate.passage) = plain.with_best_passage(own);
    (candidate.words_as_reply, _) = reply.with_best_passage(own);
}

impl<'s> Spoken<'s> {
    fn of(all: &'s [Strength]) -> Option<Self> {
        let mut best: (i64, &[Strength]) = (i64::MIN, &[]);
        for passage in passages(all) {
            let sum = rounded(MILLION * passage.iter().map(|strength| strength.value).sum::<f64>());
            if sum > best.0 {
                best = (sum, passage);
            }
        }
        let first = all.first()?;
        Some(Self {
            message: first.place.message,
            by_person: first.by_person,
            all,
            best: best.1,
        })
    }
}

fn passages(strengths: &[Strength]) -> impl Iterator<Item = &[Strength]> {
    strengths.chunk_by(|a, b| a.place.passage == b.place.passage)
}

/// How much each word of the query tells, wherever it tells most.
struct Told(Vec<f64>);

impl Told {
    fn new(words: usize) -> Self {
        Self(alloc::vec![0.0; words])
    }

    fn clear(&mut self) {
        self.0.fill(0.0);
    }

    fn raise(&mut self, strengths: &[Strength], weight: f64) {
        for strength in strengths {
            if let Some(held) = self.0.get_mut(strength.word) {
                *held = held.max(weight * strength.value);
            }
        }
    }

    fn sum(&self) -> i64 {
        rounded(MILLION * self.0.iter().sum::<f64>())
    }

    /// What the words tell together with one passage, and the passage with which they tell most.
    fn with_best_passage(&self, own: &[Strength]) -> (i64, u16) {
        let mut best: Option<(i64, u16)> = None;
        for passage in passages(own) {
            let sum = self.sum_with(passage);
            if best.is_none_or(|(most, _)| sum > most) {
                let number = passage.first().map_or(0, |strength| strength.place.passage);
                best = Some((sum, number));
            }
        }
        best.unwrap_or_else(|| (self.sum(), 0))
    }

    fn sum_with(&self, passage: &[Strength]) -> i64 {
        let mut own = passage.iter().peekable();
        let told = self.0.iter().enumerate().map(|(word, &told)| {
            let own = own.next_if(|strength| strength.word == word);
            own.map_or(told, |strength| told.max(strength.value))
        });
        rounded(MILLION * told.sum::<f64>())
    }
}

const MILLION: f64 = 1e6;

#[expect(
    clippy::cast_possible_truncation,
    reason = "scores are far below 2^63, and the cast saturates"
)]
pub(super) fn rounded(value: f64) -> i64 {
    libm::round(value) as i64
}

#[expect(clippy::cast_precision_loss, reason = "scores are far below 2^52")]
fn to_float(value: i64) -> f64 {
    value as f64
}
