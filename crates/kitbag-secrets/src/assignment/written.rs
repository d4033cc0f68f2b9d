//! Reads the value that is written after a name: `name = "value"`, `"name": "value"`,
//! `--name value`, `<name>value</name>`, `name: NAME` with `value: …` on the next line.

use std::ops::Range;

use super::super::file::{File, SecretFile};
use super::super::value;

/// A value as it stands in the text.
pub(super) struct WrittenValue {
    pub(super) range: Range<usize>,
    pub(super) quoted: bool,
    /// True if it must be a value: quoted, or in a place without names.
    pub(super) literal: bool,
    /// Set for one of the values in a text that logs in to a server.
    pub(super) packed: bool,
    /// Set where nothing else belongs to the value, as the rest of a sentence would.
    pub(super) alone: bool,
}

/// Reads the value given to the name.
pub(super) fn after(text: &str, name: Range<usize>, file: File) -> Option<WrittenValue> {
    let before = text.get(..name.start)?;
    let rest = value::window(text, name.end, LONGEST);
    let separated = after_separator(rest, text.get(name.clone())?, before, file)?;
    let start = name.end + (rest.len() - separated.len());
    let end = memchr::memchr2(b'\n', b'\r', separated.as_bytes());
    let line = separated.get(..end.unwrap_or(separated.len()))?;
    if let Some(range) = quoted(line) {
        return Some(WrittenValue {
            range: start + range.start..start + range.end,
            quoted: true,
            literal: true,
            packed: false,
            alone: true,
        });
    }
    let sentence = line.split(" #").next().unwrap_or(line).trim_end();
    if file.lines && value::is_passphrase(sentence) {
        return Some(WrittenValue {
            range: start..start + sentence.len(),
            quoted: false,
            literal: true,
            packed: false,
            alone: true,
        });
    }
    let end = line.find(|c: char| c.is_whitespace() || "\"'`,;<>&|)]}".contains(c));
    let value = line
        .get(..end.unwrap_or(line.len()))?
        .trim_end_matches(['.', ':', '\\']);
    let is_tight = text.get(..start)?.ends_with('=');
    // `Server=db;Password=…;` and `?token=…` have no names either, whatever stands around them.
    let packed = is_tight && is_login(value::line_before(before, before.len()));
    let behind = line.get(value.len()..)?.trim_start_matches(BLANK);
    (!value.is_empty()).then(|| WrittenValue {
        range: start..start + value.len(),
        quoted: false,
        literal: file.bare || packed || before.ends_with([';', '&', '?']),
        packed,
        alone: is_tight || behind.is_empty() || behind.starts_with(['#', ',', '}', '<']),
    })
}

const LONGEST: usize = 4096;

/// Recognises a line that logs in to a server: `host=db user=shop password=…`, `Server=db;Password=…`.
fn is_login(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let packed = line.ends_with([' ', ';']);
    packed && SERVERS.iter().any(|name| line.contains(name))
}

/// Names beside a password in the texts with which drivers of databases connect.
const SERVERS: &[&str] = &[
    "host=",
    "server=",
    "data source=",
    "dbname=",
    "user=",
    "user id=",
    "uid=",
    "username=",
];

/// The inside of the string that begins here, after letters such as the `b` of Python.
fn quoted(line: &str) -> Option<Range<usize>> {
    let start = line.find(['"', '\'', '`']).filter(|start| *start <= 2)?;
    let (prefix, string) = line.split_at_checked(start)?;
    if !prefix
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || b"@$\\(".contains(&byte))
    {
        return None;
    }
    let quote = string.chars().next()?;
    let inner = string.get(1..)?;
    let length = if prefix.ends_with('\\') {
        // A string inside a string ends where its own quote is escaped again.
        inner.find('\\')?
    } else {
        value::closing(inner, quote)?
    };
    Some(start + 1..start + 1 + length)
}

/// The text behind the separator of a name and its value.
fn after_separator<'r>(rest: &'r str, name: &str, before: &str, file: File) -> Option<&'r str> {
    let bare = rest.strip_prefix('\\').unwrap_or(rest);
    let closed = bare.strip_prefix(['"', '\'', '`']).unwrap_or(bare);
    let open = closed
        .trim_start_matches(['[', ']', ')'])
        .trim_start_matches(BLANK);
    if let Some(value) = SIGNS.iter().find_map(|sign| open.strip_prefix(sign)) {
        let value = value.trim_start_matches(BLANK);
        // Where a line would be too long, the string stands on the next.
        let below = value.trim_start();
        // A value without quotes on the next line would be another name.
        let value = if below.starts_with(['"', '\'']) {
            below
        } else {
            value
        };
        return Some(after_type(value).unwrap_or(value));
    }
    let line_before = value::line_before(before, before.len());
    let element = open.strip_prefix('>').filter(|_| before.ends_with('<'));
    let argument = open
        .strip_prefix(',')
        .map(|value| value.trim_start_matches(BLANK))
        .filter(|value| closed.len() < bare.len() && value.starts_with(['"', '\'']));
    // Words alone: an option of a command, a login for programs, a line that sets a variable.
    let spaced = name.starts_with('-')
        || file.named == Some(SecretFile::Netrc)
        || SETTERS.iter().any(|word| line_before.contains(word));
    let word = (spaced && closed.starts_with(BLANK)).then_some(open);
    element
        .or_else(|| after_value_word(closed))
        .or(argument)
        .or(word)
        .or_else(|| after_type(open))
}

const BLANK: [char; 2] = [' ', '\t'];

const SIGNS: &[&str] = &["===", "!==", "==", "!=", "=>", ":=", "?=", "||=", "=", ":"];

/// The beginnings of lines and clauses in which a value follows its name without a separator.
const SETTERS: &[&str] = &["#define ", "ENV ", "setx ", "set -", "login ", "machine "];

/// Skips a type: `&str = "…"`, `string = "…"`.
fn after_type(value: &str) -> Option<&str> {
    let end = value.find(|c: char| !c.is_ascii_alphanumeric() && !" &'<>?[]|_.:*".contains(c))?;
    let (kind, rest) = value.split_at_checked(end)?;
    let value = rest.strip_prefix('=')?.trim_start_matches(BLANK);
    (end <= 40 && kind.ends_with(' ') && value.starts_with(['"', '\'', '`'])).then_some(value)
}

/// Skips the word `value` where name and value are separate entries, as in lists of variables.
fn after_value_word(rest: &str) -> Option<&str> {
    let word = rest.trim_start_matches([' ', '\t', '\r', '\n', ',', '"', '\'']);
    let skipped = rest.len() - word.len();
    // More than 80 characters of blanks and quotes are no longer the same entry.
    if skipped == 0 || skipped > 80 || !word.get(..5)?.eq_ignore_ascii_case("value") {
        return None;
    }
    let open = word
        .get(5..)?
        .trim_start_matches(['"', '\''])
        .trim_start_matches(BLANK);
    Some(open.strip_prefix([':', '='])?.trim_start_matches(BLANK))
}
