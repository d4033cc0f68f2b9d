//! Reads a file that is read-only or lies in a read-only folder.
//!
//! SQLite keeps a log and the log's index next to the file, and cannot read without them unless the
//! file is opened as immutable. An existing log may hold rows that the file does not: then it is
//! needed.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Access, cannot_open, connect, failure};
use crate::error::Result;

/// Determines the access that `path` allows.
pub(super) fn access(path: &Path) -> Result<Access> {
    let may_write = || fs::OpenOptions::new().append(true).open(path).is_ok();
    if !log_of(path).exists() && !may_write() && fs::File::open(path).is_ok() {
        // Nobody has it open. SQLite would make the log and its index with the file's own rights
        // and leave them there: a user who may write the file later could not write those.
        return Ok(Access::Immutable);
    }
    let look = |connection: Connection| {
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    };
    // Only reading a table makes SQLite open its log.
    let Err(error) = connect(path, Access::Usual).and_then(look) else {
        return Ok(Access::Usual);
    };
    let is_refused = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    );
    if !is_refused || fs::File::open(path).is_err() {
        return Err(failure(path, &error));
    }
    if has_log(path) {
        let reason = "it has a log, which cannot be read where nothing can be written beside it";
        return Err(cannot_open(path, reason));
    }
    Ok(Access::Immutable)
}

/// Opens the file on the assumption that nobody changes it.
pub(super) fn connect_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let invalid = || rusqlite::Error::InvalidPath(path.into());
    let path = std::path::absolute(path).map_err(|_| invalid())?;
    // The path becomes part of a URI, in which these three characters have a meaning.
    let path = path.to_str().ok_or_else(invalid)?.replace('%', "%25");
    let path = path.replace('?', "%3f").replace('#', "%23");
    let uri = format!("file:{path}?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(uri, flags)
}

/// Returns true when rows were written that are not in the file yet.
fn has_log(path: &Path) -> bool {
    fs::metadata(log_of(path)).is_ok_and(|log| log.len() > 0)
}

fn log_of(path: &Path) -> PathBuf {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    log.into()
}
