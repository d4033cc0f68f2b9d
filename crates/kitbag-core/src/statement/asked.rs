//! The facts about a person that a question asks for.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::lexer::{Word, sentences};
use crate::text::{Language, fold};

/// The facts that a question asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FactQuestion {
    /// Set if everything is asked for: `What do you know about me?`
    pub everything: bool,
    /// The keys that it names, whole or up to a `/`.
    pub keys: Vec<String>,
    /// Its words, folded.
    words: Vec<String>,
    /// Those of them that say something about a topic.
    topics: Vec<String>,
}

/// Shorter words stand in others by chance.
const SHORTEST: usize = 4;
/// The most letters by which forms of one word differ at their end.
const ENDING: usize = 3;

impl FactQuestion {
    pub(super) fn of_words<'w>(words: impl Iterator<Item = &'w Word<'w>>) -> Self {
        let words: Vec<String> = words.map(|word| word.folded.to_string()).collect();
        let languages = Language::likeliest(&words);
        let is_topic = |word: &&String| {
            let is_grammar = |language: &Language| language.is_stop_word(word);
            word.chars().count() >= SHORTEST && !languages.iter().any(is_grammar)
        };
        Self {
            topics: words.iter().filter(is_topic).cloned().collect(),
            words,
            ..Self::default()
        }
    }

    pub(super) fn add_key(&mut self, key: String) {
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
    }

    /// Returns the relevance of a fact to the question, in thousandths: all if its key is asked
    /// for, less if they share a word. A fact about a person with a name counts only if the
    /// question has that name.
    #[must_use]
    pub fn relevance(&self, key: &str, value: &str, speaker: Option<&str>) -> u32 {
        let mut key = key;
        if let Some(name) = speaker {
            if !self.names(name) {
                return 0;
            }
            let rest = key
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('/'));
            key = rest.unwrap_or(key);
        }
        let is_asked = |asked: &String| {
            let rest = key.strip_prefix(asked.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.keys.iter().any(is_asked) {
            return 1000;
        }
        let shares =
            |text: &str| words(text).any(|word| self.topics.iter().any(|one| is_form(one, &word)));
        if shares(key) || shares(value) {
            return 400;
        }
        // Everything is asked for, but this fact no more than others.
        if self.everything { 200 } else { 0 }
    }

    fn names(&self, name: &str) -> bool {
        words(name).any(|part| {
            self.words
                .iter()
                // "Anna's job" names Anna.
                .any(|word| *word == part || *word == alloc::format!("{part}'s"))
        })
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let sentences = sentences(text).into_iter();
    let words = sentences.flat_map(|sentence| sentence.words);
    let parts = words.flat_map(|word| {
        let parts = word.folded.split(|c: char| !c.is_alphanumeric());
        parts.map(fold).collect::<Vec<String>>()
    });
    parts.filter(|part| !part.is_empty())
}

/// Tells whether two words are forms of one: they begin alike, and one of them ends there or soon
/// after.
fn is_form(word: &str, other: &str) -> bool {
    let (short, long) = if word.len() <= other.len() {
        (word, other)
    } else {
        (other, word)
    };
    word == other
        || (short.chars().count() >= SHORTEST
            && long.starts_with(short)
            && long.len() - short.len() <= ENDING)
}
