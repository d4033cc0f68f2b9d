//! Shows invisible characters by their number.

use std::borrow::Cow;

use super::looks::{is_hidden, is_joiner};

/// The most joiners in a row: a picture of several parts needs two. Longer runs carry a message of
/// their own.
const LONGEST_RUN: usize = 2;

pub(super) fn show(text: &str) -> Cow<'_, str> {
    if !text.contains(|char| is_hidden(char) || is_joiner(char)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let behind = rest.trim_start_matches(is_joiner);
        if behind.len() == rest.len() {
            push(&mut shown, char, is_hidden(char));
            rest = rest.get(char.len_utf8()..).unwrap_or_default();
            continue;
        }
        let run = rest.strip_suffix(behind).unwrap_or(rest);
        // From the result: a character shown by its number has become plain.
        let before = shown.chars().next_back();
        let hides = is_plain(before) && is_plain(behind.chars().next());
        let is_shown = hides || run.chars().count() > LONGEST_RUN;
        for char in run.chars() {
            push(&mut shown, char, is_shown);
        }
        rest = behind;
    }
    Cow::Owned(shown)
}

/// Returns true if this neighbour of a joiner needs none. A character that is shown by its number
/// ends in a bracket, which is plain.
fn is_plain(neighbour: Option<char>) -> bool {
    neighbour.is_none_or(|char| char.is_ascii() || is_hidden(char))
}

fn push(shown: &mut String, char: char, by_number: bool) {
    match by_number {
        true => shown.push_str(&format!("[U+{:04X}]", u32::from(char))),
        false => shown.push(char),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn o05_what_hides_between_letters_is_shown() {
        for (text, expected) in [
            ("ig\u{200b}nore", "ig[U+200B]nore"),
            ("\u{feff}System", "[U+FEFF]System"),
            ("a\u{2060}\u{200d}b", "a[U+2060][U+200D]b"),
            ("x\u{e0068}\u{e0069}", "x[U+E0068][U+E0069]"),
            (
                "😀\u{e0100}\u{e0101}\u{e0102}",
                "😀[U+E0100][U+E0101][U+E0102]",
            ),
            ("\u{202e}\u{200b}é", "[U+202E]\u{200b}é"),
        ] {
            assert_eq!(show(text), expected);
        }
    }

    #[test]
    fn o05_ordinary_text_keeps_its_joiners() {
        for text in [
            "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "שלום\u{200f}!",
            "ខ្មែរ\u{200b}ភាសា",
        ] {
            assert_eq!(show(text), text);
        }
    }

    proptest! {
        #[test]
        fn o05_shown_text_is_not_changed_again(
            text in "[a é😀\u{200b}\u{200d}\u{fe0f}\u{202e}\u{e0041}\u{1b}]{0,12}"
        ) {
            let once = show(&text).into_owned();
            prop_assert_eq!(show(&once).into_owned(), once.clone());
            prop_assert!(!once.contains(is_hidden));
        }
    }
}
