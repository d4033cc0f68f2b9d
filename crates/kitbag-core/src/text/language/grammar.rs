//! Which languages a word is grammar of, told by one look into a table that the compiler makes.

use super::Language;
use crate::text::word_list::split_first_word;

/// A power of two, some times the number of stop words, so that a look seldom needs a second one.
const SLOTS: usize = 1 << 13;

static TABLE: [Slot; SLOTS] = filled(
    filled([EMPTY; SLOTS], &Language::LATIN),
    &Language::BY_SCRIPT,
);

const EMPTY: Slot = Slot {
    word: "",
    languages: 0,
};

/// A stop word, and the languages that have it, a bit each.
#[derive(Clone, Copy)]
struct Slot {
    word: &'static str,
    languages: u32,
}

/// The languages that have this stop word, a bit each, by their number.
pub(super) fn languages(folded: &str) -> u32 {
    let mut at = place(folded.as_bytes());
    loop {
        match TABLE.get(at) {
            Some(slot) if slot.languages != 0 => {
                if slot.word == folded {
                    return slot.languages;
                }
                at = (at + 1) % SLOTS;
            }
            _ => return 0,
        }
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses what is out of bounds"
)]
const fn filled(mut table: [Slot; SLOTS], languages: &[Language]) -> [Slot; SLOTS] {
    let mut each = 0;
    while each < languages.len() {
        let (_, mut words) = languages[each].rules();
        while let Some((word, rest)) = split_first_word(words) {
            let mut at = place(word.as_bytes());
            while table[at].languages != 0 && !is_same(table[at].word.as_bytes(), word.as_bytes()) {
                at = (at + 1) % SLOTS;
            }
            table[at].word = word;
            table[at].languages |= 1 << languages[each] as u32;
            words = rest;
        }
        each += 1;
    }
    table
}

const fn place(mut word: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    while let [first, rest @ ..] = word {
        hash = (hash ^ *first as u32).wrapping_mul(0x0100_0193);
        word = rest;
    }
    (hash ^ (hash >> 13)) as usize % SLOTS
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold;

    #[test]
    fn x04_the_table_holds_every_stop_word_and_no_other() {
        for language in Language::LATIN.into_iter().chain(Language::BY_SCRIPT) {
            let bit = 1 << language as u32;
            let words: Vec<&str> = language.rules().1.split_whitespace().collect();
            for word in &words {
                assert!(languages(word) & bit != 0, "{word}");
                assert_eq!(fold(word), *word, "{language:?}");
            }
            let of_this = TABLE.iter().filter(|slot| slot.languages & bit != 0);
            assert_eq!(of_this.count(), words.len());
        }
        assert_eq!(languages("strength"), 0);
        assert_eq!(languages(""), 0);
    }
}
