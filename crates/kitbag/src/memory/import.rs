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

mod branch;
mod error;
mod format;
mod line;
mod values;

use std::collections::VecDeque;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde::de::IgnoredAny;

pub(super) use branch::branch;
pub use error::{ImportError, Place};
pub use format::{ImportDefaults, ImportFormat, UnknownImportFormat};
pub use line::ImportLine;
pub(super) use line::{text_or_number, time_of};

use super::{export_chatgpt, export_claude};
use values::{Found, Values};

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
/// let lines: Result<Vec<_>, _> = read_import(file.as_bytes(), None, &ImportDefaults::new()).collect();
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
        source: Source::Unopened(reader, format),
        defaults: defaults.clone(),
        waiting: VecDeque::new(),
        left_out: LeftOut::default(),
    }
}

/// The lines of an import, one after the other; see [`read_import`].
///
/// After an error of reading, or where the format stays unknown, nothing more comes.
#[derive(Debug)]
pub struct Import<R> {
    source: Source<R>,
    defaults: ImportDefaults,
    waiting: VecDeque<Result<ImportLine, ImportError>>,
    left_out: LeftOut,
}

#[derive(Debug)]
enum Source<R> {
    Unopened(R, Option<ImportFormat>),
    Lines {
        reader: R,
        line: u64,
    },
    Conversations {
        values: Values<R>,
        service: Option<Service>,
        number: u64,
    },
    Ended,
}

/// Whose export it is.
#[derive(Debug, Clone, Copy)]
enum Service {
    ChatGpt,
    Claude,
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
            if matches!(self.source, Source::Ended) {
                return None;
            }
            if let Err(error) = self.read_on() {
                if error.is_final() {
                    self.source = Source::Ended;
                }
                return Some(Err(error));
            }
        }
    }
}

impl<R: BufRead> Import<R> {
    /// Opens the file, or reads one record of it into what waits.
    fn read_on(&mut self) -> Result<(), ImportError> {
        match std::mem::replace(&mut self.source, Source::Ended) {
            Source::Unopened(reader, format) => {
                self.source = open(reader, format)?;
                Ok(())
            }
            Source::Lines { mut reader, line } => {
                let read = line::read_line(&mut reader, MAX_RECORD_BYTES);
                let Some(record) = read.map_err(ImportError::read)? else {
                    return Ok(());
                };
                self.source = Source::Lines {
                    reader,
                    line: line + 1,
                };
                self.take_line(record, Place::Line(line))
            }
            Source::Conversations {
                mut values,
                service,
                number,
            } => {
                let place = Place::conversation(number);
                let mut record = Vec::new();
                let found = values.next(&mut record, MAX_RECORD_BYTES);
                let is_too_long = match found.map_err(ImportError::read)? {
                    Found::Value => false,
                    Found::TooLong => true,
                    Found::End => return Ok(()),
                    Found::Unfinished => return Err(ImportError::Unfinished { place }),
                };
                let service = match service {
                    None if !is_too_long => Some(service_of(&record, &place)?),
                    known => known,
                };
                self.source = Source::Conversations {
                    values,
                    service,
                    number: number + 1,
                };
                if is_too_long {
                    return Err(ImportError::TooLong { place });
                }
                self.take_conversation(&record, service, number)
            }
            Source::Ended => Ok(()),
        }
    }

    fn take_line(&mut self, record: line::Record, place: Place) -> Result<(), ImportError> {
        let line::Record::Whole(record) = record else {
            return Err(ImportError::TooLong { place });
        };
        if record.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let line = line::parse(&record, &self.defaults, place)?;
        if line.text.trim().is_empty() {
            self.left_out.empty += 1;
        } else {
            self.waiting.push_back(Ok(line));
        }
        Ok(())
    }

    fn take_conversation(
        &mut self,
        record: &[u8],
        service: Option<Service>,
        number: u64,
    ) -> Result<(), ImportError> {
        let read = match service {
            Some(Service::ChatGpt) => export_chatgpt::read_conversation,
            Some(Service::Claude) => export_claude::read_conversation,
            None => return Ok(()),
        };
        let lines = read(record, number, &self.defaults, &mut self.left_out)?;
        self.waiting.extend(lines);
        Ok(())
    }
}

/// Skips what may stand before the first record, and finds out what follows.
fn open<R: BufRead>(mut reader: R, format: Option<ImportFormat>) -> Result<Source<R>, ImportError> {
    let mut line = 1;
    let first = skip_blanks(&mut reader, &mut line).map_err(ImportError::read)?;
    let Some(first) = first else {
        return Ok(Source::Ended);
    };
    let service = match (format, first) {
        (Some(ImportFormat::ChatGpt), _) => Some(Service::ChatGpt),
        (Some(ImportFormat::Claude), _) => Some(Service::Claude),
        (None, b'[') => None,
        (None | Some(ImportFormat::Lines), _) => return Ok(Source::Lines { reader, line }),
    };
    let values = Values::of(reader).map_err(ImportError::read)?;
    Ok(Source::Conversations {
        values,
        service,
        number: 1,
    })
}

/// The first byte that is neither blank nor of a byte order mark. It stays to be read.
fn skip_blanks<R: BufRead>(reader: &mut R, line: &mut u64) -> io::Result<Option<u8>> {
    const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
    loop {
        let Some(&first) = values::fill(reader)?.first() else {
            return Ok(None);
        };
        if !first.is_ascii_whitespace() && !MARK.contains(&first) {
            return Ok(Some(first));
        }
        *line += u64::from(first == b'\n');
        reader.consume(1);
    }
}

/// Whose conversation this is, by what it has.
fn service_of(record: &[u8], place: &Place) -> Result<Service, ImportError> {
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
        (Some(_), _) => Ok(Service::ChatGpt),
        (None, Some(_)) => Ok(Service::Claude),
        (None, None) => Err(ImportError::UnknownFormat),
    }
}

#[cfg(test)]
mod tests;
