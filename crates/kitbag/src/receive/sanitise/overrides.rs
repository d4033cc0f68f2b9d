//! Phrases that ask to disregard instructions, in several languages, as data.
//!
//! A phrase has a verb ("ignore"), a word that says which ("previous") and one that says what
//! ("instructions"), near each other and in any order.

use std::sync::LazyLock;

use kitbag_layout::reserved::as_read;

use super::Line;

/// The greatest distance of a phrase's words from its verb, in words.
const NEAR_WORDS: usize = 6;
/// The same in characters, for languages without blanks between words.
const NEAR_CHARACTERS: usize = 16;

/// The lines on which such phrases have their verb, counted from 1, with the language; each line once.
pub(super) fn find(lines: &[Line<'_>]) -> Vec<(usize, &'static str)> {
    // Over line ends: a phrase may be broken into several lines.
    let words = (1..).zip(lines).flat_map(|(number, line)| {
        let words = line.read.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        words.map(move |word| (number, word))
    });
    let words: Vec<(usize, &str)> = words.collect();
    let mut found = Vec::new();
    for phrase in PHRASES.iter() {
        match phrase.is_joined {
            true => found.extend(phrase.in_lines(lines)),
            false => found.extend(phrase.in_words(&words)),
        }
    }
    found.sort_unstable();
    // Related languages share words, so one line may be found in several.
    found.dedup_by_key(|(line, _)| *line);
    found
}

/// The words of such phrases in one language, in the spelling that `as_read` gives.
struct Phrase {
    language: &'static str,
    /// True for a language without blanks between words.
    is_joined: bool,
    verbs: Vec<Pattern>,
    others: [Vec<Pattern>; 2],
}

/// A word, or the beginning of one.
struct Pattern {
    letters: String,
    is_beginning: bool,
}

impl Pattern {
    fn is(&self, word: &str) -> bool {
        match self.is_beginning {
            true => word.starts_with(&self.letters),
            false => word == self.letters,
        }
    }
}

impl Phrase {
    fn in_words(&self, words: &[(usize, &str)]) -> Vec<(usize, &'static str)> {
        let has = |patterns: &[Pattern], word: &str| patterns.iter().any(|it| it.is(word));
        let verbs = words.iter().enumerate();
        let verbs = verbs.filter(|(_, (_, word))| has(&self.verbs, word));
        let complete = verbs.filter(|(at, _)| {
            let from = at.saturating_sub(NEAR_WORDS);
            let near = words.iter().skip(from).take(at - from + NEAR_WORDS + 1);
            let mut others = self.others.iter();
            others.all(|kind| near.clone().any(|(_, word)| has(kind, word)))
        });
        complete
            .map(|(_, (line, _))| (*line, self.language))
            .collect()
    }

    fn in_lines(&self, lines: &[Line<'_>]) -> Vec<(usize, &'static str)> {
        let has =
            |patterns: &[Pattern], near: &str| patterns.iter().any(|it| near.contains(&it.letters));
        let is_phrase = |line: &str| {
            let mut starts = line.char_indices();
            starts.any(|(at, _)| {
                let rest = line.get(at..).unwrap_or_default();
                self.verbs
                    .iter()
                    .any(|verb| rest.starts_with(&verb.letters))
                    && {
                        let before = line.get(..at).unwrap_or_default().chars().rev();
                        let before: Vec<char> = before.take(NEAR_CHARACTERS).collect();
                        let behind = rest.chars().take(NEAR_CHARACTERS);
                        let near: String = before.into_iter().rev().chain(behind).collect();
                        self.others.iter().all(|kind| has(kind, &near))
                    }
            })
        };
        let lines = (1..).zip(lines);
        let found = lines.filter(|(_, line)| is_phrase(&line.read));
        found.map(|(number, _)| (number, self.language)).collect()
    }

    /// Reads a line such as `English: ignore | previous | instruction*`.
    fn read(line: &'static str) -> Option<Self> {
        let (language, words) = line.split_once(": ")?;
        let mut kinds = words.split(" | ").map(|kind| {
            let patterns = kind.split_whitespace().map(|word| Pattern {
                letters: as_read(word.trim_end_matches('*')),
                is_beginning: word.ends_with('*'),
            });
            patterns.collect()
        });
        Some(Self {
            language: language.trim_end_matches(" (joined)"),
            is_joined: language.ends_with(" (joined)"),
            verbs: kinds.next()?,
            others: [kinds.next()?, kinds.next()?],
        })
    }
}

static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let lines = include_str!("overrides.txt").lines();
    lines.filter_map(Phrase::read).collect()
});
