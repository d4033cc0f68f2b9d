//! Empties SQLite's log into the file.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::open::PATIENCE;

/// The pause between attempts: a checkpoint of another process takes milliseconds.
const PAUSE: Duration = Duration::from_millis(5);

/// Moves everything from the log into the file. Returns false when that was not possible in time.
///
/// SQLite waits for readers and writers by itself, but not for another process that empties the
/// log.
pub(crate) fn clear_log(connection: &Connection) -> rusqlite::Result<bool> {
    let end = Instant::now() + PATIENCE;
    loop {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: i64 = connection.query_row(checkpoint, [], |row| row.get(0))?;
        if busy == 0 {
            return Ok(true);
        }
        if Instant::now() >= end {
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
}
