//! Recognises tokens by the formats that their vendors publish.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::{Rank, Span, checksum, value};

/// All formats. If two match the same text, the first one names it.
pub(super) static TOKENS: LazyLock<Vec<Token>> =
    LazyLock::new(|| VENDORS.lines().filter_map(Token::read).collect());

/// The table explains its columns itself.
pub(super) const VENDORS: &str = include_str!("vendors.txt");

/// The format of one kind of token.
pub(super) struct Token {
    /// The name in the marker.
    pub(super) kind: &'static str,
    /// The parts of which every such token has one, in this spelling.
    pub(super) keywords: Vec<&'static str>,
    /// The whole token, from its first character on. If there is a group, only that is secret.
    pattern: &'static str,
    /// The most characters in front of the keyword.
    lead: usize,
    /// True if a checksum over the random part, which follows the keyword, proves the token.
    sum: bool,
    /// The pattern, compiled at the first hit of its keyword: most never are.
    regex: OnceLock<Option<Regex>>,
}

impl Token {
    /// Reads a line of the table; none if it is a comment.
    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.split_whitespace();
        let kind = columns.next().filter(|kind| !kind.starts_with('#'))?;
        let (keywords, pattern) = (columns.next()?, columns.next()?);
        let last = columns.next();
        Some(Self {
            kind,
            keywords: keywords.split(',').collect(),
            pattern,
            lead: last.and_then(|lead| lead.parse().ok()).unwrap_or(0),
            sum: last == Some("sum"),
            regex: OnceLock::new(),
        })
    }

    pub(super) fn regex(&self) -> Option<&Regex> {
        // Anchored, since the place is known, and without Unicode, since tokens are ASCII.
        let compile = || Regex::new(&format!("^(?-u:{})", self.pattern)).ok();
        self.regex.get_or_init(compile).as_ref()
    }

    /// Finds the token whose keyword is at this place.
    pub(super) fn at(&self, rank: Rank, text: &str, keyword: Range<usize>) -> Option<Span> {
        let written = text.get(keyword.clone())?;
        // The search ignores case, but the format does not.
        if !self.keywords.contains(&written) {
            return None;
        }
        let start = self.start(text, keyword.start);
        if !begins_here(text, start) || self.is_joined(text, start) {
            return None;
        }
        let window = value::window(text, start, WINDOW);
        let captures = self.regex()?.captures(window)?;
        let whole = captures.get(0)?;
        if window
            .get(whole.end()..)?
            // A longer word is no token of this format.
            .starts_with(|next: char| next.is_ascii_alphanumeric())
        {
            return None;
        }
        let secret = captures.get(1).unwrap_or(whole);
        // A genuine token may contain a word such as `test` by chance.
        let proven = self.sum && checksum::holds(whole.as_str().get(written.len()..)?);
        if !proven && value::is_stand_in(secret.as_str()) {
            return None;
        }
        let range = start + secret.start()..start + secret.end();
        Some(Span::new(rank, range, self.kind))
    }

    /// Returns true if it is joined to text in front of it. A prefix that ends in a sign, such as
    /// `ghp_`, is recognised even behind another sign; a prefix of letters only is not.
    fn is_joined(&self, text: &str, start: usize) -> bool {
        let before = text.as_bytes().get(..start).and_then(<[u8]>::last);
        let letters = self
            .keywords
            .iter()
            .all(|word| word.ends_with(|c: char| c.is_ascii_alphanumeric()));
        match before {
            Some(b'-') => true,
            Some(b'_') => letters,
            _ => false,
        }
    }

    fn start(&self, text: &str, keyword: usize) -> usize {
        let before = text.as_bytes().get(..keyword).unwrap_or_default();
        let led = before.iter().rev().take(self.lead);
        keyword - led.take_while(|byte| is_word(**byte)).count()
    }
}

/// Longer than any token; encoded private keys come nearest.
const WINDOW: usize = 16 * 1024;

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'~' | b'.')
}

/// Returns true if a word can begin here: not inside another one, but behind an escape such as `\n`
/// or `%3D`.
pub(super) fn begins_here(text: &str, at: usize) -> bool {
    let (before, from) = text.as_bytes().split_at_checked(at).unwrap_or_default();
    match before {
        _ if !from.first().is_some_and(u8::is_ascii_alphanumeric) => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].iter().all(|x| x.is_ascii_hexdigit()) => true,
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}
