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
    // Most texts are code, and to split bytes takes a fraction of the time.
    if text.is_ascii() {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        for word in text.as_bytes().split(|byte| !is_part(byte)) {
            if missing.is_empty() {
                break;
            }
            let word = without_hyphens(word);
            let is_it = |keyword: &&String| keyword.as_bytes().eq_ignore_ascii_case(word);
            if let Some(at) = missing.iter().position(is_it) {
                found.push(missing.swap_remove(at));
            }
        }
        return found;
    }
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

fn without_hyphens(mut word: &[u8]) -> &[u8] {
    while let [b'-', rest @ ..] | [rest @ .., b'-'] = word {
        word = rest;
    }
    word
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_ascii_mentions_the_same_words_as_one_with_other_letters() {
        let keywords = keywords("the Bulk_create of caf\u{e9} drops batch-size and x-ray");
        for text in [
            "def bulk_create(batch-size): -batch-size-",
            "BULK_CREATE --x-ray--",
            "bulk create, batch_size, xray",
            "",
        ] {
            let other = format!("{text} \u{2013}");
            assert_eq!(mentioned(&keywords, text), mentioned(&keywords, &other));
        }
        assert_eq!(mentioned(&keywords, "-X-RAY- bulk_create.").len(), 2);
    }
}
