//! A light stemmer for English words and the words inside identifiers.
//!
//! It only takes endings off, so that a stem is always the beginning of the word: a scanner can
//! look for stems as they are. Measured on code, stronger stemming brought nothing.

const ENDINGS: [&str; 5] = ["ing", "ies", "ed", "es", "s"];
const SHORTEST_STEM: usize = 4;

/// Returns the stem of a lower-case word.
///
/// ```
/// use kitbag_core::text::stem;
///
/// assert_eq!(stem("redirects"), "redirect");
/// assert_eq!(stem("settings"), stem("setting"));
/// assert_eq!(stem("class"), "class");
/// assert_eq!(stem("uses"), "uses");
/// ```
#[must_use]
pub fn stem(word: &str) -> &str {
    let mut stem = word;
    // Again and again, so that `setting` and `settings` meet.
    while let Some(shorter) = without_ending(stem) {
        stem = shorter;
    }
    stem
}

fn without_ending(word: &str) -> Option<&str> {
    ENDINGS.into_iter().find_map(|ending| {
        let rest = word.strip_suffix(ending)?;
        let is_double = ending == "s" && rest.ends_with('s');
        (rest.len() >= SHORTEST_STEM && !is_double).then_some(rest)
    })
}
