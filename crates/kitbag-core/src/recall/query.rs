//! A query: the terms, prefixes and days that it asks a store for, and its attitude.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::assistant_said::asks_what_assistant_said;
use super::attitude::{attitude, dislikes};
use super::concepts::{MOST_RELATED, WordTerms, related};
use super::days::{DayRange, named_days};
use super::message_traits::MessageTraits;
use crate::text::{Script, Token, fold, query_terms, tokens};

/// The number of words that are read at the beginning of a long query, and at its end.
const READ: usize = 32;
/// The most terms that a model adds to a query, since each is looked up. Eight for each word of a
/// long message, in each language that it may be in, would be thousands.
const MOST_NEAR: usize = 256;

/// A text for which past messages are sought.
///
/// ```
/// use kitbag_core::recall::Query;
///
/// let query = Query::new("Where did we hike last summer?", None);
/// assert_eq!(query.terms().collect::<Vec<_>>(), ["hike", "last", "summer"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    words: Vec<QueryWord>,
    days: Vec<DayRange>,
    /// All words of the text, folded, and whether each is written with a capital.
    spoken: BTreeMap<String, bool>,
    attitude: MessageTraits,
    asks_assistant: bool,
}

/// One word that is sought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryWord {
    /// The terms under which it may be indexed, the likeliest first.
    pub(super) alternatives: Vec<String>,
    /// Terms of other words for the same concept.
    pub(super) related: Vec<String>,
    /// Terms of words that mean nearly the same by a model, with their likeness from 0 to 1000.
    pub(super) near: Vec<(String, u16)>,
    /// The beginning of terms that are spelled much like it.
    pub(super) prefix: Option<String>,
    pub(super) kind: WordKind,
    /// Set if it is written like the name of something, or is a number.
    is_name: bool,
    /// The word itself; in a script without spaces its characters.
    written: String,
}

/// The words that a query seeks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    /// Its own.
    Words,
    /// Those, and others for the same concepts.
    Concepts,
}

/// The part that a word plays in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    /// A word of the topic.
    Topic,
    /// A part of a date.
    Date,
    /// A single character between words of grammar, in a script without spaces.
    Character,
}

impl Query {
    /// Reads a query that is asked at `now`; without a time, "yesterday" names no day.
    #[must_use]
    pub fn new(text: &str, now: Option<Timestamp>) -> Self {
        Self::read(text, now, Sought::Concepts)
    }

    fn read(text: &str, now: Option<Timestamp>, sought: Sought) -> Self {
        let tokens: Vec<Token<'_>> = tokens(text).collect();
        let folded: Vec<String> = tokens.iter().map(|token| fold(&token.word)).collect();
        let attitude = attitude(text, &tokens);
        let dates = named_days(text, &tokens, now);
        let mut words: Vec<(&Token<'_>, QueryWord)> = Vec::new();
        // A set: with comparisons of each word with all others, a message of 400 kB took 50 s to
        // read.
        let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
        for (at, alternatives) in query_terms(&tokens) {
            let Some(token) = tokens.get(at) else {
                continue;
            };
            if !seen.insert(alternatives.clone()) {
                continue;
            }
            let word = QueryWord {
                related: Vec::new(),
                prefix: alternatives.first().and_then(|term| prefix(term)),
                kind: WordKind::of(token, &alternatives, dates.tokens.contains(&at)),
                is_name: is_name(text, token) && (at > 0 || token.script == Script::Unspaced),
                near: Vec::new(),
                written: written(token, &alternatives),
                alternatives,
            };
            words.push((token, word));
        }
        if words.len() > 2 * READ {
            // People ask before or behind a text that they paste.
            words.drain(READ..words.len() - READ);
        }
        let related = match sought {
            Sought::Concepts => {
                let terms = words
                    .iter()
                    .map(|(token, word)| (*token, word.alternatives.as_slice()));
                related(&terms.collect::<Vec<WordTerms<'_>>>(), dislikes(attitude))
            }
            Sought::Words => Vec::new(),
        };
        let mut words: Vec<QueryWord> = words.into_iter().map(|(_, word)| word).collect();
        for (word, related) in words.iter_mut().zip(related) {
            word.related = related;
        }
        keep_most_related(&mut words);
        let is_capital = |token: &Token<'_>| {
            let written = text.get(token.start..).unwrap_or_default();
            written.starts_with(char::is_uppercase)
        };
        Self {
            words,
            days: dates.days,
            attitude,
            asks_assistant: asks_what_assistant_said(text, &folded),
            spoken: folded
                .into_iter()
                .zip(tokens.iter().map(is_capital))
                .collect(),
        }
    }

    /// Reads a text whose words are sought as they are, without others for the same concept, other
    /// spellings or days.
    #[must_use]
    pub fn exact(text: &str) -> Self {
        let mut query = Self::read(text, None, Sought::Words);
        query.days.clear();
        for word in &mut query.words {
            word.prefix = None;
        }
        query
    }

    /// Returns the words that are no part of a date.
    pub(super) fn topics(&self) -> Vec<&QueryWord> {
        let words = self.words.iter();
        words.filter(|word| word.kind == WordKind::Topic).collect()
    }

    /// Adds words that mean nearly the same. `near` returns them for each of the words that it
    /// gets, with their likeness from 0 to 1000.
    pub fn add_near(&mut self, near: impl FnOnce(&[&str]) -> Vec<Vec<(String, u16)>>) {
        let is_topic = |word: &&QueryWord| word.kind == WordKind::Topic;
        let topics = self.words.iter().filter(is_topic);
        let written = topics.map(|word| word.written.as_str());
        let written: Vec<&str> = written.take(READ).collect();
        let near = near(&written);
        let sought = self.words.iter().flat_map(|word| &word.alternatives);
        let mut seen: BTreeSet<String> = sought.cloned().collect();
        let topics = self.words.iter_mut();
        let topics = topics.filter(|word| word.kind == WordKind::Topic);
        let mut left = MOST_NEAR;
        for (word, near) in topics.zip(near) {
            for (other, likeness) in near {
                let tokens: Vec<Token<'_>> = tokens(&other).collect();
                for (_, terms) in query_terms(&tokens) {
                    let terms = terms.into_iter().filter(|term| seen.insert(term.clone()));
                    let terms = terms.take(left).map(|term| (term, likeness));
                    let before = word.near.len();
                    word.near.extend(terms);
                    left -= word.near.len() - before;
                }
            }
        }
    }

    /// Returns the terms whose postings are wanted.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.words
            .iter()
            .flat_map(|word| {
                let near = word.near.iter().map(|(term, _)| term);
                word.alternatives.iter().chain(&word.related).chain(near)
            })
            .map(String::as_str)
    }

