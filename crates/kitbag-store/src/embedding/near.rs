//! Words of a model that mean nearly the same as others.
//!
//! The model's own tokens are compared, and not the words of a store: a query then costs one pass over
//! the table however much is remembered, and nothing of the model is stored. Tokens that are parts of
//! words say nothing by themselves and are left out.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::compare::thousandths;
use super::{Embedder, length, product};

/// So many words stand for one.
const MOST: usize = 8;
/// Below this likeness, in thousandths, words have little in common.
const LEAST: i32 = 400;
/// The signs by which tokens show that a word begins.
const BEGINS: [char; 2] = ['▁', 'Ġ'];

impl Embedder {
    /// For each word, those that mean nearly the same, nearest first, with their likeness in thousandths.
    pub(crate) fn near(&self, words: &[&str]) -> Vec<Vec<(String, u16)>> {
        let meanings: Vec<Vec<f32>> = words.iter().map(|word| self.embed(word)).collect();
        let mut near: Vec<Vec<(i32, u32)>> = vec![Vec::new(); words.len()];
        let rows = u32::try_from(self.vocabulary()).unwrap_or(u32::MAX);
        let mut row = vec![0.0; self.dimensions()];
        for token in 0..rows {
            row.fill(0.0);
            self.table.add_row(token, 1.0, &mut row);
            let length = length(&row);
            for (near, meaning) in near.iter_mut().zip(&meanings) {
                // A meaning has the length 1.
                let likeness = thousandths(product(meaning, &row), length);
                if likeness >= LEAST {
                    near.push((likeness, token));
                }
            }
        }
        let near = words.iter().zip(near);
        near.map(|(word, near)| self.words_of(word, near)).collect()
    }

    /// The words among tokens that are near to one, the best of them.
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

    /// The word of a token, if it is a whole one.
    fn whole_word(&self, token: u32) -> Option<String> {
        let written = self.tokenizer.id_to_token(token)?;
        let word = written.trim_start_matches(BEGINS);
        let is_word = word.chars().all(char::is_alphabetic)
            && (word.chars().nth(1).is_some() || !word.is_ascii());
        // By itself the word must be this token: of a part there is another that begins a word.
        (is_word && !word.is_empty() && self.tokens(word) == [token]).then(|| word.to_owned())
    }
}
