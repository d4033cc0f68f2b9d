//! Opens a file: its rights, its settings, its version.

mod existing;

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::is_not_a_store;
use super::named::NamedFile;
use super::threads::Sqlite;
use crate::error::{Result, StoreError};
use crate::schema;

/// The time that a writer waits for another process to finish.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Marks a file as a store of Kitbag ("kbag").
const APPLICATION: i64 = 0x6b62_6167;

/// Reads are short and SQLite's readers do not block each other, so a few threads are enough.
const READERS: usize = 3;

/// Opens or makes the store in `path`, and brings it up to date.
pub(crate) fn open(path: &Path) -> Result<Sqlite> {
    make_file(path)?;
    start(path, Access::Usual)
}

/// Opens the existing store in `path` and brings it up to date. A read-only file is only read.
pub(crate) fn open_existing(path: &Path) -> Result<Sqlite> {
    let none = |reason| StoreError::NoStore {
        location: path.display().to_string(),
        reason,
    };
    match fs::metadata(path) {
        Ok(file) if !file.is_file() => return Err(cannot_open(path, no_file(&file))),
        Ok(file) if file.len() == 0 => return Err(none("the file is empty")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(none("the file does not exist"));
        }
        Err(error) => return Err(cannot_open(path, error)),
    }
    let access = existing::access(path)?;
    let connection = connect(path, access).map_err(|error| failure(path, &error))?;
    if version(path, &connection)? == 0 {
        return Err(none("the file has no tables"));
    }
    drop(connection);
    start(path, access)
}

/// The access that the system grants to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Written, or read while others write.
    Usual,
    /// Only read, on the assumption that nobody writes.
    Immutable,
}

fn start(path: &Path, access: Access) -> Result<Sqlite> {
    let failure = |error: rusqlite::Error| failure(path, &error);
    let mut writer = connect(path, access).map_err(failure)?;
    migrate(path, &mut writer)?;
    let mut readers = Vec::with_capacity(READERS);
    for _ in 0..READERS {
        // Lets SQLite itself refuse an operation that writes although it was declared as a read.
        let reader = connect(path, access).map_err(failure)?;
        reader
            .pragma_update(None, "query_only", true)
            .map_err(failure)?;
        readers.push(reader);
    }
    let start = |file| Sqlite::start(file, writer, readers);
    NamedFile::new(path)
        .and_then(start)
        .map_err(|error| cannot_open(path, error))
}

