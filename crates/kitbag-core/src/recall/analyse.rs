//! The analysis of a message: everything that a store keeps to find it.

use alloc::string::String;
use alloc::vec::Vec;

use super::attitude::attitude;
use super::fingerprint::{Fingerprint, Sketch};
use super::message_traits::MessageTraits;
use super::passages::passages;
use crate::text::{StemCache, Token, index_terms, tokens};

/// Cuts a message into passages and returns the terms of each.
///
/// Long messages give several passages of whole sentences, short ones one. A text without words
/// gives one passage without terms.
///
/// ```
/// use kitbag_core::recall::analyse;
///
/// let analysis = analyse("We went hiking near the lakes.");
/// let terms: Vec<&str> = analysis.passages[0].terms.iter().map(|(term, _)| term.as_str()).collect();
/// assert_eq!(terms, ["go", "hike", "lake", "near"]);
/// ```
#[must_use]
pub fn analyse(text: &str) -> Analysis {
    analyse_with(text, &mut StemCache::default())
}

/// Analyses many messages, each as [`analyse`] does, in less time: a word that comes again is not
/// stemmed again.
#[derive(Debug, Clone)]
pub struct Analyser {
    stems: StemCache,
}

impl Analyser {
    /// Creates an analyser that has met no words yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            stems: StemCache::for_many(),
        }
    }

    /// Analyses the next message.
    pub fn analyse(&mut self, text: &str) -> Analysis {
        analyse_with(text, &mut self.stems)
    }
}

impl Default for Analyser {
    fn default() -> Self {
        Self::new()
    }
}

fn analyse_with(text: &str, stems: &mut StemCache) -> Analysis {
    let mut words: Vec<Token<'_>> = Vec::with_capacity(text.len() / 8 + 1);
    words.extend(tokens(text));
    let traits = MessageTraits::of_text(text).with(attitude(text, &words));
    let mut sketch = Sketch::default();
    let mut found = Vec::new();
    for passage in passages(text, &words) {
        let terms = index_terms(passage.tokens, stems);
        for term in &terms.terms {
            sketch.add(term);
        }
        found.push(PassageTerms {
            start: saturated(passage.start),
            end: saturated(passage.end),
            words: saturated(terms.words),
            terms: counted(terms.terms),
        });
    }
    Analysis {
        passages: found,
        traits,
        fingerprint: sketch.finish(),
    }
}

/// A message as it is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Analysis {
    /// The passages in their order; never empty.
    pub passages: Vec<PassageTerms>,
    /// The traits of the message, besides its words.
    pub traits: MessageTraits,
    /// The sketch by which near-duplicates are recognised.
    pub fingerprint: Fingerprint,
}

impl Analysis {
    /// Returns the number of words in the message: the sum over its passages.
    #[must_use]
    pub fn words(&self) -> u32 {
        let words = self.passages.iter().map(|passage| passage.words);
        words.fold(0, u32::saturating_add)
    }
}

/// A stretch of a message with its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassageTerms {
    /// The byte at which it begins.
    pub start: u32,
    /// The byte at which it ends.
    pub end: u32,
    /// Its length in words other than stop words.
    pub words: u32,
    /// Its terms with their numbers of occurrences, sorted by term.
    pub terms: Vec<(String, u16)>,
}

/// Counts the occurrences of each term, sorted by term.
fn counted(mut terms: Vec<String>) -> Vec<(String, u16)> {
    // Sorted in place: no term is copied or hashed.
    terms.sort_unstable();
    let mut counted: Vec<(String, u16)> = Vec::with_capacity(terms.len());
    for term in terms {
        match counted.last_mut() {
            Some((last, count)) if *last == term => *count = count.saturating_add(1),
            _ => counted.push((term, 1)),
        }
    }
    counted
}

fn saturated(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
