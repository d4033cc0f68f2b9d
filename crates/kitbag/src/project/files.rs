//! Reads the files of a project: texts of a limited size, and no devices or pipes, which could block.

use std::path::{Path, PathBuf};
use std::{fs, io};

use kitbag_text::{decode, read_small};

/// The most bytes of a configuration, a manifest or a document.
pub(super) const TEXT_LIMIT: usize = 8 * 1024 * 1024;

/// Reads a text in whatever encoding it declares.
pub(crate) fn read_text(file: &Path) -> io::Result<String> {
    // Links are followed: a configuration may be a link to a shared one.
    // One byte more than allowed shows that the file is larger.
    let bytes = read_small(&fs::canonicalize(file)?, TEXT_LIMIT as u64 + 1)?;
    if bytes.len() > TEXT_LIMIT {
        let message = format!("it is larger than the {TEXT_LIMIT} bytes that are allowed");
        return Err(io::Error::other(message));
    }
    match decode(&bytes) {
        Some(text) => Ok(text.into_owned()),
        None => Err(io::Error::other("it is no text")),
    }
}

/// The manifests of a folder, by name.
pub(super) fn manifests(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = files.collect::<io::Result<Vec<PathBuf>>>()?;
    files.retain(|file| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("yaml" | "yml"))
    });
    // Layouts of the same id replace each other, so the order must not depend on the file system.
    files.sort();
    Ok(files)
}
