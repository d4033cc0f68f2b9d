//! Distinct words, numbered in the order of their first occurrence.

use std::cmp::Ordering;
use std::ops::Range;

/// Words that are each kept once, in one string: an allocation for each would cost more than the
/// words.
#[derive(Default)]
pub(super) struct DistinctWords {
    /// All words, one behind the other.
    text: String,
    words: Vec<Word>,
    /// An open hash table of the words' numbers. Each stands at the place of its hash or behind it.
    /// The length is a power of two, so a mask replaces the remainder, and at least half of it is
    /// free, so each search ends at a free place.
    table: Vec<Option<u32>>,
}

struct Word {
    /// The first bytes of the word, which decide most comparisons without looking at the text.
    head: u64,
    range: Range<usize>,
}

impl DistinctWords {
    /// The number of a word, which is added if it is new.
    pub(super) fn number(&mut self, word: &str) -> u32 {
        if self.table.len() < 2 * (self.words.len() + 1) {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut place = hash(word) & mask;
        while let Some(Some(number)) = self.table.get(place) {
            if self.word(*number) == word {
                return *number;
            }
            place = (place + 1) & mask;
        }
        let number = self.words.len() as u32;
        let start = self.text.len();
        self.text.push_str(word);
        self.words.push(Word {
            head: head(word),
            range: start..self.text.len(),
        });
        if let Some(free) = self.table.get_mut(place) {
            *free = Some(number);
        }
        number
    }

    pub(super) fn word(&self, number: u32) -> &str {
        let word = self.words.get(number as usize);
        word.map_or("", |word| self.text_of(word))
    }

    /// The numbers of the words in the order of their bytes.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order: Vec<(u32, &Word)> = (0..).zip(&self.words).collect();
        order.sort_unstable_by(|(_, one), (_, other)| self.compare(one, other));
        order.into_iter().map(|(number, _)| number).collect()
    }

    fn compare(&self, one: &Word, other: &Word) -> Ordering {
        let heads = one.head.cmp(&other.head);
        heads.then_with(|| self.text_of(one).cmp(self.text_of(other)))
    }

    fn text_of(&self, word: &Word) -> &str {
        self.text.get(word.range.clone()).unwrap_or_default()
    }

    fn grow(&mut self) {
        // Four times as many places as words, so the next growth comes only when the words have
        // doubled.
        let length = (4 * self.words.len()).next_power_of_two().max(64);
        let mut table = vec![None; length];
        for (number, word) in (0..).zip(&self.words) {
            let mut place = hash(self.text_of(word)) & (length - 1);
            while let Some(Some(_)) = table.get(place) {
                place = (place + 1) & (length - 1);
            }
            if let Some(free) = table.get_mut(place) {
                *free = Some(number);
            }
        }
        self.table = table;
    }
}

/// FNV-1a, folded so that the low bits, which the mask keeps, depend on the high ones. It is fixed
/// and fast; nobody gains by colliding words of their own messages.
fn hash(word: &str) -> usize {
    let hash = word.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    (hash ^ (hash >> 15)) as usize
}

/// The first eight bytes of a word as a big-endian number, which orders words as their bytes do.
fn head(word: &str) -> u64 {
    let mut head = [0; 8];
    for (to, byte) in head.iter_mut().zip(word.bytes()) {
        *to = byte;
    }
    u64::from_be_bytes(head)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_keep_their_numbers_and_are_ordered_by_their_bytes(
            words in prop::collection::vec("[ab]{0,3}|abcdefgh[ab]{0,2}|\u{0}?é?猫?", 0..300),
        ) {
            let mut distinct = DistinctWords::default();
            let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
            for word in &words {
                let number = distinct.number(word);
                prop_assert_eq!(*numbers.entry(word).or_insert(number), number);
                prop_assert_eq!(distinct.word(number), word);
            }
            prop_assert_eq!(numbers.values().collect::<BTreeSet<_>>().len(), numbers.len());
            let order = distinct.order();
            prop_assert_eq!(order, numbers.into_values().collect::<Vec<_>>());
        }
    }
}
