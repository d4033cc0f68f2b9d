//! The words of requests, paths and texts, as far as the scores need them. Stems, n-grams
//! and statistics belong to retrieval, not here.

use alloc::string::String;
use alloc::vec::Vec;

/// Path words of files about errors.
pub(super) const ERRORS: &str = "error errors exception exceptions fault failure panic traceback \
crash log";

/// Path words of tests and what they use.
pub(super) const TESTS: &str = "test tests testing spec specs fixture fixtures mock conftest";

/// Words that say nothing about what a request is about.
const STOP_WORDS: &str = "add all and any are build but can change code create does fix for from \
get has have how implement into its make need new not one our out please refactor should some \
test that the them then there this update use was what when why with write";

/// Tells whether a list, with blanks between its words, has this one.
pub(super) fn is_one_of(word: &str, list: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Returns the first ten words of a request that can name something.
pub(super) fn keywords(request: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in identifiers(request) {
        let word = word.to_lowercase();
        // Shorter words are in every text.
        if word.chars().count() > 2 && !is_one_of(&word, STOP_WORDS) && !found.contains(&word) {
            found.push(word);
            if found.len() == 10 {
                break;
            }
        }
    }
    found
}

/// Returns the keywords, all lower-case, that are words of the text in any case.
pub(super) fn mentioned<'k>(keywords: &'k [String], text: &str) -> Vec<&'k String> {
    // A keyword is dropped at its first hit: a long text costs little once all are found.
    let mut missing: Vec<&String> = keywords.iter().collect();
    let mut found = Vec::new();
    for word in identifiers(text) {
        if missing.is_empty() {
            break;
        }
        let is_ascii = word.is_ascii();
        let is_it = |keyword: &&String| match is_ascii {
            true => keyword.eq_ignore_ascii_case(word),
            false => keyword
                .chars()
                .eq(word.chars().flat_map(char::to_lowercase)),
        };
        if let Some(at) = missing.iter().position(is_it) {
            found.push(missing.swap_remove(at));
        }
    }
    found
}

/// The words of a path, lower-cased: `src/error_log.rs` has `src`, `error`, `log` and `rs`.
pub(super) fn of_path(path: &str) -> impl Iterator<Item = String> {
    path.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// The file name without its extension, lower-cased.
pub(super) fn stem_of(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.split('.').next().unwrap_or(name).to_lowercase()
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
        .map(|word| word.trim_matches('-'))
        .filter(|word| !word.is_empty())
}
