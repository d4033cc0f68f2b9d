//! Messages that state a change, and the earlier statements that they outdate.
//!
//! A change is about a statement if both say the same but for a value of one or two words, or if a clause says that
//! just what is stated is over. Time and speaker are the caller's to compare.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::analyse::analyse;
use super::evidence::{Evidence, Place, Posting};
use super::message_traits::MessageTraits;
use super::query::{Query, QueryWord, WordKind};
use super::strengths::to_float;
use crate::statement::{SaidSentence, Statements, ToldChange};

/// The share of a statement's words that its end must name, as a divisor.
const SHARE: usize = 2;
/// The most words of a name that is a value.
const LONGEST_NAME: usize = 3;
/// The most pairs of characters of a value, in a script without spaces.
const LONGEST_UNSPACED: usize = 4;
/// A word is rare if at most this many passages have it, or only one in this many.
const RARE: usize = 20;
const RARE_SHARE: u64 = 50;

/// A message, read once to be compared with others.
#[derive(Debug)]
pub struct ToldMessage<'t> {
    text: &'t str,
    sentences: Vec<(SaidSentence<'t>, BTreeSet<String>)>,
    /// Read at its first use: that costs as much as a query, and few messages are compared by them.
    words: OnceCell<Query>,
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
            text,
            sentences: statements.said(text).into_iter().map(terms).collect(),
            words: OnceCell::new(),
        }
    }

    /// Returns true if a sentence states a change.
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
        self.words.get_or_init(|| Query::exact(self.text))
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

    /// Tells how surely this message, said later by the same person, outdates another one for a query:
    /// explicitly only if it says that just what the other one states has ended.
    #[must_use]
    pub fn outdates(&self, earlier: &Self, asked: &Query) -> Option<ToldChange> {
        if !self.tells_change() {
            return None;
        }
        // A later change leaves what happened once as it was.
        if earlier.sentences.iter().any(|(said, _)| said.is_event) {
            return None;
        }
        let is_about_all = self.is_about(earlier, asked);
        let mut own = earlier.sentences.iter();
        let is_earlier_own = own.any(|(said, _)| said.is_first_person);
        let keeps_value = self.says_value_of(earlier, asked);
        let surest = self.sentences.iter().filter_map(|(said, terms)| {
            let change = said.change?;
            if is_earlier_own && said.ended.iter().any(|ended| earlier.is_what(ended, asked)) {
                return Some(ToldChange::Explicit);
            }
            // Who says the same value again has not replaced it, unless it is what ended.
            if keeps_value && change == ToldChange::Implied {
                return None;
            }
            let heads = match is_earlier_own && is_about_all {
                true => said.heads.as_slice(),
                false => &[],
            };
            let mut rest = said.rest.iter();
            rest.any(|rest| earlier.is_same_but_for_value((rest, terms), heads, is_about_all))
                .then_some(ToldChange::Implied)
        });
        surest.max()
    }

    /// Tells whether words for something that ended are all from this message, and enough of it.
    fn is_what(&self, ended: &str, asked: &Query) -> bool {
        let ended = Query::exact(ended);
        let is_own = |word: &QueryWord| word.kind == WordKind::Date || self.has(word);
        if !ended.words().iter().all(is_own) {
            return false;
        }
        let met: BTreeSet<String> = ended.words().iter().flat_map(all_terms).collect();
        let own = self.words().topics();
        let shared: Vec<&&QueryWord> = own.iter().filter(|word| word.is_met(&met)).collect();
        let sought = self.meets(asked);
        let mut words = asked.words().iter().enumerate();
        let mut is_all_asked = || {
            !sought.is_empty() && words.all(|(at, word)| !sought.contains(&at) || word.is_met(&met))
        };
        shared.iter().any(|word| word.is_name())
            || (!shared.is_empty() && (shared.len() * SHARE >= own.len() || is_all_asked()))
    }

    /// Tells whether the words that are left of a change say what this message says, with another value: nearly
    /// all words of each are in the other.
    fn is_same_but_for_value(
        &self,
        (rest, terms): (&str, &BTreeSet<String>),
        heads: &[&str],
        is_about_all: bool,
    ) -> bool {
        let rest = Query::exact(rest);
        // Few words do not show their language, and which of them are grammar: the whole sentence does.
        let rest = rest.words().iter().filter(|word| word.is_met(terms));
        let (own, rest): (Vec<&QueryWord>, Vec<&QueryWord>) =
            (self.words().words().iter().collect(), rest.collect());
        let (shared, gone) = compared(&own, &rest);
        let (_, added) = compared(&rest, &own);
        let is_value = |words: &[&QueryWord]| match words {
            [] => false,
            [_] => true,
            // A name of several words, or one that is cut into pairs of characters.
            [first, ..] if first.is_unspaced() => words.len() <= LONGEST_UNSPACED,
            _ => words.len() <= LONGEST_NAME && words.iter().all(|word| word.is_name()),
        };
        let is_other_value = is_value(&gone) && is_value(&added);
        match shared.as_slice() {
            [] => false,
            // One word in common is enough for what is asked for and somebody's own. Who likes one thing more may
            // like another as before.
            [one] => {
                let heads: Vec<Query> = heads.iter().map(|head| Query::exact(head)).collect();
                let heads = heads.iter().flat_map(Query::words);
                let heads: BTreeSet<String> = heads.flat_map(all_terms).collect();
                let likes = self.words().attitude() != MessageTraits::default();
                is_other_value && !likes && one.is_met(&heads)
            }
            _ if is_about_all && is_other_value => true,
            // An amount of the same may be told in other words than those that are asked for.
            _ => {
                let is_amount = |words: &[&QueryWord]| words.iter().any(|word| word.is_number());
                added.len() == 1
                    && is_amount(&added)
                    && gone.len() <= LONGEST_NAME
                    && is_amount(&gone)
            }
        }
    }

    /// Tells whether it says the value of an earlier statement: its names for which a query does not ask, or
    /// without names all such words.
    fn says_value_of(&self, earlier: &Self, asked: &Query) -> bool {
        let is_asked = |word: &QueryWord| {
            let terms = all_terms(word).collect();
            asked.words().iter().any(|asked| asked.is_met(&terms))
        };
        let own = earlier.words().topics().into_iter();
        let mut value: Vec<&QueryWord> = own.filter(|word| !is_asked(word)).collect();
        if value.iter().any(|word| word.is_name()) {
            value.retain(|word| word.is_name());
        }
        !value.is_empty() && value.iter().all(|word| self.has(word))
    }

    /// Returns the numbers of the query's words that it has.
    fn meets(&self, asked: &Query) -> Vec<usize> {
        let words = asked.words().iter().enumerate();
        let met = words.filter(|(_, word)| self.has(word));
        met.map(|(number, _)| number).collect()
    }

    fn has(&self, word: &QueryWord) -> bool {
        let mut sentences = self.sentences.iter();
        sentences.any(|(_, terms)| word.is_met(terms))
    }
}

