//! The check that a summary is about its sources.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::score::telling_words;

/// One in this many telling words of a summary must stand in its sources.
const ONE_OF: usize = 3;
/// The least number of such words: a word or two can be a coincidence.
const LEAST: usize = 3;

/// Tells whether at least a third of a summary's telling words, and three of them, stand in its
/// sources. A model that answers something else, refuses or talks about itself does not pass.
///
/// ```
/// use kitbag_core::summarize::is_grounded;
///
/// let said = ["We meet on Friday at Nora's.", "Bring the red folder."];
/// assert!(is_grounded("They meet on Friday at Nora's; the folder comes along.", said));
/// assert!(!is_grounded("I cannot help with requests of this kind.", said));
/// ```
#[must_use]
pub fn is_grounded<'t>(summary: &str, texts: impl IntoIterator<Item = &'t str>) -> bool {
    let said: BTreeSet<String> = texts.into_iter().flat_map(terms).collect();
    let told: BTreeSet<String> = terms(summary).into_iter().collect();
    let known = told.iter().filter(|term| said.contains(*term)).count();
    known >= LEAST && known.saturating_mul(ONE_OF) >= told.len()
}

/// Returns the telling words of a text; in scripts without spaces, each pair of neighbouring
/// characters.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for word in telling_words(text) {
        // From here on Unicode has the scripts of East Asia.
        if !word.contains(|c| c >= '\u{2E80}') {
            terms.push(word);
            continue;
        }
        let chars: Vec<char> = word.chars().collect();
        // A run without spaces is a whole clause, and seldom comes again as it is.
        let pairs = chars.windows(2).map(|pair| pair.iter().collect());
        terms.extend(pairs);
        if let [alone] = chars.as_slice() {
            terms.push(alone.to_string());
        }
    }
    terms
}
