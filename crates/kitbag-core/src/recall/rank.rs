//! The second stage: final scores with their parts, and near-duplicates folded.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use jiff::Timestamp;

use super::attitude::agreement;
use super::candidates::{Candidate, Scale, rounded};
use super::days::nearness;
use super::fingerprint::Fingerprint;
use super::latest;
use super::message_traits::MessageTraits;
use super::query::Query;
use super::speakers::NamedSpeakers;
use super::strengths::to_float;
use super::weights::RecallWeights;
use crate::rank::Score;
use crate::role::Role;

/// Ranks candidates by all that is known, and returns the best `limit` of them, best first.
///
/// A candidate without facts does not exist in the store and is left out; so is a message that is
/// already in the prompt, with everything that says nearly the same.
#[must_use]
pub fn rank(
    query: &Query,
    candidates: Vec<Candidate>,
    facts: &[MessageFacts],
    weights: &RecallWeights,
    limit: usize,
) -> Vec<Hit> {
    let place = |facts: &MessageFacts| (facts.conversation, facts.message);
    let by_place: BTreeMap<(u32, u32), &MessageFacts> =
        facts.iter().map(|facts| (place(facts), facts)).collect();
    let known: Vec<(Candidate, &MessageFacts)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let facts = by_place.get(&candidate.place())?;
            Some((candidate, *facts))
        })
        .collect();
    let ranking = Ranking {
        query,
        weights,
        scale: Scale::of(known.iter().map(|(candidate, _)| candidate)),
        newest: known
            .iter()
            .map(|(_, facts)| facts.arrival)
            .max()
            .unwrap_or(0),
        named: NamedSpeakers::of(query, known.iter().map(|(_, facts)| *facts)),
    };
    let mut hits: Vec<(Hit, &MessageFacts)> = known
        .iter()
        .map(|(candidate, facts)| (ranking.hit(candidate, facts), *facts))
        .collect();
    hits.sort_by_key(|(hit, facts)| Reverse((hit.score.total(), facts.arrival, place(facts))));
    latest::put_first(&mut hits);
    fold_duplicates(hits, facts, limit)
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
    /// The name of who speaks.
    pub speaker: Option<String>,
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
    /// How like its passage that tells most is to the query in meaning, in thousandths, where a model
    /// compared them.
    pub likeness: Option<i32>,
    /// The relevance to the query of a fact that came from it, in thousandths.
    pub fact: u32,
    /// The later message, if one says that what this one says no longer holds: conversation and message.
    pub outdated_by: Option<(u32, u32)>,
    /// Whether it is in the prompt already.
    pub in_prompt: bool,
}

impl MessageFacts {
    /// A message by a person of which nothing else is known.
    #[must_use]
    pub fn new(conversation: u32, message: u32) -> Self {
        Self {
            conversation,
            message,
            role: Role::User,
            speaker: None,
            at: None,
            traits: MessageTraits::default(),
            previous: None,
            words: 0,
            arrival: 0,
            fingerprint: Fingerprint::default(),
            remembered: 0,
            likeness: None,
            fact: 0,
            outdated_by: None,
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
    /// The passage that tells most.
    pub passage: u16,
    /// Its parts are in thousandths of what the words of the best message tell.
    pub score: Score,
    /// Messages that say nearly the same and rank lower: conversation and message.
    pub duplicates: Vec<(u32, u32)>,
    /// The later message by which it no longer holds, if there is one.
    pub outdated_by: Option<(u32, u32)>,
}

/// One ranking: what all its scores have in common.
struct Ranking<'r> {
    query: &'r Query,
    weights: &'r RecallWeights,
    scale: Scale,
    newest: u64,
    named: NamedSpeakers<'r>,
}

/// As many words as a passage has: a message is long beyond them.
const PASSAGE: f64 = 40.0;
/// What is longer than so many doublings of that loses no more: it may still hold the answer.
const DOUBLINGS: f64 = 5.0;
/// A question with more words than this says something besides.
const SHORT: u32 = 20;

impl Ranking<'_> {
    fn hit(&self, candidate: &Candidate, facts: &MessageFacts) -> Hit {
        let weights = self.weights;
        let asks = |traits: MessageTraits| traits.has(MessageTraits::QUESTION);
        // Whatever an assistant says is an answer: only a person's answer tells something.
        let is_person = facts.role == Role::User;
        let answers = is_person && facts.previous.is_some_and(asks);
        let words = if answers {
            candidate.words_as_reply
        } else {
            candidate.words
        };
        let words = self.scale.words(words);
        let day = facts.at.map_or(0.0, |at| nearness(self.query.days(), at));
        let meaning = facts.likeness.map_or(0.0, f64::from) / 1000.0 * weights.meaning;
        let doublings = libm::log2(f64::from(facts.words) / PASSAGE).clamp(0.0, DOUBLINGS);
        // What the assistant said is what the query asks for.
        let loses = !is_person && !self.query.asks_assistant();
        let when = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
        let parts = [
            ("words", words),
            ("conversation", self.scale.conversation(candidate, weights)),
            ("day", day * weights.day),
            ("speaker", when(self.named.contains(facts), weights.named)),
            (
                "attitude",
                agreement(self.query.attitude(), facts.traits) * weights.attitude,
            ),
            (
                "role",
                when(loses, -weights.role * (words + meaning.max(0.0))),
            ),
            (
                "length",
                when(is_person || loses, doublings * weights.length),
            ),
            (
                "question",
                when(asks(facts.traits) && facts.words <= SHORT, weights.question),
            ),
            ("reply", when(answers && !asks(facts.traits), weights.reply)),
            ("recency", self.recency(facts) * weights.recency),
            ("remembered", when(facts.remembered > 0, weights.remembered)),
            ("meaning", meaning),
            ("fact", f64::from(facts.fact) / 1000.0 * weights.fact),
        ];
        let add = |score: Score, (name, value)| score.plus(name, rounded(value));
        Hit {
            conversation: candidate.conversation,
            message: candidate.message,
            passage: candidate.passage,
            score: parts.into_iter().fold(Score::default(), add),
            duplicates: Vec::new(),
            outdated_by: facts.outdated_by,
        }
    }

    /// How new a message is, from 0 to 1.
    fn recency(&self, facts: &MessageFacts) -> f64 {
        to_float(facts.arrival) / to_float(self.newest.max(1))
    }
}

/// Lists each message that says nearly the same as a better one there, and leaves out what the
/// prompt has and what ranks below the limit.
fn fold_duplicates(
    hits: Vec<(Hit, &MessageFacts)>,
    facts: &[MessageFacts],
    limit: usize,
) -> Vec<Hit> {
    let shown = facts.iter().filter(|facts| facts.in_prompt);
    let shown: Vec<Fingerprint> = shown.map(|facts| facts.fingerprint).collect();
    let mut kept: Vec<(Hit, Fingerprint)> = Vec::new();
    for (hit, facts) in hits {
        let fingerprint = facts.fingerprint;
        if facts.in_prompt || shown.iter().any(|shown| shown.is_like(fingerprint)) {
            continue;
        }
        // Two values of one fact differ in a word, and are not the same for that.
        let is_same = |kept: &Hit, like: Fingerprint| {
            like.is_like(fingerprint) && kept.outdated_by == hit.outdated_by
        };
        let has_room = kept.len() < limit;
        let same = kept.iter_mut().find(|(kept, like)| is_same(kept, *like));
        match same {
            Some((first, _)) => first.duplicates.push((hit.conversation, hit.message)),
            None if has_room => kept.push((hit, fingerprint)),
            None => {}
        }
    }
    kept.into_iter().map(|(hit, _)| hit).collect()
}
