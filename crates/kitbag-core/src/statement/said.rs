//! The sentences of a message by what they tell of time: a change, something past, something that happened.

use alloc::string::String;
use alloc::vec::Vec;

use super::Statements;
use super::grammar::{Grammar, Phrases};
use super::lexer::{Gap, Sentence, Word};

/// The lists of words that stand beside a change and are not what ended: times, and what ties
/// somebody to it (`my FitOne membership`).
const BESIDE: [&str; 3] = ["beside", "day", "period"];

/// A sentence in its writer's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaidSentence<'t> {
    /// Its words as they stand in the message.
    pub text: &'t str,
    /// Set if somebody speaks of themselves.
    pub is_first_person: bool,
    /// Set if it asks.
    pub is_question: bool,
    /// The change that it states, if any.
    pub change: Option<ToldChange>,
    /// The words of the whole sentence, and of each clause that tells of a change, without those that tell of it,
    /// times and pronouns.
    pub rest: Vec<String>,
    /// Each word right after one that names the speaker or may imply a change: `doctor` in `my new doctor`.
    pub heads: Vec<&'t str>,
    /// Set if it says what was so before: `used to`.
    pub is_past: bool,
    /// Set if it states something that happened once.
    pub is_event: bool,
    /// What its clauses in the first person say has ended or was replaced: their words without those
    /// that say so, times and pronouns.
    pub ended: Vec<String>,
}

/// The way in which a sentence states a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ToldChange {
    /// By a word that may only name a time: `now`, `new`.
    Implied,
    /// By a word which says that something ended or was replaced: `left`, `switched`, `no longer`.
    Explicit,
}

impl Statements {
    /// Returns the sentences of a message, without code, quotations and letters.
    ///
    /// ```
    /// use kitbag_core::statement::{Statements, ToldChange};
    ///
    /// let said = Statements::new().said("I used to go to FitOne. I left them in May, really.");
    /// assert!(said[0].is_past && said[0].change.is_none());
    /// assert_eq!(said[1].change, Some(ToldChange::Explicit));
    /// ```
    #[must_use]
    pub fn said<'t>(&self, text: &'t str) -> Vec<SaidSentence<'t>> {
        let sentences = self.written_sentences(text);
        let may_change = self.may_tell_change(text);
        let read = |sentence| self.read(text, sentence, may_change);
        sentences.iter().map(read).collect()
    }

    /// Tells whether a message may tell of a change or of what was before, at the cost of one look at
    /// each byte: most do not.
    #[must_use]
    pub fn may_tell_change(&self, text: &str) -> bool {
        self.changes.may_be_in(text)
    }

    fn read<'t>(
        &self,
        text: &'t str,
        sentence: &Sentence<'t>,
        may_change: bool,
    ) -> SaidSentence<'t> {
        let words = &sentence.words;
        let has = |list: fn(&Grammar) -> &Phrases| {
            let mut grammars = self.grammars.iter();
            grammars.any(|grammar| list(grammar).is_in(words))
        };
        // A wish or a report states no change.
        let is_meant = |grammar: &&Grammar| !grammar.never.is_in(words);
        let changes = |list: fn(&Grammar) -> &Phrases| {
            let mut grammars = self.grammars.iter().filter(is_meant);
            may_change
                && !sentence.is_question
                && grammars.any(|grammar| list(grammar).is_in(words))
        };
        let change = if changes(|grammar| &grammar.switch) {
            Some(ToldChange::Explicit)
        } else {
            changes(|grammar| &grammar.cue).then_some(ToldChange::Implied)
        };
        let ended = match change {
            Some(ToldChange::Explicit) => self.ended(words),
            _ => Vec::new(),
        };
        SaidSentence {
            text: written(text, words),
            is_first_person: has(|grammar| &grammar.self_words),
            is_question: sentence.is_question,
            rest: match change {
                Some(_) => self.rest(words),
                None => Vec::new(),
            },
            heads: match change {
                Some(_) => self.heads(words),
                None => Vec::new(),
            },
            change,
            ended,
            is_past: may_change && has(|grammar| &grammar.past),
            is_event: has(|grammar| &grammar.event),
        }
    }

    fn rest(&self, words: &[Word<'_>]) -> Vec<String> {
        let grammars = self.grammars.iter();
        let rest = grammars.flat_map(|grammar| {
            let clauses = words.chunk_by(|_, next| next.gap == Gap::Space);
            let parts = core::iter::once(words).chain(clauses);
            let parts = parts.filter(|part| grammar.cue.is_in(part) || grammar.switch.is_in(part));
            parts.map(|part| grammar.without_change(part, &[&grammar.cue, &grammar.switch]))
        });
        rest.collect()
    }

    fn heads<'t>(&self, words: &[Word<'t>]) -> Vec<&'t str> {
        let pairs = words.iter().zip(words.iter().skip(1));
        let heads = pairs.filter(|(before, word)| {
            let before = core::slice::from_ref(*before);
            let leads = |grammar: &Grammar| grammar.cue.is(before) || grammar.self_words.is(before);
            word.gap == Gap::Space && self.grammars.iter().any(leads)
        });
        heads.map(|(_, word)| word.written).collect()
    }

    fn ended(&self, words: &[Word<'_>]) -> Vec<String> {
        // Each language by itself: "car" is a word for "because" in French.
        let ended = self.grammars.iter().flat_map(|grammar| {
            let clauses = words.chunk_by(|_, next| next.gap == Gap::Space);
            let clauses = clauses
                .filter(|clause| grammar.switch.is_in(clause) && grammar.self_words.is_in(clause));
            clauses.map(|clause| grammar.without_change(clause, &[&grammar.switch]))
        });
        ended.collect()
    }
}

impl Grammar {
    /// Returns a clause without the words that only tell of a change, which are those of some lists.
    fn without_change(&self, mut clause: &[Word<'_>], changes: &[&Phrases]) -> String {
        let beside = BESIDE.iter().filter_map(|name| self.lists.get(*name));
        let lists = changes.iter().copied().chain([&self.self_words]);
        let lists: Vec<&Phrases> = lists.chain(beside).collect();
        let mut kept = String::new();
        let mut is_behind_kept = true;
        while let Some((first, rest)) = clause.split_first() {
            let lengths = lists.iter().filter_map(|list| list.length_at(clause));
            let length = lengths.max().max(self.times.length_at(self, clause));
            match length {
                Some(length) if length > 0 => {
                    clause = clause.get(length..).unwrap_or_default();
                    is_behind_kept = false;
                }
                _ => {
                    // Characters of a script without spaces stay together.
                    if !(first.is_unspaced() && is_behind_kept) {
                        kept.push(' ');
                    }
                    kept.push_str(first.written);
                    clause = rest;
                    is_behind_kept = true;
                }
            }
        }
        kept
    }
}

/// Returns some words as they stand in a text, with what is between them.
fn written<'t>(text: &'t str, words: &[Word<'_>]) -> &'t str {
    let range = words.first().zip(words.last());
    let range = range.map(|(first, last)| first.start..last.end());
    range.and_then(|range| text.get(range)).unwrap_or_default()
}