/// Returns those of some words that are among others, and those that are not: of dates only if there is nothing else,
/// since a time tells little unless it is what changed.
fn compared<'w>(
    words: &[&'w QueryWord],
    others: &[&QueryWord],
) -> (Vec<&'w QueryWord>, Vec<&'w QueryWord>) {
    let others: BTreeSet<String> = others.iter().copied().flat_map(all_terms).collect();
    let words = words.iter().copied();
    let (shared, mut missing): (Vec<&QueryWord>, Vec<&QueryWord>) =
        words.partition(|word| word.is_met(&others));
    if missing.iter().any(|word| word.kind == WordKind::Topic) {
        missing.retain(|word| word.kind == WordKind::Topic);
    }
    (shared, missing)
}

fn all_terms(word: &QueryWord) -> impl Iterator<Item = String> {
    word.alternatives.iter().cloned()
}

/// Returns the most places of a word that is rare among so many passages. Of one with more, the rest of its
/// places need not be known.
#[must_use]
pub fn rarity_limit(passages: u64) -> usize {
    let share = usize::try_from(passages / RARE_SHARE).unwrap_or(usize::MAX);
    RARE.max(share)
}

/// Returns the places of messages that have the rarest of some words, best first: one passage of each
/// message.
#[must_use]
pub fn with_rare_words(words: &Query, evidence: &Evidence, limit: usize) -> Vec<Place> {
    let most = rarity_limit(evidence.passages);
    let mut gains: BTreeMap<Place, f64> = BTreeMap::new();
    for word in words.topics() {
        let known = word.alternatives.iter();
        let postings: Vec<&Posting> = known
            .filter_map(|term| evidence.postings.get(term))
            .flatten()
            .collect();
        if postings.len() > most {
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
