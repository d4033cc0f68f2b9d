//! Remembers the last pack of each folder, so that `kitbag explain` can tell about it.
//!
//! What was decided is kept, not the prompt: a file in the cache folder for each root.

use std::fs;
use std::path::{Path, PathBuf};

use kitbag::pack::{Pack, PackRequest};
use kitbag::workspace::secrets::redact;
use serde_json::{Value, json};

/// Keeps what was decided. Where nothing can be kept, nothing is: a pack does not fail for it.
pub(crate) fn remember(request: &PackRequest, pack: &Pack) {
    let Some(file) = place(&request.root, request.cache_folder.as_deref()) else {
        return;
    };
    let mut brief = pack.clone();
    // The rest of a long tail explains nothing.
    brief.ranked.truncate(1_000);
    brief.excluded.truncate(1_000);
    let Ok(mut decided) = serde_json::to_value(&brief) else {
        return;
    };
    if let Some(fields) = decided.as_object_mut() {
        fields.remove("prompt");
        fields.insert("task".into(), json!(redact(&request.task, "task").text));
    }
    let write = || -> std::io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut beside, decided.to_string().as_bytes())?;
        beside.persist(&file).map_err(|error| error.error)?;
        Ok(())
    };
    if let Err(error) = write() {
        tracing::debug!(event = "last_pack_not_kept", %error);
    }
}

/// What was decided for the last pack of a folder.
pub(crate) fn recall(root: &Path, cache_folder: Option<&Path>) -> Option<Value> {
    let text = fs::read_to_string(place(root, cache_folder)?).ok()?;
    serde_json::from_str(&text).ok()
}

fn place(root: &Path, cache_folder: Option<&Path>) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let hash = kitbag::pack::name_of(&root);
    let folder = match cache_folder {
        Some(folder) => folder.to_owned(),
        None => kitbag::workspace::cache::default_folder()?,
    };
    Some(folder.join("last").join(format!("{hash}.json")))
}
