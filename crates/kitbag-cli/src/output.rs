//! Printing: results to stdout or a file, talk to stderr, and nothing that steers a terminal.

mod file;
mod grid;
mod ledger;
mod talk;

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use serde::Serialize;

pub(crate) use file::{FileWriter, Rights, behind_links, folder_of, write_file};
pub(crate) use grid::grid;
pub(crate) use ledger::ledger_table;
pub(crate) use talk::{say, say_error, say_line, show_progress, speak_json, speaks_json};

/// Prints a text and ends its line.
pub(crate) fn print(text: &str) -> io::Result<()> {
    if text.ends_with('\n') {
        print_exactly(text)
    } else {
        print_exactly(&format!("{text}\n"))
    }
}

/// Prints a text as it is to a file or a pipe, and to a terminal without control characters and
/// with its line ended.
pub(crate) fn print_exactly(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if stdout.is_terminal() {
        stdout.write_all(printable(text).as_bytes())?;
        if !text.ends_with('\n') {
            stdout.write_all(b"\n")?;
        }
    } else {
        stdout.write_all(text.as_bytes())?;
    }
    stdout.flush()
}

/// Prints a value as JSON on several lines.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let mut json = json(value)?;
    let mut stdout = io::stdout().lock();
    if stdout.is_terminal() {
        json = printable_json(json);
    }
    stdout.write_all(json.as_bytes())?;
    stdout.flush()
}

/// Prints a value as one line of JSON, at once.
pub(crate) fn print_json_line(value: &impl Serialize) -> io::Result<()> {
    let mut json = serde_json::to_string(value)?;
    let mut stdout = io::stdout().lock();
    if stdout.is_terminal() {
        json = printable_json(json);
    }
    json.push('\n');
    stdout.write_all(json.as_bytes())?;
    stdout.flush()
}

/// A value as JSON on several lines.
pub(crate) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// The JSON with escapes for what JSON leaves as it is but a terminal would obey; the value stays
/// the same.
pub(crate) fn printable_json(json: String) -> String {
    if !json.contains(steers) {
        return json;
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if steers(c) {
            shown.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The text with every control character but tab and newline made visible.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The text on one line, with every control character made visible.
pub(crate) fn one_line(text: &str) -> String {
    let escaped = |c: char| c.is_control() || is_bidi_control(c);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if escaped(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || is_bidi_control(c)
}

/// Characters that turn the direction of what follows.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// How many of something there are, in words.
pub(crate) fn counted(count: u64, one: &str, several: &str) -> String {
    let what = if count == 1 { one } else { several };
    format!("{} {what}", grouped(count))
}

/// A number with its thousands set apart.
pub(crate) fn grouped(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
