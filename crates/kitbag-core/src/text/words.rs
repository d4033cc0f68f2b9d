//! Identifiers, and the words that they are made of.

use alloc::string::String;

/// Returns the identifiers of a text with their offsets in bytes: runs of letters, digits and `_`.
pub fn identifiers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    runs(text, |c| c.is_alphanumeric() || c == '_')
}

/// Returns the longest runs of certain characters, with their offsets in bytes.
pub(crate) fn runs(text: &str, is_inside: fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let tail = rest.trim_start_matches(|c| !is_inside(c));
        let after = tail.trim_start_matches(is_inside);
        let run = tail.get(..tail.len() - after.len())?;
        rest = after;
        (!run.is_empty()).then_some((text.len() - tail.len(), run))
    })
}

/// Returns the words of an identifier as they stand in it: `HTTPServer_error2` has `HTTP`, `Server`
/// and `error2`.
pub fn sub_words(identifier: &str) -> impl Iterator<Item = &str> {
    let mut rest = identifier;
    core::iter::from_fn(move || {
        rest = rest.trim_start_matches('_');
        let end = first_boundary(rest)?;
        let (word, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(word)
    })
}

/// Returns the end of the first word of `text`; none for an empty text.
fn first_boundary(text: &str) -> Option<usize> {
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        if c == '_' || before.is_some_and(|before| begins_word(before, c, next)) {
            return Some(at);
        }
        before = Some(c);
    }
    (!text.is_empty()).then_some(text.len())
}

/// Tells whether a word begins at `c`: the hump of a camel, or the last capital of an acronym.
fn begins_word(before: char, c: char, next: Option<char>) -> bool {
    c.is_uppercase() && (!before.is_uppercase() || next.is_some_and(char::is_lowercase))
}

/// Tells whether an identifier is made of several words.
#[must_use]
fn is_compound(identifier: &str) -> bool {
    sub_words(identifier).nth(1).is_some()
}

/// A word of a text, lower-cased.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// A word by itself, or one of those that an identifier is made of; stemmed.
    Part(String),
    /// A whole identifier of several words.
    Whole(String),
}

/// Returns the words of a text: those inside identifiers, stemmed, and each compound identifier as
/// a whole.
///
/// ```
/// use kitbag_core::text::{Word, words};
///
/// let found: Vec<Word> = words("calls bulk_create").collect();
/// assert_eq!(found, [
///     Word::Part("call".into()),
///     Word::Part("bulk".into()),
///     Word::Part("create".into()),
///     Word::Whole("bulk_create".into()),
/// ]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = Word> {
    identifiers(text).flat_map(|(_, identifier)| {
        let parts = sub_words(identifier).map(|word| {
            let lower = word.to_lowercase();
            Word::Part(super::stem(&lower).into())
        });
        let whole = is_compound(identifier)
            // Underscores around a name only say who may use it.
            .then(|| Word::Whole(identifier.trim_matches('_').to_lowercase()));
        parts.chain(whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(identifier: &str) -> Vec<&str> {
        sub_words(identifier).collect()
    }

    #[test]
    fn identifiers_are_cut_at_humps_acronyms_and_underscores() {
        assert_eq!(parts("loginRedirect"), ["login", "Redirect"]);
        assert_eq!(parts("HTTPServer_error2"), ["HTTP", "Server", "error2"]);
        assert_eq!(parts("__init__"), ["init"]);
        assert_eq!(parts("UTF8"), ["UTF8"]);
        assert_eq!(parts("_"), Vec::<&str>::new());
    }

    proptest! {
        #[test]
        fn no_letter_is_lost(text in any::<String>()) {
            let found: String = identifiers(&text).flat_map(|(_, id)| sub_words(id)).collect();
            let kept: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
            prop_assert_eq!(found, kept);
        }

        #[test]
        fn offsets_point_at_identifiers(text in any::<String>()) {
            for (at, identifier) in identifiers(&text) {
                prop_assert_eq!(text.get(at..at + identifier.len()), Some(identifier));
            }
        }
    }
}
