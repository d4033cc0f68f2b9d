//! The file of a backup that is under way. It gets its final name when it is complete, and is
//! removed otherwise.
//!
//! Until then it has a name of its own, so it overwrites nobody's file. A lock file next to it
//! keeps two backups from writing the same file, and tells one that is under way from one that was
//! interrupted.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// The files that SQLite makes next to a database.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The most attempts at a lock that its holder removes while we take it.
const TRIES: u32 = 100;

/// A file that is removed again unless it is kept.
pub(super) struct Partial {
    pub(super) path: PathBuf,
    /// The files of interrupted backups to the same name.
    pub(super) left_over: Vec<PathBuf>,
    to: PathBuf,
    /// Held until this is dropped.
    _lock: Lock,
}

impl Partial {
    /// Makes an empty file next to `to`, readable by its owner alone. `mark` must be unique to this
    /// process.
    pub(super) fn new(to: &Path, mark: &str) -> Result<Self> {
        if fs::symlink_metadata(to).is_ok() {
            return Err(exists(to));
        }
        let lock = Lock::take(to)?;
        let left_over = left_over(to);
        let path = with_ending(to, &format!(".partial-{mark}"));
        let made = private().create_new(true).open(&path);
        // `create_new` also fails at a link that somebody put there.
        made.map_err(|error| failed(&path, &error))?;
        Ok(Self {
            path,
            left_over,
            to: to.to_owned(),
            _lock: lock,
        })
    }

    /// Gives the complete file its name once it is on the disk, and returns its size.
    pub(super) fn keep(&self) -> Result<u64> {
        let (path, to) = (&self.path, &self.to);
        let kept = || -> io::Result<u64> {
            let file = File::open(path)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            // A link never replaces an existing file; a rename would.
            match fs::hard_link(path, to) {
                Ok(()) => {}
                // Some file systems have no links. There, a file that appears at this very moment
                // is overwritten.
                Err(_) if fs::symlink_metadata(to).is_err() => fs::rename(path, to)?,
                Err(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            }
            // The name itself is on the disk only once its folder is.
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
            // After a rename it is gone already.
            drop(fs::remove_file(with_ending(&self.path, ending)));
        }
    }
}

/// The right to write a backup of a name.
struct Lock {
    path: PathBuf,
    /// Unlocked when it is closed, even if the process is killed.
    _file: File,
}

impl Lock {
    /// Locks a file of its own: on some systems a lock on the database would count as one of
    /// SQLite's.
    fn take(to: &Path) -> Result<Self> {
        let path = with_ending(to, ".partial-lock");
        for _ in 0..TRIES {
            let file = private().create(true).truncate(false).open(&path);
            // The file that was named, since nobody knows this one.
            let file = file.map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => no_folder(to),
                _ => failed(to, &error),
            })?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => break,
                // Its holder removed the file while we waited: another process may have made the
                // next one by now.
                Ok(()) if !is_named(&file, &path) => {}
                // Where files cannot be locked, only the unique name keeps backups apart.
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

/// Returns true if an open file still has its name.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let named = fs::metadata(path).map(identity).ok();
    named.is_some() && named == file.metadata().map(identity).ok()
}

/// Returns true if an open file still has its name. There is no identity to compare here, so any
/// file of that name counts.
#[cfg(not(unix))]
fn is_named(_: &File, path: &Path) -> bool {
    path.exists()
}

impl Drop for Lock {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.path));
    }
}

/// The files of interrupted backups, by name. The lock is held, so none of them is being written.
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

/// Returns true if a text can be the mark of a process, which has hexadecimal digits only.
fn is_mark(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Options to make a file that only its owner can read.
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

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn exists(to: &Path) -> StoreError {
    StoreError::invalid(
        "the file",
        format!("{} already exists; name a new one", to.display()),
    )
}

fn no_folder(to: &Path) -> StoreError {
    let problem = format!("{} does not exist", folder(to).display());
    StoreError::invalid("the folder of the backup", problem)
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Write {
        reason: format!("{}: {error}", path.display()),
    }
}
