//! A light stemmer for English words and the words inside identifiers.
//!
//! It only takes endings off, so that a stem is always the beginning of the word: a scanner can
//! look for stems as they are. Measured on code, stronger stemming brought nothing.

const ENDINGS: [&str; 5] = ["ing", "ies", "ed", "es", "s"];
const SHORTEST_STEM: usize = 4;

/// The stem of a lower-case word.
///
/// ```
/// use kitbag_core::text::stem;
///
/// assert_eq!(stem("redirects"), "redirect");
/// assert_eq!(stem("redirecting"), "redirect");
/// assert_eq!(stem("class"), "class");
/// assert_eq!(stem("uses"), "uses");
/// ```
#[must_use]
pub fn stem(word: &str) -> &str {
    for ending in ENDINGS {
        let Some(rest) = word.strip_suffix(ending) else {
            continue;
        };
        let is_plural = ending != "s" || !rest.ends_with('s');
        if rest.len() >= SHORTEST_STEM && is_plural {
            return rest;
        }
    }
    word
}
