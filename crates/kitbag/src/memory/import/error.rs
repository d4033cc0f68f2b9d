//! Errors of an import, with their place.

use std::fmt;
use std::io;

use serde::Deserialize;

use super::MAX_RECORD_BYTES;

/// A part of an import that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A record is no JSON, or has not what is expected.
    #[error("{place}: {problem}")]
    Json {
        /// The place.
        place: Place,
        /// The message of the parser, and the text at its place.
        problem: String,
    },
    /// A field has a value that it cannot have.
    #[error("{place}: `{field}` is {found}, expected {expected}")]
    Field {
        /// The place.
        place: Place,
        /// The field.
        field: &'static str,
        /// The value.
        found: String,
        /// The possible values.
        expected: &'static str,
    },
    /// A record is too long.
    #[error("{place}: longer than {} MiB", MAX_RECORD_BYTES >> 20)]
    TooLong {
        /// The place.
        place: Place,
    },
    /// The file ends too early.
    #[error("{place}: the file ends in the middle of it")]
    Unfinished {
        /// The place.
        place: Place,
    },
    /// A record is neither a conversation nor a message.
    #[error(
        "{place}: no conversation and no message: it has neither `mapping` nor `chat_messages`, `messages`, `text` or `content`"
    )]
    UnknownFormat {
        /// The place.
        place: Place,
    },
    /// An archive holds nothing to import.
    #[error("the archive has no conversations: {found}")]
    NoConversations {
        /// The files in it, in words.
        found: String,
    },
    /// Something is wrong in a file of an archive.
    #[error("{file}: {error}")]
    InFile {
        /// The file.
        file: String,
        /// The problem.
        error: Box<ImportError>,
    },
    /// The system refused.
    #[error("cannot read the import: {source}")]
    Read {
        /// The error of the system.
        source: io::Error,
    },
}

impl ImportError {
    /// A role that there is not.
    pub(in crate::memory) fn role(
        place: Place,
        field: &'static str,
        found: &str,
        expected: &'static str,
    ) -> Self {
        Self::Field {
            place,
            field,
            found: format!("`{}`", found.escape_debug()),
            expected,
        }
    }

    /// A problem of the parser, with the text there if the message lacks it.
    pub(super) fn json(place: Place, error: &serde_json::Error, record: &[u8]) -> Self {
        let told = error.to_string();
        // The parser counts lines from the beginning of the record, which is not what an editor shows.
        let (what, _) = told.split_once(" at line ").unwrap_or((&told, ""));
        let column = error.column();
        let mut problem = match error.line() {
            0 => what.to_owned(),
            1 => format!("{what} at column {column}"),
            line => format!("{what} at column {column} of its line {line}"),
        };
        // Errors of data name the value themselves; errors of syntax do not.
        if error.is_syntax() && error.line() <= 1 {
            // The column counts bytes from 1.
            let from = record.get(column.saturating_sub(1)..).unwrap_or_default();
            let found: String = String::from_utf8_lossy(from).chars().take(24).collect();
            if !found.trim().is_empty() {
                problem.push_str(&format!(", found `{}`", found.trim().escape_debug()));
            }
        }
        Self::Json { place, problem }
    }

    /// Tells whether nothing can be read after this error.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            // A damaged record ends nothing; a damaged archive ends all.
            Self::InFile { error, .. } => error.is_final(),
            Self::Read { .. } | Self::NoConversations { .. } | Self::Unfinished { .. } => true,
            Self::Json { .. }
            | Self::Field { .. }
            | Self::UnknownFormat { .. }
            // The end of a record is known without reading its contents.
            | Self::TooLong { .. } => false,
        }
    }

    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Json {
                place: Place::Line(_),
                ..
            } => "each line is a JSON object with at least `text` or `content`",
            Self::Json { .. } | Self::Field { .. } => {
                "correct the record; the others are read without it"
            }
            Self::TooLong { .. } => "split the record; the others are read without it",
            Self::Unfinished { .. } => "download the file again: it is incomplete",
            Self::UnknownFormat { .. } | Self::NoConversations { .. } => {
                "give an export of ChatGPT or Claude, its `conversations.json`, or JSON lines"
            }
            Self::Read { source } => match source.kind() {
                io::ErrorKind::Unsupported => {
                    "unpack the archive, and give its `conversations.json`"
                }
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                    "download the file again: it is damaged"
                }
                _ => "check that the file can be read",
            },
            Self::InFile { error, .. } => error.hint(),
        }
    }
}

/// Reads the JSON of a record, or of a part of one.
pub(in crate::memory) fn parsed<'a, T: Deserialize<'a>>(
    record: &'a [u8],
    place: impl FnOnce() -> Place,
) -> Result<T, ImportError> {
    serde_json::from_slice(record).map_err(|error| ImportError::json(place(), &error, record))
}

/// A place in an import.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A line of the file, counted from 1.
    Line(u64),
    /// A record of the file, counted from 1, of which nothing else is known.
    Record(u64),
    /// A conversation of an export.
    Conversation {
        /// Its number, counted from 1.
        number: u64,
        /// Its title, where that could be read.
        title: Option<String>,
        /// A message of it, by its id or its number.
        message: Option<String>,
    },
}

impl Place {
    /// A conversation of which nothing is known but its number.
    pub(in crate::memory) fn conversation(number: u64) -> Self {
        Self::Conversation {
            number,
            title: None,
            message: None,
        }
    }

    /// A message of a conversation.
    pub(in crate::memory) fn message(
        number: u64,
        title: &Option<String>,
        message: impl ToString,
    ) -> Self {
        Self::Conversation {
            number,
            title: title.clone(),
            message: Some(message.to_string()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Record(number) => write!(f, "record {number}"),
            Self::Conversation {
                number,
                title,
                message,
            } => {
                if let Some(message) = message {
                    write!(f, "message `{message}` of ")?;
                }
                write!(f, "conversation {number}")?;
                match title {
                    Some(title) => write!(f, " (`{}`)", title.escape_debug()),
                    None => Ok(()),
                }
            }
        }
    }
}
