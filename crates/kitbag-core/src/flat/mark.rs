//! Finds lines that read as a mark of the flat prompt, and puts a backslash before them.
//!
//! Lenient on purpose: what a model could take for a heading counts, not only what the parser
//! would. Lines end at every character that is shown as a line break.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::neutral::{change_slashes, is_blank, is_line_break};

/// The beginning of the line above a fenced source.
pub(super) const SOURCE: &str = "[Source ";

/// The names that may not follow an opening bracket at the beginning of a line, and the place of
/// the bracket that closes it.
const MARKS: [(&str, Closed); 4] = [
    ("system", Closed::Directly),
    ("user", Closed::Directly),
    ("assistant", Closed::Directly),
    // The name of the source stands between this word and the bracket.
    ("source", Closed::Later),
];

#[derive(Clone, Copy, PartialEq)]
enum Closed {
    Directly,
    Later,
}

/// Puts a backslash before every mark that begins a line of `text`.
#[must_use]
pub fn neutralise(text: &str) -> Cow<'_, str> {
    change_slashes(text, begins_with_mark, |slashes| slashes + 1)
}

/// Takes off the backslashes that [`neutralise`] put on.
#[must_use]
pub fn restore(text: &str) -> Cow<'_, str> {
    change_slashes(text, begins_with_mark, |slashes| slashes.saturating_sub(1))
}

fn begins_with_mark(text: &str) -> bool {
    let mut letters = text
        .chars()
        .take_while(|&c| !is_line_break(c))
        // A model reads over invisible characters.
        .filter(|&c| !is_blank(c))
        .map(plain_letter);
    if !letters.next().is_some_and(is_open) {
        return false;
    }
    let name: String = letters
        .clone()
        .take_while(|c| c.is_alphanumeric())
        .collect();
    MARKS.iter().any(|&(mark, closed)| match closed {
        Closed::Directly => name == mark && letters.clone().nth(mark.len()).is_some_and(is_close),
        Closed::Later => name.starts_with(mark),
    })
}

fn is_open(c: char) -> bool {
    matches!(c, '[' | '［' | '【' | '〔' | '〖' | '⁅' | '❲' | '⟦')
}

fn is_close(c: char) -> bool {
    matches!(c, ']' | '］' | '】' | '〕' | '〗' | '⁆' | '❳' | '⟧')
}

/// Returns the lower-case ASCII letter that a letter looks like, else the letter itself.
fn plain_letter(c: char) -> char {
    let c = match c {
        'Ａ'..='Ｚ' | 'ａ'..='ｚ' => u32::from(c)
            .checked_sub(0xfee0)
            .and_then(char::from_u32)
            .unwrap_or(c),
        // Cyrillic and Greek letters with the shape of a letter in one of the marks.
        'А' | 'а' | 'Α' | 'α' => 'a',
        'С' | 'с' => 'c',
        'Е' | 'е' | 'Ε' => 'e',
        'І' | 'і' | 'Ι' | 'ı' => 'i',
        'М' | 'м' | 'Μ' => 'm',
        'О' | 'о' | 'Ο' | 'ο' => 'o',
        'г' => 'r',
        'Ѕ' | 'ѕ' => 's',
        'Т' | 'т' | 'Τ' => 't',
        'У' | 'у' | 'Υ' => 'y',
        'Ν' | 'п' => 'n',
        'υ' | 'ц' => 'u',
        _ => c,
    };
    c.to_ascii_lowercase()
}
