//! A file of records, or stdin.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::failure::Failure;
use crate::input;

/// Opens a file, or stdin for `-`.
pub(super) fn open(path: &Path) -> Result<BufReader<Box<dyn Read + Send>>, Failure> {
    let from: Box<dyn Read + Send> = if input::is_stdin(path) {
        Box::new(io::stdin())
    } else {
        let failed = |error| Failure::new(format_args!("cannot read {}: {error}", path.display()));
        let file = File::open(path).map_err(failed)?;
        if file.metadata().is_ok_and(|file| file.is_dir()) {
            // Unix opens a folder without an error; reading it would fail later, in a message without its name.
            return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        Box::new(file)
    };
    Ok(BufReader::with_capacity(1 << 16, from))
}