    /// Returns beginnings of terms that may be the same word in another spelling: the postings of
    /// all terms that begin so are wanted too, as far as the store can give them.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|word| word.prefix.as_deref())
    }

    /// Returns the days that the query names: the messages of these and of the days soon after are
    /// wanted as [`Evidence::dated`](super::Evidence::dated).
    #[must_use]
    pub fn days(&self) -> &[DayRange] {
        &self.days
    }

    /// Tells whether the text asks for something that the assistant said.
    pub(super) const fn asks_assistant(&self) -> bool {
        self.asks_assistant
    }

    /// Returns the attitude of the text: it likes something, or does not.
    pub(super) const fn attitude(&self) -> MessageTraits {
        self.attitude
    }

    /// Tells whether the text has this folded word.
    pub(super) fn has_word(&self, folded: &str) -> bool {
        self.spoken.contains_key(folded)
    }

    /// Returns the words that are written with a capital, folded.
    pub(super) fn capitals(&self) -> impl Iterator<Item = &str> {
        let capitals = self.spoken.iter().filter(|(_, is_capital)| **is_capital);
        capitals.map(|(word, _)| word.as_str())
    }

    pub(super) fn words(&self) -> &[QueryWord] {
        &self.words
    }
}

impl QueryWord {
    /// Tells whether it is among the terms of a text.
    pub(super) fn is_met(&self, terms: &BTreeSet<String>) -> bool {
        let mut alternatives = self.alternatives.iter();
        alternatives.any(|term| terms.contains(term))
    }

    /// Tells whether it has a digit.
    pub(super) fn is_number(&self) -> bool {
        self.written.contains(|c: char| c.is_ascii_digit())
    }

    /// Tells whether it is of a script without spaces, where a word is cut into pairs of characters.
    pub(super) fn is_unspaced(&self) -> bool {
        let script = self.written.chars().next().and_then(Script::of);
        script == Some(Script::Unspaced)
    }

    /// Tells whether it is written like the name of something, or is a number.
    pub(super) fn is_name(&self) -> bool {
        self.is_name
    }
}

impl WordKind {
    fn of(token: &Token<'_>, alternatives: &[String], is_date: bool) -> Self {
        let is_character = |term: &String| term.chars().nth(1).is_none();
        if token.script == Script::Unspaced {
            // A run holds more words than its date.
            return match alternatives.iter().all(is_character) {
                true => Self::Character,
                false => Self::Topic,
            };
        }
        if is_date { Self::Date } else { Self::Topic }
    }
}

/// Tells whether a word is written like a name: with a capital, or with a digit. A script without
/// capitals does not tell.
fn is_name(text: &str, token: &Token<'_>) -> bool {
    let written = text.get(token.start..token.end).unwrap_or_default();
    token.script == Script::Unspaced
        || written.starts_with(char::is_uppercase)
        || written.contains(|c: char| c.is_ascii_digit())
}

/// Returns the word of a token that has these terms.
fn written(token: &Token<'_>, terms: &[String]) -> String {
    match (token.script, terms.first()) {
        (Script::Unspaced, Some(gram)) => gram.clone(),
        _ => token.word.clone().into_owned(),
    }
}

/// Keeps as many related terms as a query may have, and none that is looked up anyway.
fn keep_most_related(words: &mut [QueryWord]) {
    let sought = words.iter().flat_map(|word| &word.alternatives);
    let mut seen: BTreeSet<String> = sought.cloned().collect();
    let mut left = MOST_RELATED;
    for word in words {
        word.related.retain(|term| {
            let is_kept = left > 0 && seen.insert(term.clone());
            left -= usize::from(is_kept);
            is_kept
        });
    }
}

/// Returns the first letters of a term that is long enough to be misspelled.
fn prefix(term: &str) -> Option<String> {
    // A number with another digit is another number, not a slip of the pen.
    let is_word = term.chars().all(char::is_alphabetic) && term.chars().count() > PREFIX;
    is_word.then(|| term.chars().take(PREFIX).collect())
}

/// The number of letters at the beginning that must be right.
pub(super) const PREFIX: usize = 4;
