//! Quotations from a message that are said to state a value: the words around the value decide whether
//! they do.
//!
//! The data are those of the rules: words that deny, words for things that are over, and words
//! behind which nothing is stated. As there, precision comes before completeness. Words of the
//! value itself are part of the statement: `not vegan` may be a value where `vegan` may not.

use alloc::string::String;
use alloc::vec::Vec;

use super::grammar::{Grammar, words};
use super::lexer::{Gap, Sentence, Word};
use super::{Statements, begins_clause, skip_lead};
use crate::recall::denies;

/// The meaning of a quotation in the message that it is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quoted {
    /// The writer states the value.
    Stated,
    /// The writer denies it: `I am not vegan`.
    Denied,
    /// The value is over, or only supposed, wished or reported: `I used to live in Paris`.
    NotActual,
    /// No statement of the message has these words.
    NotSaid,
}

impl Statements {
    /// Tells how the writer of a message means a value that a quotation from it has.
    ///
    /// ```
    /// use kitbag_core::statement::{Quoted, Statements};
    ///
    /// let statements = Statements::new();
    /// let quoted = |message| statements.quoted(message, "live in Porto", "Porto");
    /// assert_eq!(quoted("No, I live in Porto."), Quoted::Stated);
    /// assert_eq!(quoted("I do not live in Porto."), Quoted::Denied);
    /// assert_eq!(quoted("I used to live in Porto."), Quoted::NotActual);
    /// assert_eq!(quoted("Do I live in Porto?"), Quoted::NotSaid);
    /// ```
    #[must_use]
    pub fn quoted(&self, message: &str, quote: &str, value: &str) -> Quoted {
        let said = stated_words(self.written_sentences(message));
        let (quote, value) = (words(quote), words(value));
        let is_quote = |start: &usize| {
            let from = said.get(*start..).unwrap_or_default();
            from.len() >= quote.len() && from.iter().zip(&quote).all(|(a, b)| a.folded == *b)
        };
        let places = (0..said.len()).filter(|start| !quote.is_empty() && is_quote(start));
        let meanings = places.map(|start| self.meaning(&said, start, start + quote.len(), &value));
        let meanings: Vec<Quoted> = meanings.collect();
        let is_over = || {
            let mut drawn = self.of(message).into_iter();
            drawn.any(|one| one.retracts && words(&one.value) == value)
        };
        match meanings.first() {
            None => Quoted::NotSaid,
            Some(_) if meanings.contains(&Quoted::Stated) => match is_over() {
                true => Quoted::NotActual,
                false => Quoted::Stated,
            },
            Some(first) => *first,
        }
    }

    /// Returns the meaning of the words from `start` to `end`.
    fn meaning(&self, said: &[Word<'_>], start: usize, end: usize, value: &[String]) -> Quoted {
        let is_first = |word: &Word<'_>| word.gap >= Gap::End;
        let before = said.get(..=start).unwrap_or_default();
        let from = before.iter().rposition(is_first).unwrap_or(0);
        let behind = said.get(end..).unwrap_or_default();
        let length = behind.iter().position(is_first).unwrap_or(behind.len());
        let sentence = said.get(from..end + length).unwrap_or_default();
        let (start, end) = (start - from, end - from);

        let grammars = self.spoken_in(sentence);
        let begins = |at: &usize| {
            let here = sentence.get(*at..).unwrap_or_default();
            // The quotation may begin with words that only lead to its clause.
            let led = sentence.get(start..*at).unwrap_or_default();
            let begins = |grammar: &&Grammar| {
                let is_self = grammar.self_words.length_at(here).is_some();
                let is_led = skip_lead(grammar, led) == led.len();
                is_self && is_led && begins_clause(grammar, sentence, *at)
            };
            grammars.iter().any(begins)
        };
        let mut clause = (0..end).rev().find(begins).unwrap_or(0);
        // A "no" before a clause answers something if a sign separates the two, and else denies the
        // clause.
        let is_parted = |at: usize| sentence.get(at).is_none_or(|word| word.gap != Gap::Space);
        if clause > 0 && !is_parted(clause) {
            clause -= 1;
        }
        // Behind the quotation its clause ends at a sign, or at a word that joins another clause.
        let behind = sentence.get(end..).unwrap_or_default();
        let sign = behind.iter().position(|word| word.gap != Gap::Space);
        let sign = sign.unwrap_or(behind.len());
        let is_joined = |at: &usize| {
            let here = behind.get(*at..).unwrap_or_default();
            let mut all = grammars.iter();
            all.any(|grammar| grammar.join.length_at(here).is_some())
        };
        let join = (0..sign).find(is_joined).unwrap_or(sign);

        let clause = sentence.get(clause..end + join).unwrap_or_default();
        let affirms = |word: &[Word<'_>]| {
            let mut all = grammars.iter();
            all.all(|grammar| grammar.affirms.is_in(word))
        };
        let denies =
            |word: &Word<'_>| denies(&word.folded) && !affirms(core::slice::from_ref(word));
        if around(value, clause).flatten().any(denies) {
            return Quoted::Denied;
        }
        let sentence = sentence.get(..end + sign).unwrap_or_default();
        let is_not_actual = |grammar: &&Grammar| {
            around(value, sentence).any(|words| grammar.never.is_in(words))
                || around(value, clause).any(|words| grammar.gone.is_in(words))
        };
        match grammars.iter().any(is_not_actual) {
            true => Quoted::NotActual,
            false => Quoted::Stated,
        }
    }

    /// Returns the languages in which a sentence may speak about its writer; all if none shows.
    fn spoken_in(&self, sentence: &[Word<'_>]) -> Vec<&Grammar> {
        let all = self.grammars.iter();
        let spoken = all.filter(|grammar| grammar.self_words.is_in(sentence));
        let spoken: Vec<&Grammar> = spoken.collect();
        match spoken.is_empty() {
            true => self.grammars.iter().collect(),
            false => spoken,
        }
    }
}

/// Returns the words of all sentences that ask nothing, the first of each behind the end of
/// another.
fn stated_words(sentences: Vec<Sentence<'_>>) -> Vec<Word<'_>> {
    let stated = sentences.into_iter();
    let stated = stated.filter(|sentence| !sentence.is_question);
    let words = stated.flat_map(|mut sentence| {
        if let Some(first) = sentence.words.first_mut() {
            first.gap = Gap::End;
        }
        sentence.words
    });
    words.collect()
}

/// Returns the runs of words that are not those of a value.
fn around<'w, 't>(
    value: &'w [String],
    words: &'w [Word<'t>],
) -> impl Iterator<Item = &'w [Word<'t>]> {
    words.split(|word| value.iter().any(|one| word.folded == *one))
}
