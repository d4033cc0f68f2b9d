//! Tells of characters that a person does not see in a prompt, and a model reads: those that turn the
//! direction of the text, and those without a width.

use std::collections::BTreeMap;

use kitbag_core::assembly::Assembly;
use kitbag_core::neutral::one_line;
use kitbag_core::problem::{Problem, ProblemKind};

/// The most sources to name.
const MOST: usize = 3;

/// The problem that sources in a prompt have such characters, all in one line.
pub(super) fn problem(assembly: &Assembly) -> Option<Problem> {
    let mut found: BTreeMap<&str, char> = BTreeMap::new();
    for kept in &assembly.kept {
        // Nearly all text is ASCII, which has no such characters.
        if kept.text.is_ascii() {
            continue;
        }
        if let Some(c) = first_unseen(&kept.text) {
            found.entry(&kept.source).or_insert(c);
        }
    }
    let named = found.iter().take(MOST);
    let named: Vec<String> = named
        .map(|(source, c)| format!("`{}` (U+{:04X})", one_line(source), u32::from(*c)))
        .collect();
    let more = match found.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "characters that nobody sees, or that turn the direction of a text, are in {}{more}: it may \
         read otherwise than it looks",
        named.join(", ")
    );
    (!found.is_empty()).then(|| Problem::new("", ProblemKind::Suspicious, message))
}

/// The first character of a text that hides from a person.
fn first_unseen(text: &str) -> Option<char> {
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // Between letters that need no joiner, and within a word, these two split a name in secret.
        let parts = matches!(c, '\u{ad}' | '\u{200d}');
        let is_plain = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_unseen(c) || parts && is_plain(before) && is_plain(chars.peek().copied()) {
            return Some(c);
        }
        before = Some(c);
    }
    None
}

/// Tells a character that hides from a person who reads code. Joiners and variants of emoji, and the marks
/// of scripts that need them, are seen by what they do.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{61c}'
            | '\u{2060}'..='\u{2064}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
