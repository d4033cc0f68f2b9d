//! The text of a file: encodings, and files that are not text.
//!
//! Reading never follows a link, never waits for a pipe and never reads more than was announced.

mod kind;
mod notebook;

use std::io::{self, Read as _};
use std::path::Path;

pub use kitbag_text::{decode, read_small};

pub use self::kind::{ContentKind, kind};
use crate::walk::{FileEntry, SIZE_LIMIT};

/// A file that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is no regular file, or no longer one.
    #[error("`{path}` is not a regular file")]
    NotAFile {
        /// The path below the root.
        path: String,
    },
    /// The system refused.
    #[error("`{path}` cannot be read: {message}")]
    Io {
        /// The path below the root.
        path: String,
        /// The system's message.
        message: String,
    },
}

/// Reads a listed file into `buffer`, which is cleared first. A notebook is read as the text of its
/// cells, so that all lines are counted in that.
///
/// A file that has grown since it was listed is cut at [`SIZE_LIMIT`], or at its listed size where
/// that is larger; one that grows meanwhile at the size it had.
///
/// # Errors
///
/// When the path is no regular file any more, or cannot be read. Nothing waits for a pipe.
pub fn read(root: &Path, entry: &FileEntry, buffer: &mut Vec<u8>) -> Result<(), ReadError> {
    buffer.clear();
    let error = |error: io::Error| match kitbag_text::is_no_file(&error) {
        true => ReadError::NotAFile {
            path: entry.path.clone(),
        },
        false => ReadError::Io {
            path: entry.path.clone(),
            message: error.to_string(),
        },
    };
    let (file, size) = kitbag_text::regular(&root.join(&entry.path)).map_err(error)?;
    let size = size.min(entry.size.max(SIZE_LIMIT));
    buffer.reserve(usize::try_from(size).unwrap_or(0));
    // The limit ends the read, which saves a call that asks the system for more.
    file.take(size).read_to_end(buffer).map_err(error)?;
    if entry.path.ends_with(".ipynb")
        && let Some(text) = notebook::text(buffer)
    {
        *buffer = text.into_bytes();
    }
    Ok(())
}
