//! Remembers the last pack of each folder for `kitbag explain`.
//!
//! Only the decisions are kept, not the prompt: a small file in the cache folder for each of the roots
//! that were packed last.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kitbag::engine::clean;
use kitbag::pack::{Decisions, Pack, PackRequest};
use kitbag::workspace::cache::{Key, default_folder};

/// The most entries of each list, which is kept with its full count: the rest of a long tail explains
/// nothing.
const MOST_ENTRIES: usize = 200;

/// The most roots.
const MOST_ROOTS: usize = 32;

/// The most characters of a task, enough to recognise it.
const MOST_TASK_CHARS: usize = 1_000;

/// Keeps the decisions. A pack does not fail if they cannot be kept.
pub(crate) fn remember(request: &PackRequest, pack: &Pack) {
    let survey = &request.survey;
    let Some(file) = place(&survey.root, survey.cache_folder.as_deref()) else {
        return;
    };
    let mut decisions = pack.decisions.clone().brief(MOST_ENTRIES);
    // Without secrets, because the cache outlives the terminal in which the task was typed.
    let task = clean(&survey.task, "task").text;
    decisions.task = task.chars().take(MOST_TASK_CHARS).collect();
    if let Err(error) = write(&file, &decisions) {
        tracing::debug!(event = "last_pack_not_kept", %error);
    }
}

/// Replaces the file atomically, and removes old ones.
fn write(file: &Path, decided: &Decisions) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(&serde_json::to_vec(decided)?)?;
    beside.persist(file).map_err(|error| error.error)?;
    forget(folder)
}

/// Keeps the newest files, of any name: a crash may have left a temporary one.
fn forget(folder: &Path) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok()?;
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            metadata.is_file().then(|| (written, entry.path()))
        })
        .collect();
    files.sort_unstable();
    files.reverse();
    for (_, file) in files.into_iter().skip(MOST_ROOTS) {
        // Another run may have removed it already.
        let _ = fs::remove_file(file);
    }
    Ok(())
}

/// The decisions of the last pack of a folder.
pub(crate) fn recall(root: &Path, cache_folder: Option<&Path>) -> Option<Decisions> {
    let text = fs::read_to_string(place(root, cache_folder)?).ok()?;
    // A file of another version counts as none: the next pack writes it again.
    serde_json::from_str(&text).ok()
}

fn place(root: &Path, cache_folder: Option<&Path>) -> Option<PathBuf> {
    // The same folder by another path has the same last pack.
    let root = root.canonicalize().ok()?;
    let key = Key::new("last pack", &[root.as_os_str().as_encoded_bytes()]);
    let bytes = key.as_bytes().iter();
    let name: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    let folder = cache_folder.map(Path::to_owned).or_else(default_folder)?;
    Some(folder.join("last").join(format!("{name}.json")))
}
