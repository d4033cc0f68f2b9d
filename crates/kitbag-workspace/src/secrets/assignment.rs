//! Finds literal values given to a name that promises a secret.
//!
//! It reads assignments as they look in most languages and formats, without parsing any of them:
//! `name = "value"`, `"name": "value"`, `name: value`, `--name value`, `<name>value</name>`.

use std::ops::Range;

use super::key::Promise;
use super::{Rank, Span, value};

/// What a path says about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct File {
    /// Whether words stand without quotes, as in YAML, shell and prose, where code has names.
    bare: bool,
    /// Whether it is a test, an example or a document, whose passwords are made up.
    made_up: bool,
    /// Whether it holds logins as words alone.
    netrc: bool,
    /// Whether it lists content hashes.
    lock: bool,
}

/// What was read at a hit.
pub(super) struct Read {
    /// Where the name ends, found out or not.
    pub(super) key_end: usize,
    pub(super) span: Option<(Rank, Span)>,
}

/// Reads the assignment whose name holds this keyword.
pub(super) fn at(text: &str, keyword: Range<usize>, file: &File) -> Read {
    let name = name_around(text, keyword);
    Read {
        key_end: name.end,
        span: secret_of(text, name, file),
    }
}

fn secret_of(text: &str, name: Range<usize>, file: &File) -> Option<(Rank, Span)> {
    if file.lock || name.len() > LONGEST_NAME {
        return None;
    }
    let promise = Promise::of(text.get(name.clone())?)?;
    if text.get(..name.start)?.ends_with(super::MARKER) {
        return None;
    }
    let Value { range, quoted } = value_after(text, name, file)?;
    let written = text.get(range.clone())?;
    if value::is_reference(written)
        || value::is_stand_in(written)
        || !is_secret(written, promise, quoted, file)
    {
        return None;
    }
    let kind = match promise {
        Promise::Password => "password",
        Promise::Secret | Promise::Key => "secret",
    };
    Some((Rank::Place, Span { range, kind }))
}

const LONGEST_NAME: usize = 80;
const LONGEST_VALUE: usize = 1024;

fn is_secret(written: &str, promise: Promise, quoted: bool, file: &File) -> bool {
    if !quoted
        && !file.bare
        && (written.contains('.') || !written.contains(|c: char| c.is_ascii_digit()))
    {
        return false;
    }
    match promise {
        Promise::Password if !file.made_up && (quoted || file.bare) => {
            value::is_password(written) || value::is_random(written, 12)
        }
        Promise::Password | Promise::Secret => value::is_random(written, 16),
        Promise::Key => value::is_random(written, 24),
    }
}

fn name_around(text: &str, keyword: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let before = bytes.get(..keyword.start).unwrap_or_default();
    let after = bytes.get(keyword.end..).unwrap_or_default();
    let left = before
        .iter()
        .rev()
        .take(LONGEST_NAME)
        .take_while(is_name)
        .count();
    let right = after.iter().take_while(is_name).count();
    keyword.start - left..keyword.end + right
}

struct Value {
    range: Range<usize>,
    quoted: bool,
}

