//! Writes files atomically, and creates folders that only their owner can read.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file atomically: a reader, or a crash, sees the former content or the new one.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // The temporary file is in the same folder, since a rename does not work across file systems.
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".unfinished-")
        .tempfile_in(folder)?;
    file.write_all(content)?;
    // Synced before the rename: otherwise the name may point to an empty file after a crash.
    file.as_file().sync_all()?;
    file.into_temp_path().persist(path)?;
    // The rename itself lasts once the folder is synced. Other systems cannot open a folder to do so.
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    Ok(())
}

/// Creates a folder that only its owner may enter and that git leaves out: it holds what people say.
pub(super) fn create_private(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        // An existing folder keeps its rights and its `.gitignore`, whatever its owner made of them.
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    fs::write(folder.join(".gitignore"), "*\n")
}
