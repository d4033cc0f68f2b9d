//! Reads messages to remember, record by record, from a file of any size.
//!
//! | format | what a file holds |
//! |---|---|
//! | lines | an [`ImportLine`] a line, as JSON, or a message or conversation of a chat API; blank lines are skipped |
//! | ChatGPT | `conversations.json` of an export: an array of conversations, or one of them |
//! | Claude | `conversations.json` of an export: an array of conversations, or one of them; `memories.json` |
//!
//! Each may be an array, stand under `conversations` in an object, or lie in a zip archive as it was
//! downloaded. UTF-16 is known by its byte order mark; one of UTF-8 and Windows line ends are accepted.
//!
//! One record is held at a time: a line or a conversation. A bad one is an error with its place, and
//! the next ones are read nevertheless. [`ImportTally`] counts every kind of record with its fate.
//! Texts are neither judged nor shortened.

mod ahead;
mod archive;
mod contents;
mod error;
mod format;
mod input;
mod line;
mod opening;
mod records;
mod tally;
mod unicode;
mod written;

use std::collections::VecDeque;
use std::io::{self, BufRead};

use kitbag_core::role::Role;
use serde::Deserialize;
use serde::de::IgnoredAny;

pub(super) use error::parsed;
pub use error::{ImportError, Place};
pub use format::{ImportDefaults, ImportFormat, UnknownImportFormat};
pub use line::ImportLine;
pub(super) use line::{clean, time_of};
pub use tally::{Fate, ImportTally, RecordKind};
pub(super) use written::text_or_number;

use super::{export_chatgpt, export_claude};
use input::Opened;
use records::{Found, Records};
use written::Line;

/// The longest line or conversation, in bytes.
pub const MAX_RECORD_BYTES: usize = 256 << 20;

/// Reads import lines from a file of JSON lines or from a chat export.
///
/// Without a format it is found out: a conversation that has a `mapping` is ChatGPT's, one with
/// `chat_messages` is Claude's, and messages are lines.
///
/// ```
/// use kitbag::memory::{ImportDefaults, read_import};
///
/// let file = r#"{"text": "I never eat fish", "at": "2026-01-13T10:00:00Z"}
/// {"text": "Noted.", "role": "assistant"}"#;
/// let lines: Result<Vec<_>, _> = read_import(file.as_bytes(), None, &ImportDefaults::default()).collect();
/// let lines = lines?;
/// assert_eq!(lines[0].text, "I never eat fish");
/// assert_eq!((lines[0].channel.as_str(), lines[0].sender.as_str()), ("import", "user"));
/// # Ok::<(), kitbag::memory::ImportError>(())
/// ```
#[must_use]
pub fn read_import<R: BufRead>(
    reader: R,
    format: Option<ImportFormat>,
    defaults: &ImportDefaults,
) -> Import<R> {
    Import {
        records: Records::of(reader),
        named: format,
        format,
        defaults: defaults.clone(),
        waiting: VecDeque::new(),
        tally: ImportTally::default(),
        file: File::None,
        is_barren: true,
        record: Vec::new(),
    }
}

/// The lines of an import, one after the other; see [`read_import`].
///
/// After an error of reading nothing more comes.
#[derive(Debug)]
pub struct Import<R> {
    records: Records<R>,
    /// The format that was asked for.
    named: Option<ImportFormat>,
    /// The format of the file, which is unknown until a record of it was read.
    format: Option<ImportFormat>,
    defaults: ImportDefaults,
    waiting: VecDeque<Result<ImportLine, ImportError>>,
    tally: ImportTally,
    file: File,
    /// Neither a line nor an error has come yet.
    is_barren: bool,
    /// The bytes of the record that is read.
    record: Vec<u8>,
}

/// The file that is being read.
#[derive(Debug)]
enum File {
    /// None yet, or the last was read to its end.
    None,
    Plain,
    Entry(String),
    /// There is nothing more to read.
    Over,
}

impl<R: BufRead> Import<R> {
    /// The records that were met so far, by kind.
    #[must_use]
    pub fn tally(&self) -> &ImportTally {
        &self.tally
    }

    /// The place of the record that the last line came from.
    #[must_use]
    pub fn place(&self) -> Place {
        self.records.place()
    }
}

impl<R: BufRead> Iterator for Import<R> {
    type Item = Result<ImportLine, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(line) = self.waiting.pop_front() {
                self.is_barren = false;
                if let Ok(line) = &line {
                    // Counted when it is handed out, so that the tally of an import that stops early is true.
                    self.tally.add(kind_of(line.role));
                }
                return Some(line);
            }
            if matches!(self.file, File::Over) {
                return None;
            }
            if let Err(error) = self.read_on() {
                self.is_barren = false;
                let error = match &self.file {
                    File::Entry(file) => ImportError::InFile {
                        file: file.clone(),
                        error: Box::new(error),
                    },
                    _ => error,
                };
                if error.is_final() {
                    self.file = File::Over;
                }
                return Some(Err(error));
            }
        }
    }
}

