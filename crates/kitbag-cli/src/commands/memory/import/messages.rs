//! The messages of a file, read one by one.

use std::io::BufRead;

use kitbag::core::message::{Message, MessageMetadata};
use kitbag::memory::{self, ImportError, ImportLine, Place};
use kitbag::store::{Import, MessageTime, NewFact, NewMessage};
use serde_json::Value;

use super::report::{Problem, Skipped};

/// The checked messages of a file, up to its end or to the problem that stops the import.
pub(super) struct Messages<R> {
    pub(super) lines: memory::Import<R>,
    /// True if the first bad record stops the import.
    stops: bool,
    pub(super) skipped: Skipped,
    pub(super) is_empty: bool,
    /// The problem that stopped the import.
    pub(super) problem: Option<Problem>,
}

impl<R: BufRead> Messages<R> {
    pub(super) fn new(lines: memory::Import<R>, stops: bool) -> Self {
        Self {
            lines,
            stops,
            skipped: Skipped::default(),
            is_empty: true,
            problem: None,
        }
    }
}

impl<R: BufRead> Iterator for Messages<R> {
    type Item = Import;

    fn next(&mut self) -> Option<Import> {
        while self.problem.is_none() {
            let message = match self.lines.next()? {
                Ok(line) => message(line, &self.lines.place()),
                Err(error) => Err(unreadable(&error)),
            };
            match message {
                Ok(message) => {
                    self.is_empty = false;
                    return Some(message);
                }
                Err(problem) if self.stops || problem.is_final => self.problem = Some(problem),
                Err(problem) => self.skipped.add(problem),
            }
        }
        None
    }
}

fn unreadable(error: &ImportError) -> Problem {
    let hint = match error.is_final() {
        true => error.hint(),
        false => {
            "correct the record and import the file again: messages with a `ref` are not stored twice"
        }
    };
    Problem {
        what: error.to_string(),
        hint: Some(hint),
        is_final: error.is_final(),
    }
}

/// The message of a line, or the problem with it.
fn message(line: ImportLine, place: &Place) -> Result<Import, Problem> {
    // A record may hold many messages; the reference tells which one has the problem.
    let place = match &line.reference {
        Some(reference) => format!("{place} (`{}`)", reference.escape_debug()),
        None => place.to_string(),
    };
    let mut said = Message::new(line.role, line.text).with_visibility(line.visibility);
    if !line.metadata.is_empty() {
        let metadata = serde_json::from_value::<MessageMetadata>(Value::Object(line.metadata));
        let metadata =
            metadata.map_err(|error| Problem::new(format!("{place}: metadata: {error}")));
        said.metadata = Some(metadata?);
    }
    let mut message = NewMessage::from(said);
    if let Some(at) = line.at {
        let Some(at) = MessageTime::parse(&at) else {
            return Err(Problem::new(format!(
                "{place}: `at` is `{}`, expected a time such as 2024-01-15T10:30:00Z, seconds since 1970, or null",
                at.escape_debug()
            )));
        };
        message = message.at(at);
    }
    message.reference = line.reference;
    message.message.name = line.speaker;
    // A repeated memory must not be found as if it had been said twice.
    message.recallable = !line.recalled;
    let mut import = Import::new(line.channel, line.sender, line.conversation, message);
    import.title = line.title;
    import.summary = line.summary;
    let facts = line.facts.into_iter();
    import.facts = facts.map(|(key, value)| NewFact::new(key, value)).collect();
    let checked = import.check();
    checked.map_err(|error| Problem::new(format!("{place}: {error}")))?;
    Ok(import)
}
