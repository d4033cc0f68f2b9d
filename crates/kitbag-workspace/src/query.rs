//! What a task says about code: its words by where they stand, files and names that it mentions,
//! phrases to find as they are, and the frames of stack traces.
//!
//! Pure. A word in the title says more than one in a log, so that the text is first cut into zones.

mod frames;
mod mentions;
mod pattern;
mod phrases;
mod zones;

use std::collections::BTreeMap;

use kitbag_core::text::{Word, is_stop_word, words};

pub use frames::Frame;
pub use mentions::Mentions;
pub use zones::{Zone, zones};

/// A task as the ranking sees it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The words to look for, each once, in alphabetical order.
    pub terms: Vec<Term>,
    /// Files and dotted names that the task mentions.
    pub mentions: Mentions,
    /// Texts to find as they are.
    pub phrases: Vec<String>,
    /// Places in files that the task points at.
    pub frames: Vec<Frame>,
}

/// A word to look for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Term {
    /// The stem, or the whole compound identifier, in lower case.
    pub text: String,
    /// Whether it is a compound identifier.
    pub is_whole: bool,
    /// How much it counts for a file.
    pub weight: f64,
    /// How much it counts for a part of a file: there the words of logs are worth as much as others.
    pub unit_weight: f64,
}

impl Query {
    /// Reads a task.
    #[must_use]
    pub fn new(task: &str) -> Self {
        let mut counts: BTreeMap<(String, bool), [f64; 2]> = BTreeMap::new();
        let zones = zones(task);
        for (zone, text) in &zones {
            for word in words(text) {
                let (word, is_whole) = match word {
                    Word::Part(word) => (word, false),
                    Word::Whole(word) => (word, true),
                };
                if is_telling(&word) {
                    let scale = if is_number(&word) { NUMBER } else { 1.0 };
                    let [count, unit_count] = counts.entry((word, is_whole)).or_default();
                    *count += zone.weight() * scale;
                    *unit_count += zone.unit_weight() * scale;
                }
            }
        }
        let term = |((text, is_whole), [count, unit_count]): ((String, bool), [f64; 2])| Term {
            text,
            is_whole,
            weight: damped(count),
            unit_weight: damped(unit_count),
        };
        let mut terms: Vec<Term> = counts
            .into_iter()
            .filter(|(_, counts)| counts.iter().any(|&count| count > 0.0))
            .map(term)
            .collect();
        if terms.len() > MOST_TERMS {
            let weight = |term: &Term| term.weight.max(term.unit_weight);
            terms.sort_by(|a, b| {
                weight(b)
                    .total_cmp(&weight(a))
                    .then_with(|| a.text.cmp(&b.text))
            });
            terms.truncate(MOST_TERMS);
            terms.sort_by(|a, b| (&a.text, a.is_whole).cmp(&(&b.text, b.is_whole)));
        }
        Self {
            terms,
            mentions: Mentions::of(task),
            phrases: phrases::phrases(&zones),
            frames: frames::frames(task),
        }
    }

    /// Whether the task says nothing that could be looked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

const NUMBER: f64 = 0.3;

/// Of very many words only the weightiest are looked for: a log of megabytes is no better a task.
const MOST_TERMS: usize = 300;

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Single letters and grammar tell nothing; nor do words that are too long to be words.
fn is_telling(word: &str) -> bool {
    (2..=80).contains(&word.len()) && !is_stop_word(word)
}

/// The second occurrence counts less than the first.
fn damped(count: f64) -> f64 {
    if count >= 1.0 {
        1.0 + libm::log(count)
    } else {
        count
    }
}

#[cfg(test)]
mod tests;
