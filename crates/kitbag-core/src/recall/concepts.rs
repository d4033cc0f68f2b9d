//! Words that ask for the same thing: who asks for an occupation is answered with a job.

use alloc::string::String;
use alloc::vec::Vec;

use crate::text::{Language, Token, word_list};

/// The concepts one after the other: the name with a colon, then for each language its code and its words,
/// those that tell most first; languages are parted by `|`.
static CONCEPTS: [&str; 862] = word_list(include_str!("concepts.txt"));
/// So many words of the query's own language stand for one of them, and so many of each other.
const OF_OWN: usize = 4;
const OF_OTHERS: usize = 2;
/// Each further term is looked up, so a query gets no more than this.
pub(super) const MOST: usize = 16;

/// The concept that refuses what the concept of liking says.
const LIKE: &str = "like";
const DISLIKE: &str = "dislike";

/// A word of a query with its terms.
pub(super) type Sought<'q> = (&'q Token<'q>, &'q [String]);

/// Further terms for each word of a query, those of its own language first. In a text that denies, a word of
/// liking stands for dislike.
pub(super) fn related(query: &[Sought<'_>], is_denied: bool) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = query.iter().map(|_| Vec::new()).collect();
    for (at, concept, own) in concepts_of(query) {
        let (Some((_, terms)), Some(found)) = (query.get(at), found.get_mut(at)) else {
            continue;
        };
        let meant = match concept {
            LIKE if is_denied => DISLIKE,
            _ => concept,
        };
        let mut others: Vec<&Entry> = Vec::new();
        let entries: Vec<Entry> = entries().filter(|entry| entry.concept == meant).collect();
        others.extend(entries.iter().filter(|entry| entry.code == own));
        others.extend(entries.iter().filter(|entry| entry.code != own));
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

/// The concepts of the words of a query: the number of the word, the concept, and the first language in which it has the
/// word.
fn concepts_of(query: &[Sought<'_>]) -> Vec<(usize, &'static str, &'static str)> {
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

/// A bit for the first byte of a word; several bytes share one.
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
    /// The term under which the word is kept.
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
