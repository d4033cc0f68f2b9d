//! Finds words of a model that mean nearly the same as others.
//!
//! It compares the model's own tokens and not the words of a store: a query costs one pass over the
//! table however much is stored, and nothing of the model needs to be stored. Tokens that are only
//! parts of words are left out.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::compare::thousandths;
use super::{Embedder, length, product};

/// The most words that stand in for one.
const MOST: usize = 8;
/// The least likeness, in thousandths, of words that stand in for each other.
const LEAST: i32 = 400;
/// The signs by which tokenizers mark the beginning of a word.
const BEGINS: [char; 2] = ['▁', 'Ġ'];

impl Embedder {
    /// For each word, those with nearly the same meaning, nearest first, with their likeness in
    /// thousandths.
    pub(crate) fn near(&self, words: &[&str]) -> Vec<Vec<(String, u16)>> {
        let meanings: Vec<Vec<f32>> = words.iter().map(|word| self.embed(word)).collect();
        // One pass over the table serves all words.
        let mut near: Vec<Vec<(i32, u32)>> = vec![Vec::new(); words.len()];
        let rows = u32::try_from(self.vocabulary()).unwrap_or(u32::MAX);
        let mut row = vec![0.0; self.dimensions()];
        for token in 0..rows {
            row.fill(0.0);
            self.table.add_row(token, 1.0, &mut row);
            let length = length(&row);
            for (near, meaning) in near.iter_mut().zip(&meanings) {
                // `embed` gives a vector of length 1, so only the row's length counts.
                let likeness = thousandths(product(meaning, &row), length);
                if likeness >= LEAST {
                    near.push((likeness, token));
                }
            }
        }
        let near = words.iter().zip(near);
        near.map(|(word, near)| self.words_of(word, near)).collect()
    }

    /// The best of the whole words among tokens that are near to a word.
    fn words_of(&self, word: &str, mut near: Vec<(i32, u32)>) -> Vec<(String, u16)> {
        near.sort_unstable_by_key(|&(likeness, token)| (Reverse(likeness), token));
        let mut seen = BTreeSet::from([word.to_lowercase()]);
        let found = near.into_iter().filter_map(|(likeness, token)| {
            let other = self.whole_word(token)?;
            let likeness = u16::try_from(likeness).ok()?;
            seen.insert(other.to_lowercase())
                .then_some((other, likeness))
        });
        found.take(MOST).collect()
    }

    /// The word of a token, if the token is a whole word.
    fn whole_word(&self, token: u32) -> Option<String> {
        let written = self.tokenizer.id_to_token(token)?;
        // A single ASCII letter says nothing; in other scripts one character may be a word.
        let word = written.trim_start_matches(BEGINS);
        let is_word = word.chars().all(char::is_alphabetic)
            && (word.chars().nth(1).is_some() || !word.is_ascii());
        // Tokenized alone, the word must give this very token: for a part of a word, another token
        // begins it.
        (is_word && !word.is_empty() && self.tokens(word) == [token]).then(|| word.to_owned())
    }
}