/// Makes the file, readable by its owner alone since it holds what people said, and its folder.
fn make_file(path: &Path) -> Result<()> {
    let make = || -> io::Result<()> {
        // Opening a pipe would wait for somebody to write into it.
        if let Some(other) = fs::metadata(path).ok().filter(|found| !found.is_file()) {
            return Err(io::Error::other(no_file(&other)));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        // Opened to append, so that a file that exists already keeps its content.
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map(drop)
    };
    make().map_err(|error| cannot_open(path, error))
}

fn connect(path: &Path, access: Access) -> rusqlite::Result<Connection> {
    let mut connection = match access {
        Access::Usual => {
            // Where the file may only be read, SQLite falls back to that by itself.
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            Connection::open_with_flags(path, flags)?
        }
        Access::Immutable => existing::connect_immutable(path)?,
    };
    connection.busy_handler(Some(wait))?;
    // rusqlite's default is 16, and the store has far more statements than that.
    connection.set_prepared_statement_cache_capacity(128);
    // Without this, a statement with a limit among its parameters is planned again at each run.
    // Together with statements that are the same for any number of places, it took a recall among
    // 10,000 messages from .22 to .17 ms.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // An acknowledged write survives a loss of power; what was deleted is overwritten.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "secure_delete", true)?;
    // Negative: in KiB, so 16 MiB for each connection.
    connection.pragma_update(None, "cache_size", -16_384)?;
    Ok(connection)
}

/// Waits a little for another process and returns false once `PATIENCE` is over. The holder of the
/// lock soon wants it again, and there is no queue: a process that sleeps as long as SQLite's own
/// handler does, up to a tenth of a second, may not get it for seconds.
fn wait(attempts: i32) -> bool {
    // With two processes that write all the time, 20 rounds of the crash test take 6 s with these
    // pauses, and 26 s with SQLite's own.
    let pause = Duration::from_millis(if attempts < 100 { 1 } else { 3 });
    thread::sleep(pause);
    pause * attempts.unsigned_abs() < PATIENCE
}

/// Brings the tables up to date. Several processes may try at once: one does it, the others wait.
fn migrate(path: &Path, connection: &mut Connection) -> Result<()> {
    let found = version(path, connection)?;
    if found == schema::VERSION {
        return Ok(());
    }
    let is_read_only = connection.is_readonly(rusqlite::MAIN_DB);
    if found >= schema::SAME_TABLES && is_read_only.map_err(|error| failure(path, &error))? {
        return Ok(());
    }
    let failure = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
            if found > 0 =>
        {
            StoreError::Older {
                path: path.into(),
                found,
                known: schema::VERSION,
            }
        }
        _ => failure(path, &error),
    };
    // Outside the transaction: the mode of the log cannot change within one.
    use_write_ahead_log(connection).map_err(failure)?;
    connection
        .execute_batch("BEGIN IMMEDIATE")
        .map_err(failure)?;
    // Again, now under the lock: another process may have finished the migration meanwhile.
    let found = version(path, connection)?;
    for step in schema::sqlite_steps_after(found) {
        connection.execute_batch(&step).map_err(failure)?;
    }
    let finish = format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {}; COMMIT",
        schema::VERSION
    );
    connection.execute_batch(&finish).map_err(failure)
}

/// The version of the tables, 0 for a new file.
fn version(path: &Path, connection: &Connection) -> Result<i64> {
    let failure = |error: rusqlite::Error| failure(path, &error);
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    // Within a savepoint, which sees one moment: another process may be making the tables right
    // now.
    connection
        .execute_batch("SAVEPOINT version")
        .map_err(failure)?;
    let read = number("PRAGMA application_id").and_then(|application| {
        let found = number("PRAGMA user_version")?;
        let tables = number("SELECT count(*) FROM sqlite_schema")?;
        Ok((application, found, tables))
    });
    connection
        .execute_batch("RELEASE version")
        .map_err(failure)?;
    let (application, found, tables) = read.map_err(failure)?;
    // A new file has neither tables nor a mark. Tables without our mark are those of another
    // program.
    if application != APPLICATION && (tables > 0 || application != 0) {
        return Err(StoreError::NotAStore {
            path: path.into(),
            reason: "another program made it".to_owned(),
        });
    }
    if found > schema::VERSION {
        return Err(StoreError::Newer {
            found,
            known: schema::VERSION,
        });
    }
    Ok(found)
}

/// Switches the journal to the write-ahead log. That needs the file exclusively for a moment, and
/// SQLite does not wait for it by itself.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let mut pause = Duration::from_millis(5);
    loop {
        let switched = connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match switched {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    // The pauses double, so this gives up after about 10 seconds.
                    && pause < PATIENCE / 4 =>
            {
                thread::sleep(pause);
                pause *= 2;
            }
            other => return other,
        }
    }
}

fn failure(path: &Path, error: &rusqlite::Error) -> StoreError {
    match is_not_a_store(error) {
        true => StoreError::NotAStore {
            path: path.into(),
            reason: error.to_string(),
        },
        false => cannot_open(path, error),
    }
}

fn no_file(found: &fs::Metadata) -> &'static str {
    match found.is_dir() {
        true => "it is a folder",
        false => "it is no regular file",
    }
}

fn cannot_open(path: &Path, reason: impl ToString) -> StoreError {
    StoreError::Open {
        path: path.into(),
        reason: reason.to_string(),
    }
}
