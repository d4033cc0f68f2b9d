//! The first stage: the best messages by postings alone.
//!
//! Each word of the query counts once for a message: with the strength that it has there, or,
//! discounted, in a message nearby. So a message gets credit for its neighbours' words about the
//! same thing, and never twice for one word. Of a long message only one passage counts at a time:
//! as a whole it would touch any query.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::evidence::Evidence;
use super::query::Query;
use super::strengths::{Strength, Strengths};
use super::weights::RecallWeights;

/// Returns the best `limit` messages for a query, best first, neighbours of hits among them.
#[must_use]
pub fn candidates(
    query: &Query,
    evidence: &Evidence,
    weights: &RecallWeights,
    limit: usize,
) -> Vec<Candidate> {
    let mut strengths = Strengths::new(query, evidence, weights);
    let mut scoring = Scoring::new(query.words().len(), weights);
    let mut of_conversation = Vec::new();
    while let Some(conversation) = strengths.next_conversation(&mut of_conversation) {
        if evidence.admits(conversation) {
            scoring.score_conversation(conversation, &of_conversation);
        }
    }
    let mut found = scoring.found;
    let dated = evidence.dated.iter().copied();
    let dated: BTreeSet<(u32, u32)> = dated
        .filter(|(number, _)| evidence.admits(*number))
        .collect();
    if !dated.is_empty() {
        let known: BTreeSet<(u32, u32)> = found.iter().map(Candidate::place).collect();
        // The answer to "what did I do last Friday?" shares no word with it.
        let others = dated.difference(&known);
        found.extend(others.map(|&(conversation, message)| Candidate::new(conversation, message)));
    }
    let scale = Scale::of(found.iter());
    let sum = |candidate: &Candidate| {
        let is_dated = !dated.is_empty() && dated.contains(&candidate.place());
        let day = if is_dated { weights.day } else { 0.0 };
        // Whether it answers the message before is not known from postings: the better value
        // counts.
        let words = candidate.words.max(candidate.words_as_reply);
        rounded(scale.words(words) + scale.conversation(candidate, weights) + day)
    };
    best(found, sum, limit)
}

/// Returns the `limit` candidates with the greatest sums, best first.
fn best(found: Vec<Candidate>, sum: impl Fn(&Candidate) -> i64, limit: usize) -> Vec<Candidate> {
    // There may be a candidate for each message of the scope: only the sums of all are sorted.
    let mut sums: Vec<i64> = found.iter().map(&sum).collect();
    let least = match limit.checked_sub(1) {
        None => return Vec::new(),
        Some(last) if last < sums.len() => {
            *sums.select_nth_unstable_by_key(last, |&sum| Reverse(sum)).1
        }
        Some(_) => i64::MIN,
    };
    let keyed = found
        .into_iter()
        .map(|candidate| (sum(&candidate), candidate));
    let mut keyed: Vec<(i64, Candidate)> = keyed.filter(|(sum, _)| *sum >= least).collect();
    // Of equals the later message comes first.
    keyed.sort_unstable_by_key(|(sum, candidate)| Reverse((*sum, candidate.place())));
    keyed.truncate(limit);
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
    /// The passage with the strongest words.
    pub passage: u16,
    /// The strength of the words of the message and its neighbours, in millionths.
    pub words: i64,
    /// The same if the message answers the one before it.
    pub words_as_reply: i64,
    /// The strength of the words of the whole conversation, in millionths.
    pub conversation_words: i64,
}

impl Candidate {
    /// Creates a candidate without words.
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

/// The greatest strengths among candidates, to which the parts of a score are relative.
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

    /// Returns a strength of words in thousandths of the greatest.
    pub(super) fn words(&self, words: i64) -> f64 {
        1000.0 * to_float(words) / self.words
    }

    /// Returns the conversation's part of the score.
    pub(super) fn conversation(&self, candidate: &Candidate, weights: &RecallWeights) -> f64 {
        weights.conversation * to_float(candidate.conversation_words) / self.conversation
    }
}

/// A message that has words of the query.
struct MatchedMessage<'s> {
    message: u32,
    by_person: bool,
    /// The strengths in all its passages.
    all: &'s [Strength],
    /// The strengths in its strongest passage.
    best: &'s [Strength],
}

/// The number of messages, before and after, that a message's words reach.
const REACH: u32 = 3;

/// Scores conversations, one after the other.
struct Scoring<'w> {
    weights: &'w RecallWeights,
    plain: WordStrengths,
    reply: WordStrengths,
    found: Vec<Candidate>,
}

impl<'w> Scoring<'w> {
    fn new(words: usize, weights: &'w RecallWeights) -> Self {
        Self {
            weights,
            plain: WordStrengths::new(words),
            reply: WordStrengths::new(words),
            found: Vec::new(),
        }
    }

