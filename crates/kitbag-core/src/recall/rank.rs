//! The second stage: final scores with their parts, and near-duplicates folded.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::candidates::{Candidate, rounded, to_float};
use super::days::nearness;
use super::fingerprint::Fingerprint;
use super::message_traits::MessageTraits;
use super::query::Query;
use super::weights::RecallWeights;
use crate::role::Role;

/// Ranks candidates by all that is known, best first.
///
/// A candidate without facts does not exist in the store and is left out; so is a message that is
/// already in the prompt, with everything that says nearly the same.
#[must_use]
pub fn rank(
    query: &Query,
    candidates: Vec<Candidate>,
    facts: &[MessageFacts],
    weights: &RecallWeights,
) -> Vec<Hit> {
    let by_place: BTreeMap<(u32, u32), &MessageFacts> = facts
        .iter()
        .map(|facts| ((facts.conversation, facts.message), facts))
        .collect();
    let known: Vec<(Candidate, &MessageFacts)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let facts = by_place.get(&(candidate.conversation, candidate.message))?;
            Some((candidate, *facts))
        })
        .collect();
    let scale = Scale::of(&known);
    let mut hits: Vec<(Hit, &MessageFacts)> = known
        .iter()
        .map(|(candidate, facts)| (score(query, candidate, facts, &scale, weights), *facts))
        .collect();
    hits.sort_by_key(|(hit, facts)| {
        core::cmp::Reverse((hit.score, facts.arrival, hit.conversation, hit.message))
    });
    fold_duplicates(hits)
}

/// What a store knows of a message besides its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageFacts {
    /// The conversation's number in the scope.
    pub conversation: u32,
    /// The message's number in the conversation.
    pub message: u32,
    /// Who speaks.
    pub role: Role,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// What [`analyse`](super::analyse()) found besides the words.
    pub traits: MessageTraits,
    /// The traits of the message before it in the conversation.
    pub previous: Option<MessageTraits>,
    /// Its length in words, all passages together.
    pub words: u32,
    /// Its number in the order in which the scope's messages arrived.
    pub arrival: u64,
    /// By which near-duplicates are recognised.
    pub fingerprint: Fingerprint,
    /// How many facts and entities are remembered from it that have to do with the query.
    pub remembered: u32,
    /// Whether it is in the prompt already.
    pub in_prompt: bool,
}

impl MessageFacts {
    /// A message by a user of which nothing else is known.
    #[must_use]
    pub fn new(conversation: u32, message: u32) -> Self {
        Self {
            conversation,
            message,
            role: Role::User,
            at: None,
            traits: MessageTraits::default(),
            previous: None,
            words: 0,
            arrival: 0,
            fingerprint: Fingerprint::default(),
            remembered: 0,
            in_prompt: false,
        }
    }
}

/// A past message that the query is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The conversation's number in the scope.
    pub conversation: u32,
    /// The message's number in the conversation.
    pub message: u32,
    /// The passage that says most.
    pub passage: u16,
    /// The sum of the parts.
    pub score: i64,
    /// What the score is made of; parts that are zero are left out.
    pub parts: Vec<ScorePart>,
    /// Messages that say nearly the same and rank lower: conversation and message.
    pub duplicates: Vec<(u32, u32)>,
}

/// One part of a score, in thousandths of the best message's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScorePart {
    /// What it is for.
    pub name: &'static str,
    /// How much.
    pub value: i64,
}

/// What scores are relative to.
struct Scale {
    words: f64,
    conversation: f64,
    newest: u64,
}

impl Scale {
    fn of(known: &[(Candidate, &MessageFacts)]) -> Self {
        let most = |value: fn(&Candidate) -> i64| {
            to_float(
                known
                    .iter()
                    .map(|(candidate, _)| value(candidate))
                    .max()
                    .unwrap_or(0)
                    .max(1),
            )
        };
        Self {
            words: most(|candidate| candidate.words),
            conversation: most(|candidate| candidate.conversation_words),
            newest: known
                .iter()
                .map(|(_, facts)| facts.arrival)
                .max()
                .unwrap_or(0),
        }
    }
}

fn score(
    query: &Query,
    candidate: &Candidate,
    facts: &MessageFacts,
    scale: &Scale,
    weights: &RecallWeights,
) -> Hit {
    let is_question = facts.traits.has(MessageTraits::QUESTION);
    let answers = facts
        .previous
        .is_some_and(|previous| previous.has(MessageTraits::QUESTION));
    let words = if answers {
        candidate.words_as_reply
    } else {
        candidate.words
    };
    let words = 1000.0 * to_float(words) / scale.words;
    let is_user = facts.role == Role::User;
    let day = facts.at.map_or(0.0, |at| nearness(query.days(), at));
    let beyond = libm::log2(f64::from(facts.words.max(1)) / f64::from(PASSAGE)).max(0.0);
    let age =
        to_float(i64::try_from(scale.newest - facts.arrival.min(scale.newest)).unwrap_or(i64::MAX));
    let newest = to_float(i64::try_from(scale.newest).unwrap_or(i64::MAX).max(1));
    let parts = [
        ("words", words),
        ("role", if is_user { 0.0 } else { -weights.role * words }),
        ("length", weights.length * beyond),
        (
            "conversation",
            weights.conversation * to_float(candidate.conversation_words) / scale.conversation,
        ),
        ("day", weights.day * day),
        ("question", if is_question { weights.question } else { 0.0 }),
        (
            "reply",
            if answers && !is_question {
                weights.reply
            } else {
                0.0
            },
        ),
        (
            "first person",
            if facts.traits.has(MessageTraits::FIRST_PERSON) {
                weights.first_person
            } else {
                0.0
            },
        ),
        (
            "number",
            if facts.traits.has(MessageTraits::NUMBER) {
                weights.number
            } else {
                0.0
            },
        ),
        ("recency", weights.recency * (1.0 - age / newest)),
        (
            "remembered",
            if facts.remembered > 0 {
                weights.remembered
            } else {
                0.0
            },
        ),
    ];
    let parts: Vec<ScorePart> = parts
        .into_iter()
        .map(|(name, value)| ScorePart {
            name,
            value: rounded(value),
        })
        .filter(|part| part.value != 0)
        .collect();
    Hit {
        conversation: candidate.conversation,
        message: candidate.message,
        passage: candidate.passage,
        score: parts.iter().map(|part| part.value).sum(),
        parts,
        duplicates: Vec::new(),
    }
}

/// As many words as a passage has.
const PASSAGE: u32 = 40;

fn fold_duplicates(hits: Vec<(Hit, &MessageFacts)>) -> Vec<Hit> {
    let shown: Vec<Fingerprint> = hits
        .iter()
        .filter(|(_, facts)| facts.in_prompt)
        .map(|(_, facts)| facts.fingerprint)
        .collect();
    let mut kept: Vec<(Hit, Fingerprint)> = Vec::new();
    for (hit, facts) in hits {
        let fingerprint = facts.fingerprint;
        if facts.in_prompt || shown.iter().any(|shown| shown.is_like(fingerprint)) {
            continue;
        }
        match kept.iter_mut().find(|(_, kept)| kept.is_like(fingerprint)) {
            Some((first, _)) => first.duplicates.push((hit.conversation, hit.message)),
            None => kept.push((hit, fingerprint)),
        }
    }
    kept.into_iter().map(|(hit, _)| hit).collect()
}
