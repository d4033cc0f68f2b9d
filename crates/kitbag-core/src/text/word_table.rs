//! Words with a few bits each, found by one lookup in a table that the compiler makes.

use super::word_list::split_first_word;

/// A table of words. `SLOTS` is a power of two and several times the number of words, so that a
/// lookup seldom needs a second step.
pub(crate) struct WordTable<const SLOTS: usize>([Slot; SLOTS]);

/// A word with its bits; an empty slot has no bits.
#[derive(Clone, Copy)]
struct Slot {
    word: &'static str,
    bits: u32,
}

impl<const SLOTS: usize> WordTable<SLOTS> {
    /// A table without words.
    pub(crate) const EMPTY: Self = Self([Slot { word: "", bits: 0 }; SLOTS]);

    /// Adds these bits to the words of a list.
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, which refuses what is out of bounds"
    )]
    pub(crate) const fn with(mut self, mut list: &'static str, bits: u32) -> Self {
        while let Some((word, rest)) = split_first_word(list) {
            let mut at = place(word.as_bytes()) % SLOTS;
            // Slots of other words are passed by, as `bits` does when it looks.
            while self.0[at].bits != 0 && !is_same(self.0[at].word.as_bytes(), word.as_bytes()) {
                at = (at + 1) % SLOTS;
            }
            self.0[at].word = word;
            self.0[at].bits |= bits;
            list = rest;
        }
        self
    }

    /// Returns the bits of a word, none if it is not in the table.
    pub(crate) fn bits(&self, word: &str) -> u32 {
        let mut at = place(word.as_bytes()) % SLOTS;
        // Ends at an empty slot: there are more slots than words.
        loop {
            match self.0.get(at) {
                Some(slot) if slot.bits != 0 => {
                    if slot.word == word {
                        return slot.bits;
                    }
                    at = (at + 1) % SLOTS;
                }
                _ => return 0,
            }
        }
    }

    /// Counts the words that have some of these bits.
    #[cfg(test)]
    pub(crate) fn count(&self, bits: u32) -> usize {
        self.0.iter().filter(|slot| slot.bits & bits != 0).count()
    }
}

/// FNV-1a with its high bits mixed into the low ones, which choose the slot.
const fn place(mut word: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    while let [first, rest @ ..] = word {
        hash = (hash ^ *first as u32).wrapping_mul(0x0100_0193);
        word = rest;
    }
    (hash ^ (hash >> 13)) as usize
}

const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest @ ..], [b, others @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (rest, others);
    }
    one.is_empty() && other.is_empty()
}
