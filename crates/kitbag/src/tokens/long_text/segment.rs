//! Cuts a text where no piece of any vocabulary's pattern crosses.
//!
//! In every pattern, white space other than line ends stands only at the beginning of a piece or in a
//! piece of white space alone, and line ends follow punctuation, perhaps with slashes among them, or
//! end a piece of white space that reaches to the last line end of the run. No pattern looks behind,
//! and only pieces of white space look ahead. So it is safe to cut
//!
//! - between a character that is not white space and white space that is not a line end;
//! - after the last line end of a run of white space, unless a slash follows directly.
//!
//! Each piece that makes the tokenizer look at all the rest, a piece of white space that does not end
//! its line, begins at such a place: with short segments it never looks far.

use super::super::char_class::is_line_end;

/// Splits at the first safe place from `target` on, or at the end.
pub(super) fn split_off(text: &str, target: usize) -> (&str, &str) {
    let start = text.floor_char_boundary(target);
    let (_, tail) = text.split_at_checked(start).unwrap_or((text, ""));
    let mut previous = None;
    for (offset, next) in tail.char_indices() {
        let safe = previous.is_some_and(|previous| {
            let rest = tail.get(offset..).unwrap_or_default();
            is_safe(previous, next, rest)
        });
        if safe {
            return text.split_at_checked(start + offset).unwrap_or((text, ""));
        }
        previous = Some(next);
    }
    (text, "")
}

/// Whether no piece reaches from `previous` to `next`, with which `rest` begins.
fn is_safe(previous: char, next: char, rest: &str) -> bool {
    if is_line_end(previous) {
        let mut white = rest.chars().take_while(|c| c.is_whitespace());
        next != '/' && !white.any(is_line_end)
    } else {
        !previous.is_whitespace() && next.is_whitespace() && !is_line_end(next)
    }
}
