//! Notes, warnings and errors on stderr: everything but the result.
//!
//! Everything that is written to stderr goes through here, so that words, logs and the line of
//! progress do not run into each other. With logs as JSON, every line is JSON.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::output::{printable, printable_json};

/// Says something. If stderr is closed there is nobody to tell.
pub(crate) fn say(message: impl Display) {
    match speaks_json() {
        true => say_json(&event(&message.to_string())),
        false => say_line(&printable(&message.to_string())),
    }
}

/// Makes an event of a message: a warning is one by its level, and its hint a field.
fn event(message: &str) -> Value {
    let (message, hint) = match message.split_once("\nhint: ") {
        Some((message, hint)) => (message, Some(hint)),
        None => (message, None),
    };
    let (level, message) = match message.strip_prefix("warning: ") {
        Some(message) => ("WARN", message),
        None => ("INFO", message.strip_prefix("note: ").unwrap_or(message)),
    };
    match hint {
        Some(hint) => json!({"level": level, "message": message, "hint": hint}),
        None => json!({"level": level, "message": message}),
    }
}

/// Says what went wrong, and what to do about it.
pub(crate) fn say_error(message: &str, hint: Option<&str>) {
    match (speaks_json(), hint) {
        (true, Some(hint)) => {
            say_json(&json!({"level": "ERROR", "message": message, "hint": hint}));
        }
        (true, None) => say_json(&json!({"level": "ERROR", "message": message})),
        (false, Some(hint)) => say(format_args!("error: {message}\nhint: {hint}")),
        (false, None) => say(format_args!("error: {message}")),
    }
}

fn say_json(line: &Value) {
    say_line(&printable_json(&line.to_string()));
}

/// Writes a line as it is.
pub(crate) fn say_line(line: &str) {
    write(format_args!("{line}\n"), Leaves::Words);
}

/// Shows a line of progress in place of the one before, or takes that away.
pub(crate) fn show_progress(line: Option<&str>) {
    match line {
        Some(line) => write(format_args!("{line}"), Leaves::Progress),
        None => write(format_args!(""), Leaves::Words),
    }
}

/// From here on every line is JSON.
pub(crate) fn speak_json() {
    SPEAKS_JSON.store(true, Ordering::Relaxed);
}

/// True if every line is JSON.
pub(crate) fn speaks_json() -> bool {
    SPEAKS_JSON.load(Ordering::Relaxed)
}

static SPEAKS_JSON: AtomicBool = AtomicBool::new(false);

/// The text that a line leaves on the terminal.
#[derive(Clone, Copy)]
enum Leaves {
    Words,
    Progress,
}

/// The text on the terminal's last line: whoever writes next takes a line of progress away first.
static LEFT: Mutex<Leaves> = Mutex::new(Leaves::Words);

fn write(text: fmt::Arguments<'_>, leaves: Leaves) {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    let erase = match *left {
        Leaves::Words => "",
        Leaves::Progress => "\r\u{1b}[K",
    };
    let _ = write!(io::stderr(), "{erase}{text}");
    *left = leaves;
}
