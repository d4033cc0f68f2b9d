//! Writes a result to a file.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Replaces a file atomically, so that no reader sees half of it.
///
/// A link stays a link, and its target is replaced.
pub(crate) fn write_file(file: &Path, text: &str) -> Result<(), Failure> {
    let mut writer = FileWriter::open(file, Rights::Usual)?;
    let written = writer.write_all(text.as_bytes());
    written.map_err(|error| cannot_write(file, &error))?;
    writer.finish()
}

/// The rights of a new file. An existing one keeps its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rights {
    /// The usual rights of new files.
    Usual,
    /// Rights for the owner alone.
    OwnerAlone,
}

/// A writer that replaces a file when it is finished.
pub(crate) struct FileWriter {
    named: PathBuf,
    to: Target,
}

enum Target {
    Beside {
        beside: tempfile::NamedTempFile<File>,
        file: PathBuf,
        permissions: Option<Permissions>,
    },
    /// A device, a pipe, or a file in a folder where none can be added.
    Itself(File),
}

impl FileWriter {
    /// Checks that the file can be written. Its content stays until the new one is complete.
    pub(crate) fn open(file: &Path, rights: Rights) -> Result<Self, Failure> {
        let to = Target::of(behind_links(file), rights);
        let to = to.map_err(|error| cannot_write(file, &error))?;
        let named = file.to_owned();
        Ok(Self { named, to })
    }

    /// Replaces the file with the written text.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.to
            .put()
            .map_err(|error| cannot_write(&self.named, &error))
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.file().flush()
    }
}

fn cannot_write(file: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!("cannot write `{}`: {error}", file.display()))
}

/// The file that a path leads to; it may not exist yet.
pub(crate) fn behind_links(file: &Path) -> PathBuf {
    let mut file = file.to_owned();
    // Linux follows 40 links at most too. Opening the file then reports the loop.
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

impl Target {
    /// Moves the temporary file into its place.
    fn put(self) -> io::Result<()> {
        let Self::Beside {
            beside,
            file,
            permissions,
        } = self
        else {
            return Ok(());
        };
        if let Some(permissions) = permissions {
            beside.as_file().set_permissions(permissions)?;
        }
        beside.persist(file).map_err(|error| error.error)?;
        Ok(())
    }

    fn file(&mut self) -> &mut File {
        match self {
            Self::Beside { beside, .. } => beside.as_file_mut(),
            Self::Itself(file) => file,
        }
    }

    fn of(file: PathBuf, rights: Rights) -> io::Result<Self> {
        // Opened for writing first: a rename would also replace a read-only file, a device or a pipe.
        let (existing, permissions) = match OpenOptions::new().write(true).open(&file) {
            Ok(existing) => match existing.metadata()? {
                metadata if metadata.is_file() => (Some(existing), Some(metadata.permissions())),
                _ => return Ok(Self::Itself(existing)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A missing folder is reported before any work is done.
                fs::metadata(folder_of(&file))?;
                (None, None)
            }
            Err(error) => return Err(error),
        };
        match (new_file(folder_of(&file), rights), existing) {
            (Ok(beside), _) => Ok(Self::Beside {
                beside,
                file,
                permissions,
            }),
            // In a folder that takes no new file, the file itself can still be written.
            (Err(_), Some(existing)) => {
                // Truncated only here, when nothing else is possible: a crash may leave the file empty.
                existing.set_len(0)?;
                Ok(Self::Itself(existing))
            }
            // The error names the temporary file, so only its kind is of use.
            (Err(error), None) => Err(error.kind().into()),
        }
    }
}

fn new_file(folder: &Path, rights: Rights) -> io::Result<tempfile::NamedTempFile<File>> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(match rights {
        // The mode of any new file, from which the system takes the user's mask.
        Rights::Usual => 0o666,
        Rights::OwnerAlone => 0o600,
    }));
    #[cfg(not(unix))]
    let _ = rights;
    builder.tempfile_in(folder)
}
