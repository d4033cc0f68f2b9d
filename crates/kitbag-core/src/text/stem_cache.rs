//! A cache of stems: people say the same words again and again, and stemming was half of the cost
//! of analysing a message.
//!
//! It only saves time: it gives the stems that [`Language::stem`] gives.

use alloc::string::String;
use alloc::vec::Vec;

use super::language::Language;

/// The number of places, a power of two. Words with the same place replace each other.
const PLACES: usize = 1 << 14;

/// Stems by word and language. A cache without places remembers none.
#[derive(Debug, Clone, Default)]
pub(crate) struct StemCache {
    places: Vec<Option<CachedStem>>,
}

#[derive(Debug, Clone)]
struct CachedStem {
    language: Language,
    word: String,
    stem: String,
}

impl StemCache {
    /// Creates a cache for many texts.
    pub(crate) fn for_many() -> Self {
        Self {
            places: alloc::vec![None; PLACES],
        }
    }

    /// Returns the stem of a lower-case word, without accents.
    pub(super) fn stem(&mut self, language: Language, word: &str) -> String {
        let Some(place) = self.places.get_mut(place(language, word)) else {
            return language.stem(word);
        };
        if let Some(cached) = place
            && cached.language == language
            && cached.word == word
        {
            return cached.stem.clone();
        }
        let stem = language.stem(word);
        *place = Some(CachedStem {
            language,
            word: word.into(),
            stem: stem.clone(),
        });
        stem
    }
}

fn place(language: Language, word: &str) -> usize {
    // FNV-1a, with its high bits mixed in: quick for short words, and a collision only costs time.
    let mut hash = 0x811c_9dc5_u32 ^ language as u32;
    for byte in word.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    (hash ^ (hash >> 15)) as usize % PLACES
}
