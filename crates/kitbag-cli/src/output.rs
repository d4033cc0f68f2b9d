//! Printing: results to stdout or a file, talk to stderr, and nothing that steers a terminal.

mod file;
mod grid;
mod ledger;
mod talk;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};

use serde::Serialize;

pub(crate) use file::{FileWriter, Rights, behind_links, folder_of, write_file};
pub(crate) use kitbag::words::{counted, grouped};

pub(crate) use grid::{aligned, beginning, grid, largest_first, ranges, shortened};
pub(crate) use ledger::ledger_table;
pub(crate) use talk::{say, say_error, say_line, show_progress, speak_json, speaks_json};

/// Prints a text and ends its line; nothing of an empty one.
pub(crate) fn print(text: &str) -> io::Result<()> {
    match text.is_empty() || text.ends_with('\n') {
        true => print_exactly(text),
        false => print_exactly(&format!("{text}\n")),
    }
}

/// Prints a text as it is to a file or a pipe, and to a terminal without control characters and
/// with its line ended.
pub(crate) fn print_exactly(text: &str) -> io::Result<()> {
    write(text, printable)
}

/// Prints the next piece of a text at once as it is: the caller has seen to it that nothing of it steers
/// a terminal.
pub(crate) fn print_piece(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a value as JSON on several lines.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    write(&json(value)?, printable_json)
}

/// Prints a list as JSON, under its name.
pub(crate) fn print_json_list(name: &str, list: &[impl Serialize]) -> io::Result<()> {
    print_json(&BTreeMap::from([(name, list)]))
}

/// Prints a value as one line of JSON, at once.
pub(crate) fn print_json_line(value: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_string(value)?;
    write(&format!("{line}\n"), printable_json)
}

fn write(text: &str, for_terminal: fn(&str) -> Cow<'_, str>) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if !stdout.is_terminal() {
        stdout.write_all(text.as_bytes())?;
        return stdout.flush();
    }
    stdout.write_all(for_terminal(text).as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()
}

/// A value as JSON on several lines.
pub(crate) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// The JSON with escapes for what JSON leaves as it is but a terminal would obey; the value stays
/// the same.
pub(crate) fn printable_json(json: &str) -> Cow<'_, str> {
    escaped(json, steers, |c| format!("\\u{:04x}", u32::from(c)))
}

/// The text with every control character but tab and newline made visible.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, steers, |c| c.escape_unicode().to_string())
}

/// The text on one line, with every control character made visible.
pub(crate) fn one_line(text: &str) -> String {
    let is_control = |c: char| c.is_control() || is_bidi_control(c);
    escaped(text, is_control, |c| c.escape_default().to_string()).into_owned()
}

/// The text with the characters of a kind escaped.
fn escaped(text: &str, kind: fn(char) -> bool, escape: fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(kind) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match kind(c) {
            true => shown.push_str(&escape(c)),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || is_bidi_control(c)
}

/// Characters that turn the direction of what follows.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Words of a text in quotation marks, one after the other.
pub(crate) fn quoted<'a>(words: impl Iterator<Item = &'a String>) -> String {
    let words: Vec<String> = words.map(|word| format!("“{}”", one_line(word))).collect();
    words.join(", ")
}
