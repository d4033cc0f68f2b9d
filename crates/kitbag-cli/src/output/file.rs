//! Writes a result into a file that a person named.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Writes beside the file and then into its place: whoever reads it never sees half of it.
///
/// A link stays what it is, and what it leads to is written.
pub(crate) fn write_file(file: &Path, text: &str) -> Result<(), Failure> {
    write(&behind_links(file), text)
        .map_err(|error| Failure::new(format_args!("cannot write `{}`: {error}", file.display())))
}

/// The file that a path leads to; it may not exist yet.
pub(crate) fn behind_links(file: &Path) -> PathBuf {
    let mut file = file.to_owned();
    // The system gives up about here, too; then opening the file says why.
    for _ in 0..40 {
        match fs::read_link(&file) {
            Ok(target) => file = folder_of(&file).join(target),
            Err(_) => break,
        }
    }
    file
}

/// The folder in which a file is.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    // One that may not be written may not be replaced either, and a device or a pipe cannot be.
    let existing = match OpenOptions::new().write(true).open(file) {
        Ok(existing) => Some(existing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let permissions = match &existing {
        Some(existing) => {
            let metadata = existing.metadata()?;
            if !metadata.is_file() {
                return (&mut &*existing).write_all(text.as_bytes());
            }
            Some(metadata.permissions())
        }
        None => {
            fs::metadata(folder_of(file))?;
            None
        }
    };
    let mut beside = match (new_file(folder_of(file)), existing) {
        (Ok(beside), _) => beside,
        // Where no file can be added, the file itself can still be written.
        (Err(_), Some(mut existing)) => {
            existing.set_len(0)?;
            return existing.write_all(text.as_bytes());
        }
        // The error names a file that nobody knows: only what it says is of use.
        (Err(error), None) => return Err(error.kind().into()),
    };
    beside.as_file_mut().write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        beside.as_file().set_permissions(permissions)?;
    }
    beside.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// A file with the rights that any new file has.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile<File>> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
