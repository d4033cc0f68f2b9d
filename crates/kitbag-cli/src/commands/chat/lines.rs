//! The messages that are typed or piped in, one after the other.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use kitbag::secrets::redact;
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
    Typed(Box<Typed>),
    Piped,
}

/// A terminal, and what was typed there before.
pub(super) struct Typed {
    editor: Editor<Commands, DefaultHistory>,
    /// The file of what was typed; none where nothing is to be remembered.
    history: Option<PathBuf>,
}

/// A line, or why there is none.
enum Line {
    Text(String),
    /// What was typed so far is dropped.
    Dropped,
    End,
}

impl Lines {
    pub(super) fn open(keeps_history: bool) -> Result<Self, Failure> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(Self::Piped);
        }
        let mut editor = Editor::new().map_err(|error| cannot_read(&error))?;
        editor.set_helper(Some(Commands));
        let history = history_file().filter(|_| keeps_history);
        if let Some(file) = history.as_ref().filter(|file| file.exists())
            && let Err(error) = editor.load_history(file)
        {
            warn(&error, "is not read");
        }
        Ok(Self::Typed(Box::new(Typed { editor, history })))
    }

    /// Tells a person at a terminal where help is.
    pub(super) fn say_help(&self) {
        if let Self::Typed(_) = self {
            output::say("/help lists the commands, Ctrl-D ends the chat");
        }
    }

    /// The next message; none at the end.
    pub(super) fn message(&mut self) -> Result<Option<String>, Failure> {
        let mut text = String::new();
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
                Line::End if matches!(self, Self::Typed(_)) => return Ok(None),
                // What was piped in before the end is a message all the same.
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
        if let Self::Typed(typed) = self {
            typed.remember(&text);
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
                let line = String::from_utf8_lossy(&line);
                Ok(Line::Text(line.trim_end_matches(['\r', '\n']).to_owned()))
            }
            Self::Typed(typed) => match typed.editor.readline(prompt) {
                Ok(line) => Ok(Line::Text(line)),
                Err(ReadlineError::Interrupted) => Ok(Line::Dropped),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(error) => Err(cannot_read(&error)),
            },
        }
    }
}

impl Typed {
    /// Keeps a message for the arrow keys of this chat and of later ones, without its secrets.
    fn remember(&mut self, text: &str) {
        let Some(file) = &self.history else {
            return;
        };
        let kept = redact(text, "").text;
        let mut keep = || {
            self.editor.add_history_entry(kept.as_ref())?;
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            self.editor.append_history(file)
        };
        if let Err(error) = keep() {
            warn(&error, "is not written");
            self.history = None;
        }
    }
}

/// The file of what was typed, next to the usual store.
fn history_file() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    Some(folders.data_dir().join("kitbag").join("chat-history"))
}

fn warn(error: &ReadlineError, consequence: &str) {
    let error = one_line(&error.to_string());
    output::say(format_args!(
        "warning: the history of what was typed {consequence}: {error}"
    ));
}

fn cannot_read(error: &dyn std::error::Error) -> Failure {
    Failure::new(format_args!(
        "cannot read the next message: {}",
        one_line(&error.to_string())
    ))
}
