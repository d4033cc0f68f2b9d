//! Letters without their accents, for people who leave them out.

use alloc::borrow::Cow;
use alloc::string::String;

use unicode_normalization::UnicodeNormalization;

/// A lower-case word with the marks of Latin, Greek and Cyrillic letters taken off.
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

/// The same; a word that has no marks is not copied.
pub(crate) fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return word.into();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.nfd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)) {
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
