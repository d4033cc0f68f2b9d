//! Finds secrets in text and replaces them in place.
//!
//! The rules are data: token formats that vendors publish (`vendors`), private key blocks, URLs
//! with a password, HTTP authorization, the options of commands such as `curl -u`, sentences that tell a
//! password, and assignments to a name such as `api_key` whose value looks made by a machine. In a
//! configuration the value of `password` may also be a word. In a file whose name says that it is kept
//! for secrets, such as `.env`, every value is one. A keyword search comes first, and only what stands near a keyword is
//! looked at. It asks no service whether a secret still works, and it does not decode files: what
//! is hidden inside base64 or an archive stays there.

mod assignment;
mod authorization;
mod block;
mod checksum;
mod command;
mod file;
mod key;
mod named;
mod neighbour;
mod prose;
mod scan;
mod token;
mod url;
mod value;
mod values;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

pub use values::SecretValues;

/// Replaces every secret in a text by a marker such as `[REDACTED:github-token]`.
///
/// Line breaks stay: the result has as many lines as the text, and everything that is no secret is
/// unchanged. The path, absolute or relative, only tells the kind of file; it is not opened.
///
/// ```
/// use kitbag_secrets::redact;
///
/// let password = ["rT7", "bf0Qz"].join("_");
/// let text = format!("url: postgres://app:{password}@db/app\n");
/// let redacted = redact(&text, "deploy.yml");
/// assert_eq!(redacted.text, "url: postgres://app:[REDACTED:url-password]@db/app\n");
/// assert_eq!(redacted.found[0].line, 1);
///
/// let redacted = redact("# the database\nDB_PASSWORD=hunter2\n", ".env");
/// assert_eq!(redacted.text, "# the database\nDB_PASSWORD=[REDACTED:secret]\n");
/// ```
#[must_use]
pub fn redact<'t>(text: &'t str, path: &str) -> Redacted<'t> {
    let mut redacted = pass(text, path);
    // A line may read differently once a part of it is replaced, such as the quote that opened a
    // value. Secrets that appear only then are replaced too, so that redacting the result again
    // changes nothing.
    for _ in 0..MOST_PASSES {
        if redacted.found.is_empty() {
            break;
        }
        let again = pass(&redacted.text, path);
        let Cow::Owned(shown) = again.text else {
            break;
        };
        let known: BTreeSet<u32> = redacted.found.iter().map(|known| known.line).collect();
        let new = again.found.into_iter();
        let new = new.filter(|found| !known.contains(&found.line));
        redacted.found.extend(new);
        redacted.found.sort_by_key(|found| found.line);
        redacted.text = Cow::Owned(shown);
    }
    redacted
}

/// This many passes were enough for every random text of the tests.
const MOST_PASSES: usize = 4;

fn pass<'t>(text: &'t str, path: &str) -> Redacted<'t> {
    let spans = united(scan::spans(text, path));
    if spans.is_empty() {
        return Redacted {
            text: Cow::Borrowed(text),
            found: Vec::new(),
        };
    }
    let mut shown = String::with_capacity(text.len());
    let mut found = Vec::with_capacity(spans.len());
    let (mut copied, mut line) = (0, 1);
    for span in spans {
        let Span { range, kind, .. } = span;
        let before = text.get(copied..range.start).unwrap_or_default();
        shown.push_str(before);
        shown.push_str(MARKER);
        shown.push_str(kind);
        shown.push(']');
        line += newlines(before);
        match found.last_mut() {
            Some(Finding { last_line, .. }) if span.continues => *last_line = line,
            _ => found.push(Finding {
                kind,
                line,
                last_line: line,
            }),
        }
        copied = range.end;
    }
    shown.push_str(text.get(copied..).unwrap_or_default());
    Redacted {
        text: Cow::Owned(shown),
        found,
    }
}

/// A text without its secrets, and a record of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redacted<'t> {
    /// The text to show; borrowed if nothing was found.
    pub text: Cow<'t, str>,
    /// The replaced secrets, in the order of the text.
    pub found: Vec<Finding>,
}

/// A secret that was found, without its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Its kind, as in its marker: `github-token`, `private-key`, `password`.
    pub kind: &'static str,
    /// The line on which it begins, counted from 1.
    pub line: u32,
    /// The line on which it ends: a private key has many.
    pub last_line: u32,
}

/// Returns true if a file is kept for its secrets by its name, such as `.env`, `.npmrc` and
/// `id_rsa`. [`redact`] replaces all its values.
#[must_use]
pub fn is_secret_file(path: &str) -> bool {
    file::is_secret(path)
}

/// The beginning of every marker. A value that holds one is not examined again.
const MARKER: &str = "[REDACTED:";

/// A part of the text to replace. It is never empty, and never crosses the end of a line.
#[derive(Debug)]
struct Span {
    range: Range<usize>,
    kind: &'static str,
    rank: Rank,
    /// True if it continues the secret of the span before it.
    continues: bool,
}

impl Span {
    /// Makes the span of a secret, or of its first line.
    fn new(rank: Rank, range: Range<usize>, kind: &'static str) -> Self {
        Self {
            range,
            kind,
            rank,
            continues: false,
        }
    }
}

/// Sorts spans, and joins those that overlap under the most specific name. Rules with a format of
/// their own report before the general ones, an order that the sort keeps.
fn united(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.range.start, span.rank));
    let mut united: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match united.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
                last.continues |= span.continues;
                if span.rank < last.rank {
                    (last.rank, last.kind) = (span.rank, span.kind);
                }
            }
            _ => united.push(span),
        }
    }
    united
}

/// The knowledge that a rule has about its finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The format tells the kind; of two formats, the one listed first.
    Format(usize),
    /// The place tells that it is secret, but not what it opens.
    Place,
}

fn newlines(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).unwrap_or(u32::MAX)
}
