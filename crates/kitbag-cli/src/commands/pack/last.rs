//! Remembers the last pack of each folder, so that `kitbag explain` can tell about it.
//!
//! What was decided is kept, not the prompt: a small file in the cache folder for each root, of the
//! roots that were packed last.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kitbag::engine::clean;
use kitbag::pack::{Decisions, Pack, PackRequest};
use kitbag::workspace::cache::{Key, default_folder};

/// The rest of a long tail explains nothing: this many entries of each list are kept, and how many
/// there were.
const MOST_ENTRIES: usize = 200;

/// Of so many roots.
const MOST_ROOTS: usize = 32;

/// So much of a task says which one it was.
const MOST_TASK_CHARS: usize = 1_000;

/// Keeps what was decided. Where nothing can be kept, nothing is: a pack does not fail for it.
pub(crate) fn remember(request: &PackRequest, pack: &Pack) {
    let survey = &request.survey;
    let Some(file) = place(&survey.root, survey.cache_folder.as_deref()) else {
        return;
    };
    let mut decisions = pack.decisions.clone().brief(MOST_ENTRIES);
    let task = clean(&survey.task, "task").text;
    decisions.task = task.chars().take(MOST_TASK_CHARS).collect();
    if let Err(error) = write(&file, &decisions) {
        tracing::debug!(event = "last_pack_not_kept", %error);
    }
}

/// Writes beside the file and then into its place, and lets go of what is old.
fn write(file: &Path, decided: &Decisions) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(&serde_json::to_vec(decided)?)?;
    beside.persist(file).map_err(|error| error.error)?;
    forget(folder)
}

/// Keeps the newest files, whatever they are: a crash may have left one half written.
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
        // Another run may have taken it away already.
        let _ = fs::remove_file(file);
    }
    Ok(())
}

/// What was decided for the last pack of a folder.
pub(crate) fn recall(root: &Path, cache_folder: Option<&Path>) -> Option<Decisions> {
    let text = fs::read_to_string(place(root, cache_folder)?).ok()?;
    serde_json::from_str(&text).ok()
}

fn place(root: &Path, cache_folder: Option<&Path>) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let key = Key::new("last pack", &[root.as_os_str().as_encoded_bytes()]);
    let bytes = key.as_bytes().iter();
    let name: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    let folder = cache_folder.map(Path::to_owned).or_else(default_folder)?;
    Some(folder.join("last").join(format!("{name}.json")))
}
