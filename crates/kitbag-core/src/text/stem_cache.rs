//! Remembers the stems of words: those who talk say the same words again and again.
//!
//! It only saves time. What it gives is what [`Language::stem`] gives, whatever it remembers.

use alloc::string::String;
use alloc::vec::Vec;

use super::language::Language;

/// A power of two; a word of the same place takes the place of another.
const PLACES: usize = 1 << 14;

/// Stems by word and language; none are remembered by a cache without places.
#[derive(Debug, Clone, Default)]
pub(crate) struct StemCache {
    places: Vec<Option<Known>>,
}

#[derive(Debug, Clone)]
struct Known {
    language: Language,
    word: String,
    stem: String,
}

impl StemCache {
    /// A cache for many texts.
    pub(crate) fn for_many() -> Self {
        Self {
            places: alloc::vec![None; PLACES],
        }
    }

    /// The stem of a lower-case word, without accents.
    pub(super) fn stem(&mut self, language: Language, word: &str) -> String {
        let Some(place) = self.places.get_mut(place(language, word)) else {
            return language.stem(word);
        };
        if let Some(known) = place
            && known.language == language
            && known.word == word
        {
            return known.stem.clone();
        }
        let stem = language.stem(word);
        *place = Some(Known {
            language,
            word: word.into(),
            stem: stem.clone(),
        });
        stem
    }
}

fn place(language: Language, word: &str) -> usize {
    let mut hash = 0x811c_9dc5_u32 ^ language as u32;
    for byte in word.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    (hash ^ (hash >> 15)) as usize % PLACES
}
