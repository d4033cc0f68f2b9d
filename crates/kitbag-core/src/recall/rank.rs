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

/// Ranks candidates by all that is known of them, and returns the best `limit`, best first.
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

/// The facts that a store has about a message, besides its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageFacts {
    /// The conversation's number in the scope.
    pub conversation: u32,
    /// The message's number in the conversation.
    pub message: u32,
    /// The speaker's role.
    pub role: Role,
    /// The speaker's name.
    pub speaker: Option<String>,
    /// The time at which it was said.
    pub at: Option<Timestamp>,
    /// The traits that [`analyse`](super::analyse()) found.
    pub traits: MessageTraits,
    /// The traits of the message before it in the conversation.
    pub previous: Option<MessageTraits>,
    /// Its length in words, all passages together.
    pub words: u32,
    /// Its number in the order in which the scope's messages arrived.
    pub arrival: u64,
    /// The sketch by which near-duplicates are recognised.
    pub fingerprint: Fingerprint,
    /// The number of facts and entities remembered from it that concern the query.
    pub remembered: u32,
    /// The likeness in meaning of its strongest passage to the query, in thousandths, if a model
    /// compared them.
    pub likeness: Option<i32>,
    /// The relevance to the query of a fact that came from it, in thousandths.
    pub fact: u32,
    /// The later message that makes this one's statement outdated, if there is one: conversation
    /// and message.
    pub outdated_by: Option<(u32, u32)>,
    /// Set if it is in the prompt already.
    pub in_prompt: bool,
}

impl MessageFacts {
    /// Creates the facts of a message by a person of which nothing else is known.
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
    /// The passage with the strongest words.
    pub passage: u16,
    /// Its parts are in thousandths of the strength of the best message's words.
    pub score: Score,
    /// Messages that say nearly the same and rank lower: conversation and message.
    pub duplicates: Vec<(u32, u32)>,
    /// The later message that makes it outdated, if there is one.
    pub outdated_by: Option<(u32, u32)>,
}

/// One ranking: everything that its scores have in common.
struct Ranking<'r> {
    query: &'r Query,
    weights: &'r RecallWeights,
    scale: Scale,
    newest: u64,
    named: NamedSpeakers<'r>,
}

/// The number of words in a usual passage: a message is long beyond them.
const PASSAGE: f64 = 40.0;
/// The number of doublings of that after which a message loses no more: it may hold the answer.
const DOUBLINGS: f64 = 5.0;
/// The most words of a message that is nothing but a question.
const SHORT: u32 = 20;

impl Ranking<'_> {
    fn hit(&self, candidate: &Candidate, facts: &MessageFacts) -> Hit {
        let weights = self.weights;
        let asks = |traits: MessageTraits| traits.has(MessageTraits::QUESTION);
        // An assistant answers everything, so only a person's answer is a sign.
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
        // Without words this is minus infinity, which the clamp turns into 0.
        let doublings = libm::log2(f64::from(facts.words) / PASSAGE).clamp(0.0, DOUBLINGS);
        // A query for the assistant's words must not count against them that an assistant spoke.
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
                // An assistant's messages are long: a query for its words must not count that
                // against them.
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

    /// Returns the newness of a message, from 0 to 1.
    fn recency(&self, facts: &MessageFacts) -> f64 {
        // In the order of arrival, since not every message has a time.
        to_float(facts.arrival) / to_float(self.newest.max(1))
    }
}

/// Lists each message that says nearly the same as a better one with that one, and leaves out
/// messages that the prompt has or that rank below the limit.
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
        // Two values of one fact may differ in a single word, which does not make them the same.
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
