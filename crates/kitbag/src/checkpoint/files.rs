//! Writes files so that they are there whole or not at all, and for nobody else.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file at once: a reader, and a crash, see the former content or the new.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".unfinished-")
        .tempfile_in(folder)?;
    file.write_all(content)?;
    // Before the name changes: after a crash it must not name an empty file.
    file.as_file().sync_all()?;
    file.into_temp_path().persist(path)?;
    // The name itself is safe when its folder is written. Systems that cannot do so do it alone.
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    Ok(())
}

/// Creates a folder that only its owner may enter and that git leaves out: it holds what people say.
pub(super) fn create_private(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    fs::write(folder.join(".gitignore"), "*\n")
}