fn value_after(text: &str, name: Range<usize>, file: &File) -> Option<Value> {
    let before = text.get(..name.start)?;
    let name_end = name.end;
    let name = text.get(name)?;
    let rest = value::window(text, name_end, LONGEST_VALUE);
    let line = rest.split('\n').next()?;
    let separated = after_separator(line, name, before, file)?;
    let at = name_end + (line.len() - separated.len());
    let prefix = separated
        .find(['"', '\'', '`'])
        .filter(|prefix| *prefix <= 2)
        .filter(|prefix| {
            separated.get(..*prefix).is_some_and(|letters| {
                letters
                    .bytes()
                    .all(|b| b.is_ascii_alphabetic() || matches!(b, b'@' | b'\\' | b'$'))
            })
        });
    if let Some(prefix) = prefix {
        let quote = separated.get(prefix..)?.chars().next()?;
        let inner = separated.get(prefix + 1..)?;
        let inner_at = at + prefix + 1;
        let mut escaped = false;
        let length = inner.find(|c: char| {
            let ends = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let escaped_quote = separated.get(..prefix)?.ends_with('\\');
        let length = if escaped_quote {
            inner.find('\\')?
        } else {
            length?
        };
        return Some(Value {
            range: inner_at..inner_at + length,
            quoted: true,
        });
    }
    let length = separated
        .find(|c: char| c.is_whitespace() || "\"'`,;<>&|)]}".contains(c))
        .unwrap_or(separated.len());
    let length = separated
        .get(..length)?
        .trim_end_matches(['.', ':', '!', '?'])
        .len()
        .max(1)
        .min(length);
    (length > 0).then_some(Value {
        range: at..at + length,
        quoted: false,
    })
}

/// What follows the sign between a name and its value.
fn after_separator<'l>(line: &'l str, name: &str, before: &str, file: &File) -> Option<&'l str> {
    let closed = line.strip_prefix('\\').unwrap_or(line);
    let unquoted = closed.strip_prefix(['"', '\'', '`']).unwrap_or(closed);
    let in_quotes = unquoted.len() < closed.len();
    let open = unquoted
        .trim_start_matches([']', ')'])
        .trim_start_matches([' ', '\t']);
    let signs = ["===", "!==", "==", "!=", "=>", ":=", "?=", "||=", "=", ":"];
    if let Some(value) = signs.iter().find_map(|sign| open.strip_prefix(sign)) {
        let value = value.trim_start_matches([' ', '\t']);
        return Some(after_type(value).unwrap_or(value));
    }
    if in_quotes && let Some(value) = open.strip_prefix(',') {
        let value = value.trim_start();
        return value.starts_with(['"', '\'']).then_some(value);
    }
    if let Some(value) = open.strip_prefix('>') {
        return before.ends_with('<').then_some(value);
    }
    // Words alone: an option of a command, and the files that hold logins for programs.
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    let spaced = name.starts_with('-') || file.netrc || line_before.contains("login ");
    (spaced && unquoted.starts_with([' ', '\t'])).then_some(open)
}

/// Skips a type: `: &str = "…"`.
fn after_type(value: &str) -> Option<&str> {
    let (kind, value) = value.split_once('=')?;
    let named = kind.len() <= 40
        && kind
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" &'<>?[]|_.:*".contains(&byte));
    let value = value.trim_start();
    (named && kind.ends_with(' ') && value.starts_with(['"', '\'', '`'])).then_some(value)
}

impl File {
    pub(super) fn of(path: &str) -> Self {
        let path = path.to_ascii_lowercase().replace('\\', "/");
        let name = path.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        Self {
            bare: !CODE.contains(&extension),
            made_up: path
                .split(['/', '.', '_', '-'])
                .any(|part| MADE_UP.contains(&part))
                || DOCUMENTS.contains(&extension),
            netrc: matches!(name, ".netrc" | "_netrc" | ".authinfo"),
            lock: LOCKS.contains(&name) || extension == "lock" || extension == "sum",
        }
    }
}

/// Files in which a word without quotes is a name.
const CODE: &[&str] = &[
    "rs", "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "go", "java", "kt", "kts",
    "scala", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "swift", "lua", "dart", "ex", "exs",
    "erl", "hs", "ml", "clj", "vue", "svelte", "sql", "r", "jl", "pl", "m", "zig", "json", "proto",
    "graphql", "css", "scss", "less", "tf",
];
const MADE_UP: &[&str] = &[
    "test",
    "tests",
    "testing",
    "testdata",
    "spec",
    "specs",
    "fixtures",
    "fixture",
    "mock",
    "mocks",
    "example",
    "examples",
    "sample",
    "samples",
    "docs",
    "doc",
    "e2e",
    "snapshots",
];
const DOCUMENTS: &[&str] = &["md", "mdx", "rst", "adoc"];
const LOCKS: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "packages.lock.json",
    "go.work.sum",
];
