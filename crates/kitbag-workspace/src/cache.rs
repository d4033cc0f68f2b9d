//! Keeps what was parsed, by content: a folder of small files that any process may read, write and
//! delete at any time.
//!
//! A file is written beside its place and then renamed into it, and holds its key and a checksum: a
//! torn, damaged or foreign file is a miss, never a wrong answer. The cache never fails anything. It
//! holds what can be made again, so that a place that cannot be written is a cache that keeps
//! nothing. It keeps no answers: what a task led to is decided anew each time.

mod prune;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use etcetera::BaseStrategy as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Changes when the form of an entry does.
const MAGIC: &[u8; 8] = b"kitbag\x00\x01";
const CHECKSUM: usize = 16;

/// No entry is larger: what would be is not worth keeping.
const LARGEST: u64 = 8 << 20;

/// An entry that is used is marked as used, at most this often.
const MARK_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// A cache in a folder, or none.
#[derive(Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
    limit: u64,
    written: AtomicU64,
    failed: AtomicU64,
}

/// The most that a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// In bytes.
    pub bytes: u64,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { bytes: 256 << 20 }
    }
}

/// Names an entry by what it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of what `kind` makes of `parts`.
    #[must_use]
    pub fn new(kind: &str, parts: &[&[u8]]) -> Self {
        let mut hash = blake3::Hasher::new();
        for part in [kind.as_bytes()].iter().chain(parts) {
            // The length keeps `ab`, `c` and `a`, `bc` apart.
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(*hash.finalize().as_bytes())
    }
}

/// The folder of the user's cache: `KITBAG_CACHE_DIR`, or the system's place for caches.
#[must_use]
pub fn default_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("KITBAG_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        return Some(folder.into());
    }
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.cache_dir().join("kitbag"))
}

impl Cache {
    /// A cache in `folder`, or in the user's own. Nothing is read or written yet.
    #[must_use]
    pub fn open(folder: Option<PathBuf>, limits: CacheLimits) -> Self {
        Self {
            folder: folder.or_else(default_folder),
            limit: limits.bytes,
            written: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// A cache that keeps nothing.
    #[must_use]
    pub fn disabled() -> Self {
        Self {
            folder: None,
            limit: 0,
            written: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// What was kept under `key`, if it is there and whole.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        let path = self.place(key)?;
        let file = File::open(path).ok()?;
        let about = file
            .metadata()
            .ok()
            .filter(|about| about.is_file() && about.len() <= LARGEST)?;
        let mut bytes = Vec::with_capacity(usize::try_from(about.len()).ok()? + 1);
        (&file).take(LARGEST).read_to_end(&mut bytes).ok()?;
        let payload = payload(&bytes, key)?;
        let value = postcard::from_bytes(payload).ok()?;
        let is_old = about
            .modified()
            .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > MARK_AFTER));
        if is_old {
            // Only its age at the next pruning depends on this.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(value)
    }

    /// Keeps `value` under `key`. A failure is counted, and otherwise ignored.
    pub fn put<T: Serialize>(&self, key: &Key, value: &T) {
        let Some(path) = self.place(key) else { return };
        let Ok(payload) = postcard::to_allocvec(value) else {
            return;
        };
        let mut bytes = Vec::with_capacity(MAGIC.len() + 32 + CHECKSUM + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&key.0);
        bytes.extend_from_slice(&checksum(&payload));
        bytes.extend_from_slice(&payload);
        if bytes.len() as u64 > LARGEST {
            return;
        }
        match write(&path, &bytes) {
            Ok(()) => self
                .written
                .fetch_add(bytes.len() as u64, Ordering::Relaxed),
            Err(_) => self.failed.fetch_add(1, Ordering::Relaxed),
        };
    }

    /// How many values could not be kept.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    fn place(&self, key: &Key) -> Option<PathBuf> {
        let name = blake3::Hash::from_bytes(key.0).to_hex();
        let shard: String = name.chars().take(2).collect();
        Some(
            self.folder
                .as_ref()?
                .join("entries")
                .join(shard)
                .join(name.as_str()),
        )
    }
}

impl Drop for Cache {
    /// Whoever wrote much looks after the size.
    fn drop(&mut self) {
        let written = self.written.load(Ordering::Relaxed);
        if let Some(folder) = self.folder.as_ref().filter(|_| written > 0) {
            prune::after_writing(folder, written, self.limit);
        }
    }
}

/// The payload of an entry that is whole and belongs to `key`.
fn payload<'b>(bytes: &'b [u8], key: &Key) -> Option<&'b [u8]> {
    let rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&key.0)?;
    let (sum, payload) = rest.split_at_checked(CHECKSUM)?;
    (sum == checksum(payload)).then_some(payload)
}

fn checksum(payload: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    blake3::Hasher::new()
        .update(payload)
        .finalize_xof()
        .fill(&mut sum);
    sum
}

/// Writes beside the place and renames: nobody ever reads half an entry.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = match tempfile::NamedTempFile::new_in(folder) {
        Ok(file) => file,
        Err(_) => {
            create_private(folder)?;
            tempfile::NamedTempFile::new_in(folder)?
        }
    };
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Entries hold code: nobody else may read them.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests;
