//! Opens files and decodes their text.
//!
//! Opening never follows a link and never waits for a pipe. This is a crate of its own so that
//! readers of configuration do not link the parsers of a workspace.

mod decode;
mod open;

use std::io::{self, Read as _};
use std::path::Path;

pub use decode::{decode, is_binary};
pub use open::{is_no_file, regular};

/// Reads a small file, such as a list of rules, up to `limit` bytes.
///
/// # Errors
///
/// When it is no regular file, or cannot be read.
pub fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, size) = regular(path)?;
    // One byte more than the file has: the read that finds its end then needs no larger buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or(0) + 1);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
