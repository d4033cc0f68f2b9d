//! Finds times that lead to a statement or stand inside it: `since this month`, `now`, `vor kurzem`.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::grammar::{Grammar, Pattern};
use super::lexer::Word;
use super::match_parts;

/// The times of one language.
#[derive(Debug, Default)]
pub(super) struct Times {
    patterns: Vec<Pattern>,
    /// The words that they begin with: for most words one lookup is enough.
    first_words: BTreeSet<String>,
}

impl Times {
    /// Adds a way to name a time, which begins with words.
    pub(super) fn add(&mut self, pattern: Pattern) {
        // No time begins with another time.
        let beginnings = pattern.beginnings(&Self::default());
        let first_words = beginnings.into_iter().map(|(first, _)| first);
        self.first_words.extend(first_words);
        self.patterns.push(pattern);
    }

    /// Returns the words that a time may begin with.
    pub(super) fn first_words(&self) -> impl Iterator<Item = &String> + Clone {
        self.first_words.iter()
    }

    /// Returns the number of words of the longest time that some words begin with.
    pub(super) fn length_at(&self, grammar: &Grammar, words: &[Word<'_>]) -> Option<usize> {
        let first = words.first()?;
        if !self.first_words.contains(first.folded.as_ref()) {
            return None;
        }
        let lengths = self
            .patterns
            .iter()
            .filter_map(|time| match_parts(grammar, &time.parts, words, 0, &mut Vec::new()));
        lengths.max()
    }
}
