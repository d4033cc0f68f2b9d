//! Keeps what was parsed and counted, by content, from one run to the next.
//!
//! A value is found by the hash of everything that it depends on, so it never changes. What a run
//! puts is written as one file when the cache is flushed or dropped: creating a file for each value
//! costs more than all the rest. Whatever is wrong with a file (torn, corrupt, foreign, gone) reads
//! as a miss. Several processes may use one folder at once; there is no lock. A value that cannot be
//! stored is not an error: the next run does the work again.

mod entry;
mod key;
mod limit;
mod segment;

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use etcetera::BaseStrategy;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use key::Key;
use segment::{Segment, Unwritten};

/// The most bytes that a cache holds on disk, unless its caller says otherwise.
pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The most bytes that are held back before they are written.
// Together 300 parsed files cost 5 ms of processor time, with a file for each of them 150 (ext4).
const MAX_UNWRITTEN: u64 = 8 * 1024 * 1024;

/// A folder of values by key; or nothing, where no folder can be had.
///
/// ```
/// use kitbag_workspace::cache::{Cache, Key, MAX_BYTES};
///
/// let folder = tempfile::tempdir()?;
/// let cache = Cache::open(Some(folder.path().into()), MAX_BYTES);
/// let key = Key::new("outline/1", &[b"fn main() {}"]);
/// assert_eq!(cache.get::<Vec<String>>(&key), None);
/// cache.put(&key, &vec!["main"]);
/// assert_eq!(cache.get(&key), Some(vec![String::from("main")]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
    max_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The segments on disk; none before the first look and after a change.
    segments: Option<Arc<Vec<Segment>>>,
    unwritten: Unwritten,
}

impl Cache {
    /// Opens a folder that may hold at most this many bytes, and creates it if it is missing.
    ///
    /// Without one it is what `KITBAG_CACHE_DIR` names, or else `kitbag` in the user's cache folder.
    /// Where neither can be had, the cache is disabled: it holds nothing and keeps nothing.
    #[must_use]
    pub fn open(folder: Option<PathBuf>, max_bytes: u64) -> Self {
        let folder = folder.or_else(default_folder);
        Self {
            folder: folder.filter(|folder| create_folder(folder).is_ok()),
            max_bytes,
            state: Mutex::default(),
        }
    }

    /// The value that was put under a key. The key's kind must say which type that is.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        let folder = self.folder.as_ref()?;
        let segments = {
            let mut state = self.state();
            if let Some(bytes) = state.unwritten.get(key) {
                // A run finds its own values before they are written.
                return entry::decode(key, bytes);
            }
            let segments = state
                .segments
                .get_or_insert_with(|| Arc::new(segment::all_in(folder).0));
            Arc::clone(segments)
        };
        // The same key may be in several, and one of them damaged.
        (segments.iter()).find_map(|segment| entry::decode(key, &segment.get(key)?))
    }

    /// Keeps a value under a key, to be written by the next [`flush`](Self::flush).
    pub fn put<T: Serialize + ?Sized>(&self, key: &Key, value: &T) {
        if self.folder.is_none() {
            return;
        }
        let Some(bytes) = entry::encode(key, value) else {
            return;
        };
        // The lock is released before `flush`, which takes it again.
        let size = {
            let mut state = self.state();
            state.unwritten.add(*key, &bytes);
            state.unwritten.size()
        };
        // A small cache writes earlier, or one segment could be larger than its limit.
        if size > MAX_UNWRITTEN.min(self.max_bytes / 8) {
            self.flush();
        }
    }

    /// Writes what was put, and keeps the folder within its limit. Dropping the cache does the same.
    pub fn flush(&self) {
        // Taken out under the lock and written without it: other threads go on reading meanwhile.
        let unwritten = std::mem::take(&mut self.state().unwritten);
        let Some(folder) = &self.folder else { return };
        if unwritten.size() == 0 {
            return;
        }
        // A full disk costs the next run its time and nothing else, so errors end here.
        if unwritten.write_to(folder).is_ok() {
            drop(limit::keep(folder, self.max_bytes));
        }
        self.state().segments = None;
    }

    /// Nothing that is done under the lock leaves the state half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The folder of the user's cache: what `KITBAG_CACHE_DIR` names, or the system's place for caches.
#[must_use]
pub fn default_folder() -> Option<PathBuf> {
    match std::env::var_os("KITBAG_CACHE_DIR") {
        Some(folder) if !folder.is_empty() => Some(folder.into()),
        _ => {
            let user = etcetera::choose_base_strategy().ok()?;
            Some(user.cache_dir().join("kitbag"))
        }
    }
}

/// Creates a folder that only its owner may enter, for it holds people's code.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
