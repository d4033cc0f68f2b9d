//! Tells of characters that a person does not see in a prompt, and a model reads: those that turn the
//! direction of the text, and those without a width.

use std::collections::BTreeMap;

use kitbag_core::assembly::Assembly;
use kitbag_core::problem::{Problem, ProblemKind};

/// So many sources are named.
const MOST: usize = 3;

/// The problem that sources in a prompt have such characters, all in one line.
pub(super) fn problem(assembly: &Assembly) -> Option<Problem> {
    let mut found: BTreeMap<&str, char> = BTreeMap::new();
    for kept in &assembly.kept {
        // Nearly all text is ASCII, where there is none.
        let mut seldom = kept.text.chars().filter(|c| !c.is_ascii());
        if let Some(c) = seldom.find(|c| is_unseen(*c)) {
            found.entry(&kept.source).or_insert(c);
        }
    }
    let named = found.iter().take(MOST);
    let named: Vec<String> = named
        .map(|(source, c)| format!("`{source}` (U+{:04X})", u32::from(*c)))
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