fn kind_of(role: Role) -> RecordKind {
    match role {
        Role::User => RecordKind::UserMessages,
        Role::Assistant => RecordKind::AssistantMessages,
        Role::Tool => RecordKind::ToolMessages,
        Role::System => RecordKind::SystemMessages,
    }
}

impl<R: BufRead> Import<R> {
    /// Reads one record into what waits, or goes to the next file.
    fn read_on(&mut self) -> Result<(), ImportError> {
        if let File::None = self.file {
            return self.open_next();
        }
        self.record.clear();
        let opened = self.records.open(&mut self.format);
        let found = opened.and_then(|()| self.records.next(&mut self.record, MAX_RECORD_BYTES));
        let found = found.map_err(|source| self.unreadable(source))?;
        match found {
            Found::Record => self.take_record(),
            Found::TooLong => Err(ImportError::TooLong {
                place: self.place(),
            }),
            Found::Unfinished => Err(ImportError::Unfinished {
                place: self.place(),
            }),
            Found::End => {
                self.file = File::None;
                Ok(())
            }
        }
    }

    fn open_next(&mut self) -> Result<(), ImportError> {
        let before = self.records.input().contents.passed();
        let opened = self.records.open_next();
        let passed = self.records.input().contents.passed();
        // Before the error is returned: files were skipped also on the way to a damaged one.
        self.tally.add_many(RecordKind::Files, passed - before);
        let opened = opened.map_err(|source| self.unreadable(source))?;
        self.file = match opened {
            Opened::Plain => File::Plain,
            Opened::Entry(path) => File::Entry(path),
            Opened::None => {
                self.file = File::Over;
                let input = self.records.input();
                return match input.is_archive() && self.is_barren {
                    true => Err(ImportError::NoConversations {
                        found: input.contents.describe(),
                    }),
                    false => Ok(()),
                };
            }
        };
        // Each file of an archive may have a format of its own.
        self.format = self.named;
        Ok(())
    }

    fn unreadable(&self, source: io::Error) -> ImportError {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => ImportError::Unfinished {
                place: self.place(),
            },
            _ => ImportError::Read { source },
        }
    }

    fn take_record(&mut self) -> Result<(), ImportError> {
        let place = self.place();
        let mut format = match self.format {
            Some(format) => format,
            None => format_of(&self.record, &place)?,
        };
        self.format = Some(format);
        if format == ImportFormat::Lines {
            match written::parse(&self.record, &self.defaults, &place)? {
                Line::Said(lines) => {
                    for line in lines {
                        match line.text.trim().is_empty() {
                            true => self.tally.add(RecordKind::Empty),
                            false => self.waiting.push_back(Ok(line)),
                        }
                    }
                    return Ok(());
                }
                // A file of lines may hold exported conversations, one a line.
                Line::Exported(of) => format = of,
            }
        }
        let read = match format {
            ImportFormat::ChatGpt => export_chatgpt::read,
            _ => export_claude::read,
        };
        let exported = read(&self.record, self.records.count, &mut self.tally)?;
        let lines = exported.lines(format.name(), &self.defaults, &mut self.tally);
        self.waiting.extend(lines);
        Ok(())
    }
}

/// The format of a conversation, by its fields.
fn format_of(record: &[u8], place: &Place) -> Result<ImportFormat, ImportError> {
    #[derive(Deserialize)]
    struct Shape {
        mapping: Option<IgnoredAny>,
        chat_messages: Option<IgnoredAny>,
        conversations_memory: Option<IgnoredAny>,
        project_memories: Option<IgnoredAny>,
        messages: Option<IgnoredAny>,
        text: Option<IgnoredAny>,
        content: Option<IgnoredAny>,
    }
    let place = || place.clone();
    let shape: Shape = serde_json::from_slice(record).map_err(|error| {
        if error.is_data() {
            ImportError::UnknownFormat { place: place() }
        } else {
            ImportError::json(place(), &error, record)
        }
    })?;
    let is_memory = shape.conversations_memory.is_some() || shape.project_memories.is_some();
    let is_lines = shape.messages.is_some() || shape.text.is_some() || shape.content.is_some();
    match (shape.mapping, shape.chat_messages) {
        (Some(_), _) => Ok(ImportFormat::ChatGpt),
        (None, Some(_)) => Ok(ImportFormat::Claude),
        (None, None) if is_memory => Ok(ImportFormat::Claude),
        (None, None) if is_lines => Ok(ImportFormat::Lines),
        (None, None) => Err(ImportError::UnknownFormat { place: place() }),
    }
}

#[cfg(test)]
mod tests;
