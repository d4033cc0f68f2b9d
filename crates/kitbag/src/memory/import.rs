//! Reads what is to be remembered, record by record, from a file of any size.
//!
//! | format | what a file holds |
//! |---|---|
//! | lines | an [`ImportLine`] a line, as JSON; blank lines are skipped |
//! | ChatGPT | `conversations.json` of an export: an array of conversations, or one of them |
//! | Claude | `conversations.json` of an export: an array of conversations, or one of them |
//!
//! One record is held at a time: a line or a conversation. One that is bad is an error that says where
//! it is, and the next ones are read all the same. A byte order mark and Windows line ends are accepted.
//! Archives are not unpacked, and texts are neither judged nor shortened.

mod error;
mod format;
mod line;
mod records;

use std::collections::VecDeque;
use std::io::BufRead;

use serde::Deserialize;
use serde::de::IgnoredAny;

pub(super) use error::parsed;
pub use error::{ImportError, Place};
pub use format::{ImportDefaults, ImportFormat, UnknownImportFormat};
pub use line::ImportLine;
pub(super) use line::{text_or_number, time_of};

use super::{export_chatgpt, export_claude};
use records::{Found, Records};

/// How long a line or a conversation may be, in bytes.
pub const MAX_RECORD_BYTES: usize = 256 << 20;

/// Reads import lines from a file of JSON lines or from a chat export.
///
/// Without a format it is found out: an array whose first element has a `mapping` is ChatGPT's, one
/// with `chat_messages` is Claude's, and what is no array is lines.
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
        format,
        defaults: defaults.clone(),
        waiting: VecDeque::new(),
        left_out: LeftOut::default(),
        is_over: false,
    }
}

/// The lines of an import, one after the other; see [`read_import`].
///
/// After an error of reading, or where the format stays unknown, nothing more comes.
#[derive(Debug)]
pub struct Import<R> {
    records: Records<R>,
    /// Not known before the first record of an array was read.
    format: Option<ImportFormat>,
    defaults: ImportDefaults,
    waiting: VecDeque<Result<ImportLine, ImportError>>,
    left_out: LeftOut,
    is_over: bool,
}

impl<R> Import<R> {
    /// What was left out on purpose so far.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }
}

/// What an import leaves out on purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Branches of conversations that were left for another one, by editing or asking again.
    pub branches: u64,
    /// Messages that the user never saw: instructions, thoughts, calls of tools.
    pub hidden: u64,
    /// Records and messages without text.
    pub empty: u64,
}

impl<R: BufRead> Iterator for Import<R> {
    type Item = Result<ImportLine, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(line) = self.waiting.pop_front() {
                return Some(line);
            }
            if self.is_over {
                return None;
            }
            if let Err(error) = self.read_on() {
                self.is_over = error.is_final();
                return Some(Err(error));
            }
        }
    }
}

impl<R: BufRead> Import<R> {
    /// Reads one record into what waits.
    fn read_on(&mut self) -> Result<(), ImportError> {
        let mut record = Vec::new();
        let opened = self.records.open(&mut self.format);
        let found = opened.and_then(|()| self.records.next(&mut record, MAX_RECORD_BYTES));
        let found = found.map_err(|source| ImportError::Read { source })?;
        let place = self.records.place();
        match found {
            Found::Record => {}
            Found::TooLong => return Err(ImportError::TooLong { place }),
            Found::Unfinished => return Err(ImportError::Unfinished { place }),
            Found::End => {
                self.is_over = true;
                return Ok(());
            }
        }
        let format = match self.format {
            Some(format) => format,
            None => format_of(&record, &place)?,
        };
        self.format = Some(format);
        let read = match format {
            ImportFormat::ChatGpt => export_chatgpt::read,
            ImportFormat::Claude => export_claude::read,
            ImportFormat::Lines => return self.take_line(&record, place),
        };
        let exported = read(&record, self.records.count, &mut self.left_out)?;
        let lines = exported.lines(format.name(), &self.defaults, &mut self.left_out);
        self.waiting.extend(lines);
        Ok(())
    }

    fn take_line(&mut self, record: &[u8], place: Place) -> Result<(), ImportError> {
        let line = line::parse(record, &self.defaults, place)?;
        if line.text.trim().is_empty() {
            self.left_out.empty += 1;
        } else {
            self.waiting.push_back(Ok(line));
        }
        Ok(())
    }
}

/// Whose conversation this is, by what it has.
fn format_of(record: &[u8], place: &Place) -> Result<ImportFormat, ImportError> {
    #[derive(Deserialize)]
    struct Shape {
        mapping: Option<IgnoredAny>,
        chat_messages: Option<IgnoredAny>,
    }
    let shape: Shape = serde_json::from_slice(record).map_err(|error| {
        if error.is_data() {
            ImportError::UnknownFormat
        } else {
            ImportError::json(place.clone(), &error, record)
        }
    })?;
    match (shape.mapping, shape.chat_messages) {
        (Some(_), _) => Ok(ImportFormat::ChatGpt),
        (None, Some(_)) => Ok(ImportFormat::Claude),
        (None, None) => Err(ImportError::UnknownFormat),
    }
}

#[cfg(test)]
mod tests;