    /// Scores the messages of a conversation that have words of the query, and those near them.
    fn score_conversation(&mut self, conversation: u32, strengths: &[Strength]) {
        let spoken: Vec<MatchedMessage> = strengths
            .chunk_by(|a, b| a.message == b.message)
            .filter_map(MatchedMessage::of)
            .collect();
        self.plain.clear();
        // Of the whole conversation each word counts where it is strongest.
        self.plain.raise(strengths, 1.0);
        let conversation_words = self.plain.sum();
        let (mut from, mut next) = (0, 0);
        for at in &spoken {
            let (first, last) = (
                at.message.saturating_sub(REACH),
                at.message.saturating_add(REACH),
            );
            // `next` is behind the last message scored: one near several others is scored once.
            for message in first.max(next)..=last {
                let is_far =
                    |spoken: &MatchedMessage| spoken.message.saturating_add(REACH) < message;
                while spoken.get(from).is_some_and(is_far) {
                    from += 1;
                }
                let near = spoken.get(from..).unwrap_or_default();
                let mut candidate = Candidate::new(conversation, message);
                candidate.conversation_words = conversation_words;
                self.score(&mut candidate, near);
                self.found.push(candidate);
                next = message.saturating_add(1);
            }
        }
    }

    /// Scores one message by its own words and those of its neighbours, the first of `near`.
    fn score(&mut self, candidate: &mut Candidate, near: &[MatchedMessage]) {
        let weights = self.weights;
        self.plain.clear();
        let mut own: &[Strength] = &[];
        // The words of the message just before count differently when this one answers it.
        let mut just_before: Option<(&MatchedMessage, f64)> = None;
        let last = candidate.message.saturating_add(REACH);
        for other in near.iter().take_while(|other| other.message <= last) {
            let distance = other.message.abs_diff(candidate.message) as usize;
            let Some(step) = distance.checked_sub(1) else {
                own = other.all;
                continue;
            };
            // An assistant repeats the words of the question, so that it hands on less.
            let share = if other.by_person {
                1.0
            } else {
                weights.assistant_neighbour
            };
            let is_before = other.message < candidate.message;
            if is_before && step == 0 {
                just_before = Some((other, share));
                continue;
            }
            let side = if is_before {
                &weights.before
            } else {
                &weights.after
            };
            let weight = side.get(step).copied().unwrap_or(0.0);
            self.plain.raise(other.best, share * weight);
        }
        let Some((before, share)) = just_before else {
            (candidate.words, candidate.passage) = self.plain.with_best_passage(own);
            candidate.words_as_reply = candidate.words;
            return;
        };
        self.reply.copy_from(&self.plain);
        let [weight, ..] = weights.before;
        self.plain.raise(before.best, share * weight);
        self.reply.raise(before.best, share * weights.asked);
        (candidate.words, candidate.passage) = self.plain.with_best_passage(own);
        (candidate.words_as_reply, _) = self.reply.with_best_passage(own);
    }
}

impl<'s> MatchedMessage<'s> {
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
            message: first.message,
            by_person: first.by_person,
            all,
            best: best.1,
        })
    }
}

fn passages(strengths: &[Strength]) -> impl Iterator<Item = &[Strength]> {
    strengths.chunk_by(|a, b| a.passage == b.passage)
}

/// The strength of each word of the query, where it is strongest.
struct WordStrengths(Vec<f64>);

impl WordStrengths {
    fn new(words: usize) -> Self {
        Self(alloc::vec![0.0; words])
    }

    fn clear(&mut self) {
        self.0.fill(0.0);
    }

    fn copy_from(&mut self, other: &Self) {
        self.0.copy_from_slice(&other.0);
    }

    fn raise(&mut self, strengths: &[Strength], weight: f64) {
        for strength in strengths {
            if let Some(held) = self.0.get_mut(usize::from(strength.word)) {
                *held = held.max(weight * strength.value);
            }
        }
    }

    fn sum(&self) -> i64 {
        rounded(MILLION * self.0.iter().sum::<f64>())
    }

    /// Returns the strength of the words together with the best passage, and that passage.
    fn with_best_passage(&self, own: &[Strength]) -> (i64, u16) {
        let mut best: Option<(i64, u16)> = None;
        for passage in passages(own) {
            let sum = self.sum_with(passage);
            if best.is_none_or(|(most, _)| sum > most) {
                let number = passage.first().map_or(0, |strength| strength.passage);
                best = Some((sum, number));
            }
        }
        best.unwrap_or_else(|| (self.sum(), 0))
    }

    fn sum_with(&self, passage: &[Strength]) -> i64 {
        // Strengths of a passage are in the order of the words, each at most once.
        let mut own = passage.iter().peekable();
        let told = self.0.iter().enumerate().map(|(word, &told)| {
            let own = own.next_if(|strength| usize::from(strength.word) == word);
            own.map_or(told, |strength| told.max(strength.value))
        });
        rounded(MILLION * told.sum::<f64>())
    }
}

const MILLION: f64 = 1e6;

/// Returns the nearest whole number; halves are rounded away from zero. Faster than `libm::round`,
/// and called several times for each message of a scope.
#[expect(
    clippy::cast_possible_truncation,
    reason = "scores are far below 2^52, and the cast saturates"
)]
pub(super) fn rounded(value: f64) -> i64 {
    let whole = value as i64;
    let rest = value - to_float(whole);
    let step = i64::from(rest >= 0.5) - i64::from(rest <= -0.5);
    whole.saturating_add(step)
}

#[expect(clippy::cast_precision_loss, reason = "scores are far below 2^52")]
fn to_float(value: i64) -> f64 {
    value as f64
}
