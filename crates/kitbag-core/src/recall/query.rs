//! What a query asks a store for.

use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::days::{DayRange, named_days};
use crate::text::{Token, query_terms, tokens};

/// A long query is read at its beginning and its end, so many words at each.
const READ: usize = 32;

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
}

/// One word that is sought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryWord {
    /// The terms under which it may be kept, the likeliest first.
    pub(super) alternatives: Vec<String>,
    /// With what the terms begin that are spelled much like it.
    pub(super) prefix: Option<String>,
    /// Whether it is part of a date.
    pub(super) is_date: bool,
}

impl Query {
    /// Reads a query that is asked at `now`; without a time, "yesterday" names no day.
    #[must_use]
    pub fn new(text: &str, now: Option<Timestamp>) -> Self {
        let tokens: Vec<Token> = tokens(text).collect();
        let mut words: Vec<QueryWord> = Vec::new();
        let dates = named_days(text, &tokens, now);
        for (at, alternatives) in query_terms(&tokens) {
            if words.iter().all(|word| word.alternatives != alternatives) {
                let prefix = alternatives.first().and_then(|term| prefix(term));
                let is_date = dates.tokens.contains(&at);
                words.push(QueryWord {
                    alternatives,
                    prefix,
                    is_date,
                });
            }
        }
        if words.len() > 2 * READ {
            words.drain(READ..words.len() - READ);
        }
        Self {
            words,
            days: dates.days,
        }
    }

    /// The terms whose postings are wanted.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.words
            .iter()
            .flat_map(|word| &word.alternatives)
            .map(String::as_str)
    }

    /// Beginnings of terms that may be the same word spelled otherwise: the postings of all terms
    /// that begin so are wanted too, as far as the store can give them.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|word| word.prefix.as_deref())
    }

    /// The days that the query names: the messages of these and of the days soon after are wanted as
    /// [`Evidence::dated`](super::Evidence::dated).
    #[must_use]
    pub fn days(&self) -> &[DayRange] {
        &self.days
    }

    pub(super) fn words(&self) -> &[QueryWord] {
        &self.words
    }
}

/// The first letters of a term that is long enough to be misspelled.
fn prefix(term: &str) -> Option<String> {
    let is_word = term.chars().all(char::is_alphabetic) && term.chars().count() > PREFIX;
    is_word.then(|| term.chars().take(PREFIX).collect())
}

/// How many letters must be right.
pub(super) const PREFIX: usize = 4;
