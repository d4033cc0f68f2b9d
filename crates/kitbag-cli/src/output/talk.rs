//! Talk on stderr: what a person should know besides the result.
//!
//! Everything that is written to stderr goes through here, so that words and the line of
//! progress do not run into each other.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::output::printable;

/// Says something. If stderr is closed there is nobody to tell.
pub(crate) fn say(message: fmt::Arguments<'_>) {
    say_line(&printable(&message.to_string()));
}

/// Says what went wrong, and what to do about it.
pub(crate) fn say_error(message: &str, hint: Option<&str>) {
    say_line(&printable(&format!("error: {message}")));
    if let Some(hint) = hint {
        say_line(&printable(&format!("hint: {hint}")));
    }
}

/// Writes a line as it is.
fn say_line(line: &str) {
    write(format_args!("{line}\n"), Leaves::Words);
}

/// Shows a line of progress in place of the one before, or takes that away.
pub(crate) fn show_progress(line: Option<&str>) {
    match line {
        Some(line) => write(format_args!("{line}"), Leaves::Progress),
        None => write(format_args!(""), Leaves::Words),
    }
}

/// What a text leaves on the last line of the terminal.
#[derive(Clone, Copy)]
enum Leaves {
    Words,
    Progress,
}

/// What stands there: whoever writes next takes a line of progress away first.
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
