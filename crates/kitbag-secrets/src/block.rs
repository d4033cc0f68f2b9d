//! Finds private keys in armour: PEM, OpenSSH, PGP and PuTTY blocks.
//!
//! The lines that name the block stay. Each line of the key itself is replaced by itself, so that a
//! reader still sees its length.

use std::ops::Range;

use super::{MARKER, Rank, Span, value};

pub(super) const KEYWORDS: &[&str] = &[
    "PRIVATE KEY-----",
    "PRIVATE KEY BLOCK-----",
    "PRIVATE KEY ----",
    "Private-Lines: ",
];

/// Finds the body of the block that begins at the keyword.
pub(super) fn at(text: &str, keyword: Range<usize>) -> Vec<Span> {
    let opening = value::line_before(text, keyword.start);
    let putty = text
        .get(keyword.clone())
        .is_some_and(|word| word.ends_with(": "));
    let begin = opening.rfind("BEGIN ");
    // The keyword ends the line that opens the armour and the one that closes it.
    if !putty && (begin.is_none() || begin < opening.rfind("END ")) {
        return Vec::new();
    }
    let mut bodies = Vec::new();
    let mut start = keyword.end;
    let mut random = false;
    let rest = value::window(text, start, LONGEST);
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        // The next armour ends the block, whatever it says, so no text is examined twice.
        let end = line.find("----");
        let part = end.and_then(|end| line.get(..end)).unwrap_or(line);
        let body = body(part);
        let over = end.is_some() || number > 0 && body.is_none() && !may_be_inside(part);
        if let Some(body) = body {
            // One random line is enough: the last line of a key may be short.
            random |= part
                .get(body.clone())
                .is_some_and(|body| value::is_random(body, 24));
            bodies.push(start + body.start..start + body.end);
        }
        if over {
            break;
        }
        start += line.len();
    }
    // Programs that handle keys mention the armour without a key in it, and documents show a few
    // words of base64 inside of it.
    let length: usize = bodies.iter().map(ExactSizeIterator::len).sum();
    if !random || length < SHORTEST {
        bodies.clear();
    }
    let span = |(number, range)| Span {
        continues: number > 0,
        ..Span::new(Rank::Format(0), range, "private-key")
    };
    bodies.into_iter().enumerate().map(span).collect()
}

/// The least characters of a key. An Ed25519 key has 64.
const SHORTEST: usize = 48;

/// The most bytes of a block. A key of 16,384 bits has some 200 lines of 64 characters.
const LONGEST: usize = 32 * 1024;

/// The base64 in a line of a block, without quotes and escapes around it; none if the line is
/// something else.
fn body(line: &str) -> Option<Range<usize>> {
    if line.contains(MARKER) || line.contains(": ") {
        return None;
    }
    let mut whole: Option<Range<usize>> = None;
    let (mut inside, mut escaped) = (0, false);
    for (at, byte) in line.bytes().enumerate() {
        // Keys in source code have escapes such as `\n` between their lines.
        let is_body =
            !escaped && (byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        escaped = byte == b'\\' && !escaped;
        if is_body {
            inside += 1;
            whole = Some(whole.map_or(at, |whole| whole.start)..at + 1);
        }
    }
    let whole = whole?;
    let written = line.trim().len();
    // Six tenths: quotes, escapes and commas around the line are not part of the key.
    (inside >= 4 && inside * 10 >= written * 6 && !line.trim().contains(' ')).then_some(whole)
}

/// Returns true if a line without base64 may be inside a block: a blank line or a header.
fn may_be_inside(line: &str) -> bool {
    line.trim().is_empty() || line.contains(": ")
}
