//! Folding: letters without their accents, for people who leave them out.

use alloc::borrow::Cow;
use alloc::string::String;

use unicode_normalization::UnicodeNormalization;

/// Takes the marks off the Latin, Greek and Cyrillic letters of a lower-case word.
///
/// ```
/// use kitbag_core::text::fold;
///
/// assert_eq!(fold("crème brûlée"), "creme brulee");
/// assert_eq!(fold("straße"), "strasse");
/// assert_eq!(fold("日本語"), "日本語");
/// ```
#[must_use]
pub fn fold(word: &str) -> String {
    folded(word).into_owned()
}

/// Does the same without copying an ASCII word.
pub(crate) fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return word.into();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.nfd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)) {
        // Letters that Unicode does not decompose.
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            _ => folded.push(c),
        }
    }
    // Korean syllables and marks of other scripts are put together again.
    folded.nfc().collect()
}
