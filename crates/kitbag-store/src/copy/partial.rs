//! The file of a backup that is under way. It gets its name when it is whole, and is removed otherwise.
//!
//! It has a name of its own, so that no file of anybody else is written over. A lock beside it keeps two
//! backups from writing the same file, and tells one that is under way from one that was interrupted.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// Files that SQLite makes beside a database.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Locks that are removed under our hands are made again at most as often.
const TRIES: u32 = 100;

/// A file that is removed again unless it is kept.
pub(super) struct Partial {
    pub(super) path: PathBuf,
    /// The files of backups to the same name that were interrupted.
    pub(super) left_over: Vec<PathBuf>,
    to: PathBuf,
    /// Held until the end.
    _lock: Lock,
}

impl Partial {
    /// Makes an empty file next to the one that is meant, for its owner alone. Nobody else may have the
    /// same mark.
    pub(super) fn new(to: &Path, mark: &str) -> Result<Self> {
        if fs::symlink_metadata(to).is_ok() {
            return Err(exists(to));
        }
        let lock = Lock::take(to)?;
        let left_over = left_over(to);
        let path = beside(to, &format!(".partial-{mark}"));
        let made = private().create_new(true).open(&path);
        made.map_err(|error| failed(&path, &error))?;
        Ok(Self {
            path,
            left_over,
            to: to.to_owned(),
            _lock: lock,
        })
    }

    /// Gives the file its name once all of it is on the disk, and returns its size.
    pub(super) fn keep(&self) -> Result<u64> {
        let (path, to) = (&self.path, &self.to);
        let kept = || -> io::Result<u64> {
            let file = File::open(path)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            match fs::hard_link(path, to) {
                Ok(()) => {}
                // Some file systems have no links. There a file that comes now is written over.
                Err(_) if fs::symlink_metadata(to).is_err() => fs::rename(path, to)?,
                Err(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            }
            #[cfg(unix)]
            File::open(folder(to))?.sync_all()?;
            Ok(bytes)
        };
        kept().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(to),
            _ => failed(to, &error),
        })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        for ending in [""].iter().chain(&COMPANIONS) {
            // It is not there once it was renamed.
            drop(fs::remove_file(beside(&self.path, ending)));
        }
    }
}

/// The right to write a backup of some name.
struct Lock {
    path: PathBuf,
    /// Unlocked when it is closed, also by a process that was killed.
    _file: File,
}

impl Lock {
    /// The database itself is not locked: some systems take this lock for one of SQLite's.
    fn take(to: &Path) -> Result<Self> {
        let path = beside(to, ".partial-lock");
        for _ in 0..TRIES {
            let file = private().create(true).truncate(false).open(&path);
            let file = file.map_err(|error| failed(&path, &error))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => break,
                // Whoever held it has removed it meanwhile: another may have made the next by now.
                Ok(()) if !is_named(&file, &path) => {}
                // Where files cannot be locked, the name alone keeps backups apart.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Self { path, _file: file }),
            }
        }
        let problem = format!(
            "{} is being written by another process; wait for it, or choose another name",
            to.display()
        );
        Err(StoreError::invalid("the backup", problem))
    }
}

/// Returns whether an open file still has its name.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let named = fs::metadata(path).map(identity).ok();
    named.is_some() && named == file.metadata().map(identity).ok()
}

/// Returns whether an open file still has its name. Without an identity to compare, that there is one
/// must do.
#[cfg(not(unix))]
fn is_named(_: &File, path: &Path) -> bool {
    path.exists()
}

impl Drop for Lock {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.path));
    }
}

/// The files of interrupted backups, by name. Nobody else is writing a backup of this name.
fn left_over(to: &Path) -> Vec<PathBuf> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let begin = format!("{name}.partial");
    let entries = fs::read_dir(folder(to)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| to.with_file_name(entry.file_name()));
    let is_left_over = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ending = name.strip_prefix(&begin);
        ending.is_some_and(|ending| {
            ending.is_empty() || ending.strip_prefix('-').is_some_and(is_mark)
        })
    };
    let mut found: Vec<PathBuf> = paths.filter(is_left_over).collect();
    found.sort();
    found
}

/// Returns whether a text can be the mark of a backup: digits as stores have them in their names.
fn is_mark(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Options to make a file that its owner alone can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn folder(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn exists(to: &Path) -> StoreError {
    StoreError::invalid("the backup", format!("{} is there already", to.display()))
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Write {
        reason: format!("{}: {error}", path.display()),
    }
}
