//! Splits a text that is too large for one chunk at its logical boundaries.
//!
//! Knows indentation and blank lines, not languages: units from a real parser come from elsewhere.

use alloc::string::String;
use alloc::vec::Vec;

use crate::tokens::{TokenCounter, Tokens};

/// Splits `text` into parts of at most `max` tokens whose concatenation is the text.
///
/// A part ends, if it can, before an unindented line that follows a blank one, else at a blank
/// line, else before an unindented line, else at a line's end; a line that is too long for a part
/// of its own is cut between characters. A single character is never cut, whatever it costs.
#[must_use]
pub fn split_text(text: &str, max: Tokens, counter: &dyn TokenCounter) -> Vec<String> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        cut_line(line, max, counter, &mut lines);
    }

    let mut parts = Vec::new();
    let mut rest = lines.as_slice();
    while !rest.is_empty() {
        let mut sum = Tokens::ZERO;
        // A single character may cost more than `max`; a part takes at least one line, or this loop
        // would not end.
        let fitting = rest
            .iter()
            .take_while(|line| {
                sum = sum.saturating_add(line.tokens);
                sum <= max
            })
            .count()
            .max(1);
        let mut end = if fitting == rest.len() {
            fitting
        } else {
            best_end(rest, fitting)
        };
        // Lines counted one by one are an upper bound for every vocabulary known, not for every
        // counter that a caller may bring.
        while end > 1 && counter.count(&concat(rest, end)) > max {
            end -= 1;
        }
        parts.push(concat(rest, end));
        rest = rest.get(end..).unwrap_or_default();
    }
    parts
}

/// A line of the text, or a piece of one that is too long, with its count.
struct Line<'t> {
    text: &'t str,
    tokens: Tokens,
}

fn concat(lines: &[Line<'_>], end: usize) -> String {
    lines.iter().take(end).map(|line| line.text).collect()
}

/// Returns the best place to end a part of at most `fitting` lines.
fn best_end(lines: &[Line<'_>], fitting: usize) -> usize {
    let text = |at: usize| lines.get(at).map(|line| line.text);
    let quality = |end: usize| {
        let blank = |at: usize| text(at).is_some_and(|text| text.trim().is_empty());
        let unindented = |at: usize| {
            let first = text(at).and_then(|text| text.chars().next());
            first.is_some_and(|c| !c.is_whitespace())
        };
        match (blank(end.saturating_sub(1)), unindented(end)) {
            (true, true) => 3,
            (true, false) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    };
    // Only the second half is searched: an earlier end would leave most of the part empty.
    let first = (fitting / 2).max(1);
    (first..=fitting)
        .max_by_key(|&end| (quality(end), end))
        .unwrap_or(fitting)
}

/// Cuts a line that is too long into halves until each fits.
fn cut_line<'t>(text: &'t str, max: Tokens, counter: &dyn TokenCounter, out: &mut Vec<Line<'t>>) {
    let characters = text.chars().count();
    let tokens = counter.count(text);
    if characters <= 1 || tokens <= max {
        out.push(Line { text, tokens });
        return;
    }
    let middle = text
        .char_indices()
        .nth(characters / 2)
        .map_or(0, |(at, _)| at);
    let (left, right) = text.split_at(middle);
    cut_line(left, max, counter, out);
    cut_line(right, max, counter, out);
}
