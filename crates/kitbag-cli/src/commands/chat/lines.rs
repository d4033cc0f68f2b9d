//! Reads messages that are typed or piped in.

use std::io::{self, BufRead as _, IsTerminal as _};

use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;

use crate::failure::Failure;
use crate::output::{self, one_line};

use super::complete::Commands;

/// Begins and ends a message of several lines.
const FENCE: &str = "\"\"\"";

/// The lines of a terminal, which can be edited, or of a pipe.
pub(super) enum Lines {
    Typed(Box<Editor<Commands, DefaultHistory>>),
    Piped,
}

/// A line, or the reason why there is none.
enum Line {
    Text(String),
    /// Drops what was typed so far.
    Dropped,
    End,
}

impl Lines {
    pub(super) fn open() -> Result<Self, Failure> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(Self::Piped);
        }
        let mut editor = Editor::new().map_err(|error| cannot_read(&error))?;
        editor.set_helper(Some(Commands));
        Ok(Self::Typed(Box::new(editor)))
    }

    pub(super) const fn is_typed(&self) -> bool {
        matches!(self, Self::Typed(_))
    }

    /// Makes these messages the history of the arrow keys, the last one first. No file keeps them, so that
    /// a forgotten message is nowhere.
    pub(super) fn bring_back(&mut self, said: Vec<String>) -> Result<(), Failure> {
        let Self::Typed(editor) = self else {
            return Ok(());
        };
        let bring_back = || {
            editor.clear_history()?;
            said.into_iter()
                .try_for_each(|text| editor.add_history_entry(text).map(drop))
        };
        bring_back().map_err(|error| cannot_read(&error))
    }

    /// Tells a person at a terminal where help is.
    pub(super) fn say_help(&self) {
        if self.is_typed() {
            output::say("/help lists the commands, Ctrl-D ends the chat");
        }
    }

    /// The next message, or `None` at the end.
    pub(super) fn message(&mut self) -> Result<Option<String>, Failure> {
        let mut text = String::new();
        // A loop and no recursion: 400,000 empty blocks once overflowed the stack.
        let mut in_block = false;
        let mut goes_on = false;
        loop {
            let line = match self.line(if in_block || goes_on { ". " } else { "> " })? {
                Line::Text(line) => line,
                Line::Dropped => {
                    text.clear();
                    (in_block, goes_on) = (false, false);
                    continue;
                }
                Line::End if text.trim().is_empty() => return Ok(None),
                // A person who leaves in the middle of a message does not send it.
                Line::End if self.is_typed() => return Ok(None),
                // Piped text without a last newline is a message too.
                Line::End => break,
            };
            if line.trim() == FENCE && !goes_on {
                in_block = !in_block;
                if !text.trim().is_empty() {
                    break;
                }
                text.clear();
                continue;
            }
            let begun = line.strip_suffix('\\').filter(|_| !in_block);
            goes_on = begun.is_some();
            text.push_str(begun.unwrap_or(&line));
            if in_block || goes_on {
                text.push('\n');
            } else if text.trim().is_empty() {
                text.clear();
            } else {
                break;
            }
        }
        let text = text.trim_end().to_owned();
        if let Self::Typed(editor) = self {
            let added = editor.add_history_entry(text.as_str());
            added.map_err(|error| cannot_read(&error))?;
        }
        Ok(Some(text))
    }

    fn line(&mut self, prompt: &str) -> Result<Line, Failure> {
        match self {
            Self::Piped => {
                let mut line = Vec::new();
                let read = io::stdin().lock().read_until(b'\n', &mut line);
                if read.map_err(|error| cannot_read(&error))? == 0 {
                    return Ok(Line::End);
                }
                // One bad byte must not end a whole conversation from a script.
                let line = String::from_utf8_lossy(&line);
                Ok(Line::Text(line.trim_end_matches(['\r', '\n']).to_owned()))
            }
            Self::Typed(editor) => match editor.readline(prompt) {
                Ok(line) => Ok(Line::Text(line)),
                // Ctrl-C drops the message and not the chat; Ctrl-D ends it.
                Err(ReadlineError::Interrupted) => Ok(Line::Dropped),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(error) => Err(cannot_read(&error)),
            },
        }
    }
}

fn cannot_read(error: &dyn std::error::Error) -> Failure {
    Failure::new(format_args!(
        "cannot read the next message: {}",
        one_line(&error.to_string())
    ))
}
