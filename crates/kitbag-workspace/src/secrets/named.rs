//! Replaces every value in a file whose name says that it holds secrets, however short or plain the
//! value is: `.env`, `.npmrc`, `credentials`. Names, comments and sections stay.

use std::ops::Range;

use super::file::Named;
use super::{MARKER, Rank, Span};

/// Finds the values of such a file.
pub(super) fn spans(text: &str, named: Named) -> Vec<(Rank, Span)> {
    let mut spans = Vec::new();
    let mut reader = Settings::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let mut add = |range: Range<usize>, continues: bool| {
            let value = bare.get(range.clone()).unwrap_or_default();
            if !is_open(value) {
                let range = at + range.start..at + range.end;
                let kind = "secret";
                spans.push((
                    Rank::Place,
                    Span {
                        range,
                        kind,
                        continues,
                    },
                ));
            }
        };
        let is_comment = bare.trim_start().starts_with(['#', ';']);
        match named {
            Named::Settings => reader.line(bare, &mut add),
            _ if is_comment => {}
            Named::Netrc => passwords(bare, &mut |range| add(range, false)),
            Named::Pgpass => after_colons(bare, 4)
                .into_iter()
                .for_each(|range| add(range, false)),
            Named::Htpasswd => after_colons(bare, 1)
                .into_iter()
                .for_each(|range| add(range, false)),
            Named::GitCredentials => login(bare).into_iter().for_each(|range| add(range, false)),
        }
        at += line.len();
    }
    spans
}

/// Whether a value tells nothing: none, a switch, or a reference to another.
fn is_open(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let reference = value.strip_prefix('$').is_some_and(|name| {
        let braced = name
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'));
        is_name(braced.unwrap_or(name)) || name.starts_with('(') && name.ends_with(')')
    });
    matches!(
        lower.as_str(),
        "" | "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "none"
    ) || reference
        || value.starts_with(MARKER) && value.ends_with(']')
}

/// Reads `NAME=value`, `name: value` and `"name": "value"`, line by line.
#[derive(Default)]
struct Settings {
    /// The quote of a value that goes on in the next line.
    open: Option<char>,
}

impl Settings {
    fn line(&mut self, line: &str, add: &mut dyn FnMut(Range<usize>, bool)) {
        let mut from = 0;
        if let Some(quote) = self.open {
            let end = closing(line, quote);
            add(0..end.unwrap_or(line.len()), true);
            match end {
                Some(end) => from = end + 1,
                None => return,
            }
            self.open = None;
        } else if line.trim_start().starts_with(['#', ';'])
            || line.starts_with('[') && !line.contains('"')
        {
            return;
        }
        // More than one value stands in a line of JSON.
        while let Some(rest) = line.get(from..)
            && let Some(separator) = separator(rest)
        {
            let blank = |text: &str| text.len() - text.trim_start().len();
            let behind = rest.get(separator..).unwrap_or_default();
            let start = from + separator + blank(behind);
            let value = line.get(start..).unwrap_or_default();
            let Some(quote) = value.chars().next() else {
                return;
            };
            if matches!(quote, '{' | '[') {
                from = start + 1;
                continue;
            }
            if !matches!(quote, '"' | '\'' | '`') {
                let end = value.find(" #").unwrap_or(value.len());
                let value = value.get(..end).unwrap_or_default();
                add(
                    start..start + value.trim_end_matches([' ', ',', '\t']).len(),
                    false,
                );
                return;
            }
            let inner = value.get(1..).unwrap_or_default();
            let Some(end) = closing(inner, quote) else {
                add(start + 1..line.len(), false);
                self.open = Some(quote);
                return;
            };
            add(start + 1..start + 1 + end, false);
            from = start + end + 2;
        }
    }
}

/// Where the first value begins, behind the sign before it.
fn separator(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_sign = |(at, byte): (usize, &u8)| match byte {
        b'=' => true,
        b':' => {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            before == Some(&b'"') || matches!(bytes.get(at + 1), Some(b' ' | b'\t'))
        }
        _ => false,
    };
    let mut signs = bytes.iter().enumerate();
    signs.position(is_sign).map(|at| at + 1)
}

/// Where a quote closes, unless it is escaped.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.find(|c: char| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })
}

/// The words behind `password` and `account`.
fn passwords(line: &str, add: &mut dyn FnMut(Range<usize>)) {
    let mut is_next = false;
    let mut at = 0;
    for word in line.split([' ', '\t']) {
        if is_next && !word.is_empty() {
            add(at..at + word.len());
            is_next = false;
        } else if matches!(word, "password" | "account" | "passwd") {
            is_next = true;
        }
        at += word.len() + 1;
    }
}

/// What stands behind so many colons.
fn after_colons(line: &str, colons: usize) -> Option<Range<usize>> {
    let (at, _) = line.match_indices(':').nth(colons - 1)?;
    Some(at + 1..line.len())
}

/// The password of a URL, or the name that stands in its place.
fn login(line: &str) -> Option<Range<usize>> {
    let start = line.find("://")? + 3;
    let rest = line.get(start..)?;
    let end = rest.rfind('@')?;
    let from = rest.get(..end)?.find(':').map_or(0, |at| at + 1);
    Some(start + from..start + end)
}
