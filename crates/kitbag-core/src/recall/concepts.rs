//! Words that ask for the same thing: a question about an occupation is answered with a job.

use alloc::string::String;
use alloc::vec::Vec;

use crate::text::{Language, Token, word_list};

/// The concepts one after the other: the name with a colon, then for each language its code and its
/// words, the most telling first; languages are separated by `|`.
static CONCEPTS: [&str; 862] = word_list(include_str!("concepts.txt"));
/// The number of words that stand for a word of the query, in its own language and in each other.
const OF_OWN: usize = 4;
const OF_OTHERS: usize = 2;
/// The most related terms of a query, since each of them is looked up.
pub(super) const MOST_RELATED: usize = 16;

/// The concept of liking, and its opposite.
const LIKE: &str = "like";
const DISLIKE: &str = "dislike";

/// A word of a query with its terms.
pub(super) type WordTerms<'q> = (&'q Token<'q>, &'q [String]);

/// Returns further terms for each word of a query, those of its own language first. In a text that
/// denies, a word of liking means dislike.
pub(super) fn related(query: &[WordTerms<'_>], is_denied: bool) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = query.iter().map(|_| Vec::new()).collect();
    for (at, concept, own) in concepts_of(query) {
        let (Some((_, terms)), Some(found)) = (query.get(at), found.get_mut(at)) else {
            continue;
        };
        // "What do I not like?" is answered by a word of dislike.
        let meant = match concept {
            LIKE if is_denied => DISLIKE,
            _ => concept,
        };
        let mut others: Vec<&Entry> = Vec::new();
        let entries: Vec<Entry> = entries().filter(|entry| entry.concept == meant).collect();
        others.extend(entries.iter().filter(|entry| entry.code == own));
        others.extend(entries.iter().filter(|entry| entry.code != own));
        // The words of a language are next to each other in the data.
        for of_language in others.chunk_by(|one, next| one.code == next.code) {
            let most = match of_language.first() {
                Some(entry) if entry.code == own => OF_OWN,
                _ => OF_OTHERS,
            };
            let others = of_language.iter().map(|entry| entry.term());
            found.extend(others.filter(|term| !terms.contains(term)).take(most));
        }
    }
    found
}

/// Finds the concepts of a query's words: the number of the word, the concept, and the first
/// language in which the concept has the word.
fn concepts_of(query: &[WordTerms<'_>]) -> Vec<(usize, &'static str, &'static str)> {
    let beginnings: Vec<[Option<u8>; 2]> = query
        .iter()
        .map(|(token, _)| beginning(&token.word))
        .collect();
    // Most words of the data begin unlike all words of the query, which one bit tells.
    let firsts = query.iter().flat_map(|(token, terms)| {
        let terms = terms.iter().map(String::as_str);
        terms.chain([token.word.as_ref()])
    });
    let firsts = firsts.fold(0, |bits, word| bits | first_bit(word));
    let mut found: Vec<(usize, &str, &str)> = Vec::new();
    for entry in entries().filter(|entry| firsts & first_bit(entry.word) != 0) {
        let begins = beginning(entry.word);
        let is_stemmed = language(entry.code).is_some();
        for (at, ((_, terms), beginning)) in query.iter().zip(&beginnings).enumerate() {
            // A stem costs more than a look at the first letters.
            let is_it = match is_stemmed {
                true => begins == *beginning && terms.contains(&entry.term()),
                false => terms.iter().any(|term| term == entry.word),
            };
            let is_known = || {
                let mut same = found.iter().rev();
                same.any(|(number, concept, _)| (*number, *concept) == (at, entry.concept))
            };
            if is_it && !is_known() {
                found.push((at, entry.concept, entry.code));
            }
        }
    }
    found
}

fn beginning(word: &str) -> [Option<u8>; 2] {
    let mut bytes = word.bytes();
    [bytes.next(), bytes.next()]
}

/// Returns a bit for the first byte of a word; several bytes share one.
fn first_bit(word: &str) -> u64 {
    word.bytes().next().map_or(0, |byte| 1 << (byte % 64))
}

/// A word of a concept in a language.
struct Entry {
    concept: &'static str,
    code: &'static str,
    word: &'static str,
}

impl Entry {
    /// Returns the term under which the word is indexed.
    fn term(&self) -> String {
        language(self.code).map_or_else(|| self.word.into(), |language| language.stem(self.word))
    }
}

fn entries() -> impl Iterator<Item = Entry> {
    let (mut concept, mut code) = ("", None);
    CONCEPTS.iter().filter_map(move |&word| {
        if let Some(name) = word.strip_suffix(':') {
            (concept, code) = (name, None);
        } else if word == "|" {
            code = None;
        } else if let Some(code) = code {
            return Some(Entry {
                concept,
                code,
                word,
            });
        } else {
            code = Some(word);
        }
        None
    })
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
