//! Messages that say that something has changed, and the earlier statements that they outdate.
//!
//! A change is about a statement if both have the same words: those of the query, most of the statement's own,
//! or a name in it that the change says is over. Time and speaker are the caller's to compare.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::analyse::analyse;
use super::evidence::{Evidence, Place, Posting};
use super::query::{Query, QueryWord};
use super::strengths::to_float;
use crate::statement::{SaidSentence, Statements, ToldChange};

/// The share of a statement's words that a change must repeat if it is not about all that was asked,
/// as a divisor.
const SHARE: usize = 2;
/// The least number of those.
const LEAST: usize = 2;
/// The share of them if one is the name of something that the change says is over.
const LEAST_SHARE: usize = 3;
/// A word is rare if no more passages have it, or none but one of so many.
const RARE: usize = 20;
const RARE_SHARE: u64 = 50;

/// A message, read once to be compared with others.
#[derive(Debug)]
pub struct ToldMessage<'t> {
    sentences: Vec<(SaidSentence<'t>, BTreeSet<String>)>,
    words: Query,
}

impl<'t> ToldMessage<'t> {
    /// Reads a message.
    #[must_use]
    pub fn new(statements: &Statements, text: &'t str) -> Self {
        let terms = |said: SaidSentence<'t>| {
            let passages = analyse(said.text).passages.into_iter();
            let terms = passages.flat_map(|passage| passage.terms);
            let terms = terms.map(|(term, _)| term).collect();
            (said, terms)
        };
        Self {
            sentences: statements.said(text).into_iter().map(terms).collect(),
            words: Query::exact(text),
        }
    }

    /// Tells whether some sentence tells of a change.
    #[must_use]
    pub fn tells_change(&self) -> bool {
        self.sentences.iter().any(|(said, _)| said.change.is_some())
    }

    /// Tells whether it states something, and does not only ask.
    #[must_use]
    pub fn states(&self) -> bool {
        self.sentences.iter().any(|(said, _)| !said.is_question)
    }

    /// Tells whether it has all words of a query that another message has.
    #[must_use]
    pub fn is_about(&self, other: &Self, asked: &Query) -> bool {
        let met = self.meets(asked);
        let sought = other.meets(asked);
        !sought.is_empty() && sought.iter().all(|word| met.contains(word))
    }

    /// Returns a query for messages with the words of this one.
    #[must_use]
    pub fn words(&self) -> &Query {
        &self.words
    }

    /// Tells whether it only says what was so before, of all that a query asks for.
    #[must_use]
    pub fn is_past(&self, asked: &Query) -> bool {
        let about = self.sentences.iter();
        let mut about =
            about.filter(|(_, terms)| asked.words().iter().any(|word| word.is_met(terms)));
        // Not in a query that asks for just that.
        let is_past = |(said, _): &(SaidSentence<'_>, _)| said.is_past && said.change.is_none();
        about.next().is_some_and(is_past) && about.all(is_past)
    }

    /// Tells how surely this message, said later by the same person, outdates another one for a query.
    #[must_use]
    pub fn outdates(&self, earlier: &Self, asked: &Query) -> Option<ToldChange> {
        let sought: Vec<usize> = earlier.meets(asked);
        let is_about_all = self.is_about(earlier, asked);
        let own = earlier.words.topics();
        let is_event = earlier.sentences.iter().any(|(said, _)| said.is_event);
        let is_own = |message: &Self| {
            let mut sentences = message.sentences.iter();
            sentences.any(|(said, _)| said.is_first_person)
        };
        let are_own = is_own(self) && is_own(earlier);
        let surest = self.sentences.iter().filter_map(|(said, terms)| {
            let change = said.change?;
            let shared = own.iter().filter(|word| word.is_met(terms)).count();
            let is_most = shared >= LEAST && shared * SHARE >= own.len() && !sought.is_empty();
            let is_some = shared * LEAST_SHARE >= own.len();
            let names = || is_some && own.iter().any(|word| word.is_name() && word.is_met(terms));
            let topics = || {
                let words = asked.words().iter().enumerate();
                let mut topics = words.filter(|(at, _)| sought.contains(at));
                topics.any(|(_, word)| word.is_met(terms))
            };
            let is_same = match change {
                _ if is_most => true,
                ToldChange::Implied => is_about_all && are_own && said.is_first_person,
                ToldChange::Explicit if are_own => {
                    is_about_all || (!is_event && (names() || topics()))
                }
                // Somebody else may change what a person says of themselves: "They raised the rent".
                ToldChange::Explicit => {
                    is_own(earlier) && is_about_all && shared * SHARE >= own.len()
                }
            };
            is_same.then_some(change)
        });
        surest.max()
    }

    /// Returns the numbers of the query's words that it has.
    fn meets(&self, asked: &Query) -> Vec<usize> {
        let words = asked.words().iter().enumerate();
        let is_met = |word: &QueryWord| {
            let mut sentences = self.sentences.iter();
            sentences.any(|(_, terms)| word.is_met(terms))
        };
        let met = words.filter(|(_, word)| is_met(word));
        met.map(|(number, _)| number).collect()
    }
}

/// Returns the places of messages that have the rarest of some words, best first: one passage of each
/// message.
#[must_use]
pub fn with_rare_words(words: &Query, evidence: &Evidence, limit: usize) -> Vec<Place> {
    let share = usize::try_from(evidence.passages / RARE_SHARE).unwrap_or(usize::MAX);
    let mut gains: BTreeMap<Place, f64> = BTreeMap::new();
    for word in words.topics() {
        let known = word.alternatives.iter();
        let postings: Vec<&Posting> = known
            .filter_map(|term| evidence.postings.get(term))
            .flatten()
            .collect();
        if postings.len() > RARE.max(share) {
            continue;
        }
        let rarity = to_float(evidence.passages.max(1)) / to_float(postings.len().max(1) as u64);
        for posting in postings {
            *gains.entry(posting.place).or_default() += libm::log2(1.0 + rarity);
        }
    }
    let mut places: Vec<(Place, f64)> = gains.into_iter().collect();
    // Of equals the later message.
    places.sort_by(|(a, less), (b, more)| more.total_cmp(less).then(b.cmp(a)));
    let mut seen = BTreeSet::new();
    let places = places.into_iter().map(|(place, _)| place);
    let first = places.filter(|place| seen.insert((place.conversation, place.message)));
    first.take(limit).collect()
}
