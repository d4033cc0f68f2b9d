//! Words that ask for the same thing: who asks for an occupation is answered with a job.

use alloc::string::String;
use alloc::vec::Vec;

use crate::text::{Language, Token};

/// A concept a line, with its words by language, those that tell most first.
const CONCEPTS: &str = include_str!("concepts.txt");
/// So many words of the query's own language stand for one of them, and so many of each other.
const OF_OWN: usize = 4;
const OF_OTHERS: usize = 2;
/// Each further term is looked up, so a query gets no more than this.
pub(super) const MOST: usize = 16;

/// The concept that refuses what the concept of liking says.
const LIKE: &str = "like";
const DISLIKE: &str = "dislike";

/// Further terms for a word of a query, which has these `terms`, those of its own language first. In a
/// text that denies, a word of liking stands for dislike.
pub(super) fn related(token: &Token, terms: &[String], is_denied: bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (name, words) in concepts() {
        let Some(own) = language_that_has(words, token, terms) else {
            continue;
        };
        let meant = match name {
            LIKE if is_denied => DISLIKE,
            _ => name,
        };
        let words = concepts().filter(|(name, _)| *name == meant);
        let mut words: Vec<(&str, &str)> =
            words.flat_map(|(_, words)| by_language(words)).collect();
        words.sort_by_key(|(code, _)| *code != own);
        for (code, words) in words {
            let most = if code == own { OF_OWN } else { OF_OTHERS };
            let others = words.split(' ').map(|word| term(code, word));
            let others = others.filter(|term| !terms.contains(term));
            found.extend(others.take(most));
        }
    }
    found
}

fn concepts() -> impl Iterator<Item = (&'static str, &'static str)> {
    CONCEPTS.lines().filter_map(|line| line.split_once(": "))
}

/// The language in which a concept has the word.
fn language_that_has<'w>(words: &'w str, token: &Token, terms: &[String]) -> Option<&'w str> {
    let has = |(code, words): &(&str, &str)| {
        words.split(' ').any(|word| {
            // A stem costs more than a look at the first letters.
            let begins_alike = word.bytes().take(2).eq(token.word.bytes().take(2));
            match language(code) {
                Some(_) => begins_alike && terms.contains(&term(code, word)),
                None => terms.iter().any(|term| term == word),
            }
        })
    };
    by_language(words).find(has).map(|(code, _)| code)
}

fn by_language(words: &str) -> impl Iterator<Item = (&str, &str)> {
    words.split(" | ").filter_map(|part| part.split_once(' '))
}

/// The term under which a word is kept.
fn term(code: &str, word: &str) -> String {
    language(code).map_or_else(|| word.into(), |language| language.stem(word))
}

fn language(code: &str) -> Option<Language> {
    Some(match code {
        "en" => Language::English,
        "de" => Language::German,
        "fr" => Language::French,
        "es" => Language::Spanish,
        "it" => Language::Italian,
        "pt" => Language::Portuguese,
        _ => return None,
    })
}
