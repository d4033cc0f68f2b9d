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
//! - between a letter and what is neither letter, mark, number, white space nor an apostrophe, and
//!   between letters and numbers. Some patterns put Chinese and Japanese signs in one piece with
//!   letters, so these do not count as such;
//! - for a vocabulary that parts them, between a sign and a format character.
//!
//! Each piece that makes the tokenizer look at all the rest, a piece of white space that does not end
//! its line, begins at such a place: with short segments it never looks far. Where it falls back to a
//! slow search, that takes time in proportion to the segment for every piece of it.

use std::sync::LazyLock;

use regex::Regex;

use super::super::char_class::{FormatChars, is_line_end};

/// Splits at the first safe place from `target` on, or at the end.
pub(super) fn split_off(text: &str, target: usize, format: FormatChars) -> (&str, &str) {
    if text.len() <= target {
        return (text, "");
    }
    let start = text.floor_char_boundary(target);
    let (_, tail) = text.split_at_checked(start).unwrap_or((text, ""));
    let ends = match format {
        FormatChars::Together => &WORD_END,
        FormatChars::Apart => &WORD_OR_SIGN_END,
    };
    // The next place of one kind may be near and that of the other far away: neither search goes further
    // than twice the distance of the nearer one.
    let mut window = WINDOW;
    loop {
        let near = tail.floor_char_boundary(window);
        let white = first_white(tail, near);
        let before = tail.get(..white.unwrap_or(near)).unwrap_or_default();
        // White space alone is not enough: 2 MB of `é1` took minutes with `deepseek_v3`, and take 0.3 s with
        // cuts at words.
        let word = ends.find(before).map(|found| {
            // The match also covers the character after the cut, so the cut is after its first character.
            let first = found.as_str().chars().next();
            found.start() + first.map_or(0, char::len_utf8)
        });
        if let Some(cut) = word.or(white) {
            return text.split_at_checked(start + cut).unwrap_or((text, ""));
        }
        if near == tail.len() {
            return (text, "");
        }
        window *= 2;
    }
}

/// The length of the first search. It doubles until a place is found: most texts have one near.
const WINDOW: usize = 256;

/// The first safe place at white space among the first `near` bytes.
fn first_white(tail: &str, near: usize) -> Option<usize> {
    let mut previous = None;
    for (offset, next) in tail.char_indices().take_while(|&(offset, _)| offset < near) {
        let rest = tail.get(offset..).unwrap_or_default();
        if previous.is_some_and(|previous| is_safe(previous, next, rest)) {
            return Some(offset);
        }
        previous = Some(next);
    }
    None
}

/// The end of a word or a number, and the character after it.
static WORD_END: LazyLock<Regex> = LazyLock::new(|| word_end(""));

/// The same, or the end of a sign and the format character after it.
static WORD_OR_SIGN_END: LazyLock<Regex> = LazyLock::new(|| word_end(r"|[\p{P}\p{S}]\p{Cf}"));

#[expect(clippy::expect_used, reason = "the pattern is part of the program")]
fn word_end(or: &str) -> Regex {
    let sign = r"[^\p{L}\p{M}\p{N}\s'\p{Han}\x{3040}-\x{30FF}]";
    let pattern = format!(r"\p{{L}}{sign}|\p{{L}}\p{{N}}|\p{{N}}\p{{L}}{or}");
    Regex::new(&pattern).expect("a valid pattern")
}

/// Tells whether no piece crosses from `previous` to `next`, the first character of `rest`.
fn is_safe(previous: char, next: char, rest: &str) -> bool {
    if is_line_end(previous) {
        is_cut_after_line_end(rest)
    } else {
        !previous.is_whitespace() && next.is_whitespace() && !is_line_end(next)
    }
}

/// Tells whether no piece crosses from a line end into `rest`, which follows it.
pub(in super::super) fn is_cut_after_line_end(rest: &str) -> bool {
    // A later line end in the same white space would belong to the same piece.
    let mut white = rest.chars().take_while(|c| c.is_whitespace());
    !rest.starts_with('/') && !white.any(is_line_end)
}
