//! Finds literal values that are assigned to a name that promises a secret.
//!
//! It reads assignments in the forms of most languages and formats, without parsing any of them.

mod written;

use std::ops::Range;

use super::file::File;
use super::key::Promise;
use super::{MARKER, Rank, Span, key, value};
use written::WrittenValue;

/// Reads the assignment whose name contains this keyword. Returns the offset from which to look for
/// the next name.
pub(super) fn at(text: &str, keyword: Range<usize>, file: File) -> (usize, Option<Span>) {
    let name = name_around(text, keyword);
    let before = text.get(..name.start).unwrap_or_default();
    if file.lock || name.len() > LONGEST_NAME || before.ends_with(MARKER) {
        return (name.end, None);
    }
    let named = text.get(name.clone()).unwrap_or_default();
    let promised = Promise::of(named)
        .and_then(|promise| Some((promise, written::after(text, name.clone(), file)?)));
    let Some((promise, written)) = promised else {
        return (name.end, None);
    };
    let is_word = is_label(before);
    let file = File {
        config: (file.config || written.packed && !file.made_up) && written.alone && !is_word,
        ..file
    };
    let kind = kind_of(text, named, promise, &written, file);
    // Long values are skipped: names found inside of one would lead to reading it again and again.
    let long = written.range.len() > LONG_VALUE;
    let end = if long { written.range.end } else { name.end };
    let span = kind.map(|kind| Span::new(Rank::Place, written.range, kind));
    (end, span)
}

const LONGEST_NAME: usize = 80;
const LONG_VALUE: usize = 128;

fn kind_of(
    text: &str,
    name: &str,
    promise: Promise,
    written: &WrittenValue,
    file: File,
) -> Option<&'static str> {
    let value = text.get(written.range.clone())?;
    match promise {
        Promise::Password if value::is_crypt(value) => Some("password-hash"),
        Promise::Key | Promise::Secret if !file.made_up && value::is_uuid_key(value, name) => {
            Some("secret")
        }
        _ if !is_secret(value, promise, written.literal, file) => None,
        _ if is_elsewhere(value, written.quoted) || is_made_up(value) => None,
        Promise::Password => Some("password"),
        Promise::Key | Promise::Lone | Promise::Secret | Promise::Credentials => Some("secret"),
    }
}

/// Returns true if the text only says where the value is: a reference, or the name of another
/// secret.
fn is_elsewhere(value: &str, quoted: bool) -> bool {
    let is_name = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    value::is_reference(value)
        || !quoted && value::is_shorthand(value)
        || is_name && Promise::of(value).is_some()
}

fn is_made_up(value: &str) -> bool {
    value::is_stand_in(value) || value::is_sequence(value)
}

fn is_secret(value: &str, promise: Promise, literal: bool, file: File) -> bool {
    // In code a word without quotes is a name, unless names never look like it.
    if !literal && (value.contains('.') || !value.contains(|c: char| c.is_ascii_digit())) {
        return false;
    }
    let is_word = literal && file.config && !key::is_named(value);
    match promise {
        Promise::Password if is_word && value::is_chosen(value, 6) => true,
        Promise::Password if is_word && value::is_passphrase(value) => true,
        Promise::Secret if is_word && value::is_one_word(value) => true,
        Promise::Password if literal && !file.made_up => {
            value::is_password(value) || value::is_random(value, 12)
        }
        Promise::Password | Promise::Secret | Promise::Credentials => value::is_random(value, 16),
        Promise::Key => value::is_random(value, 24),
        // Under a mere `key` many hashes are stored.
        Promise::Lone => value::is_random(value, 24) && !value::is_hexadecimal(value),
    }
}

/// Tells by the names before a value that it is shown to people: `login.error.password=…`.
fn is_label(before: &str) -> bool {
    let line = value::line_before(before, before.len());
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let path = line.rsplit(|c| !is_name(c)).next().unwrap_or_default();
    let mut names = path.split('.');
    path.ends_with('.') && names.any(|name| LABELS.contains(&name))
}

const LABELS: &[&str] = &[
    "caption",
    "error",
    "errors",
    "field",
    "form",
    "hint",
    "label",
    "labels",
    "message",
    "msg",
    "page",
    "placeholder",
    "text",
    "title",
    "validation",
];

fn name_around(text: &str, keyword: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let before = bytes.get(..keyword.start).unwrap_or_default();
    let after = bytes.get(keyword.end..).unwrap_or_default();
    let left = before.iter().rev().take(LONGEST_NAME).take_while(is_name);
    let right = after.iter().take_while(is_name);
    keyword.start - left.count()..keyword.end + right.count()
}
