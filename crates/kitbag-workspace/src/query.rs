//! What a task says about code: its words by where they stand, files and names that it mentions,
//! phrases to find as they are, and the frames of stack traces.
//!
//! Pure. A word in the title says more than one in a log, so that the text is first cut into zones.

mod frames;
mod mentions;
mod names;
mod orders;
mod pattern;
mod phrases;
mod zones;

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::text::{Word, is_stop_word, words};

pub use frames::Frame;
pub use mentions::Mentions;
pub use names::{Names, Symbol};
pub use zones::{Zone, zones};

/// A task as the ranking sees it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The words to look for, each once, in alphabetical order.
    pub terms: Vec<Term>,
    /// Files and dotted names that the task mentions.
    pub mentions: Mentions,
    /// Files and definitions that it names outside code and logs.
    pub names: Names,
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
    /// True for a compound identifier.
    pub is_whole: bool,
    /// Its weight for a file.
    pub weight: f64,
    /// Its weight for a part of a file, where the words of logs are worth as much as others.
    pub unit_weight: f64,
}

impl Query {
    /// Reads a task.
    #[must_use]
    pub fn new(task: &str) -> Self {
        Self::with_attachment(task, "")
    }

    /// Reads a task and a text that belongs to it, whose words count less than the task's own.
    #[must_use]
    pub fn with_attachment(task: &str, attached: &str) -> Self {
        let own = zones(task);
        let mut counts = Counts::default();
        own.iter()
            .for_each(|(zone, text)| counts.add(*zone, &orders::without(*zone, text), 1.0));
        if counts.by_word.is_empty() {
            // An order is all that was said.
            own.iter()
                .for_each(|(zone, text)| counts.add(*zone, text, 1.0));
        }
        let attached_zones = zones(attached);
        let mut seen = BTreeSet::new();
        for (zone, text) in &attached_zones {
            if seen.insert(without_digits(text)) {
                counts.add(zone.attached(), text, ATTACHED);
            }
        }
        let counts = counts.by_word;
        let zones: Vec<(Zone, &str)> = own.iter().chain(&attached_zones).copied().collect();
        let whole = format!("{task}\n{attached}");
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
            mentions: Mentions::of(&whole),
            names: Names::of(&own),
            phrases: phrases::phrases(&zones),
            frames: frames::frames(&whole),
        }
    }

    /// Returns true if the task has nothing to search for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns true for a task with a word or two to look for, which names nothing.
    #[must_use]
    pub fn says_little(&self) -> bool {
        let words = self.terms.iter().filter(|term| !term.is_whole).count();
        let names = self.mentions.names.len() + self.mentions.dotted.len() + self.phrases.len();
        (1..=FEW_WORDS).contains(&words) && names + self.frames.len() == 0
    }
}

/// The words of a task with their weights: for a file, and for a part of one.
#[derive(Default)]
struct Counts {
    by_word: BTreeMap<(String, bool), [f64; 2]>,
    /// The lines of logs, without their numbers: one that is there a hundred times says no more.
    log_lines: BTreeSet<String>,
}

impl Counts {
    fn add(&mut self, zone: Zone, text: &str, share: f64) {
        if zone == Zone::Log && !self.log_lines.insert(without_digits(text)) {
            return;
        }
        for word in words(text) {
            let (word, is_whole) = match word {
                Word::Part(word) => (word, false),
                Word::Whole(word) => (word, true),
            };
            if is_telling(&word) {
                let scale = if is_number(&word) { NUMBER } else { 1.0 } * share;
                let [count, unit_count] = self.by_word.entry((word, is_whole)).or_default();
                *count += zone.weight() * scale;
                *unit_count += zone.unit_weight() * scale;
            }
        }
    }
}

fn without_digits(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_digit()).collect()
}

const NUMBER: f64 = 0.3;

/// The weight of words of an attached text, beside those of the task.
const ATTACHED: f64 = 0.3;

/// With no more words than this a task says little.
const FEW_WORDS: usize = 2;

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
