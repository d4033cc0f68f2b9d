//! Which languages a word may be grammar of, told from its length and its ends without a search.

use super::{Language, stop_words};

/// How many kinds of words are told apart.
const KINDS: usize = 1 << 11;

/// The languages of [`Language::LATIN`] that have a stop word of this kind, a bit each.
static LIKELY: [u16; KINDS] = likely();

/// The languages of [`Language::LATIN`] that may have this stop word, by their place there. None but
/// these have it.
pub(super) fn languages(folded: &str) -> impl Iterator<Item = (usize, Language)> {
    let bits = LIKELY.get(kind(folded)).copied().unwrap_or(0);
    let places = Language::LATIN.into_iter().enumerate();
    places.filter(move |(place, _)| bits & (1 << place) != 0)
}

const fn kind(word: &str) -> usize {
    let (first, last) = match word.as_bytes() {
        [] => (0, 0),
        [only] => (*only, *only),
        [first, .., last] => (*first, *last),
    };
    (first as usize * 31 + last as usize * 8 + word.len() * 257) % KINDS
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses what is out of bounds"
)]
const fn likely() -> [u16; KINDS] {
    let mut table = [0; KINDS];
    let mut place = 0;
    while place < Language::LATIN.len() {
        let words = stop_words::of(Language::LATIN[place]);
        let mut word = 0;
        while word < words.len() {
            table[kind(words[word])] |= 1 << place;
            word += 1;
        }
        place += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x04_no_stop_word_is_overlooked() {
        for language in Language::LATIN {
            for word in stop_words::of(language) {
                assert!(
                    languages(word).any(|(_, found)| found == language),
                    "{word}"
                );
            }
        }
        assert_eq!(languages("strength").count(), 0);
    }
}
