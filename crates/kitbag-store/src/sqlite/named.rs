//! Checks that the file of a store still has its name.
//!
//! SQLite goes on writing to a file that was moved or deleted, and acknowledges rows that are gone
//! when the process ends. Only UNIX lets an open file be moved, so elsewhere there is nothing to
//! check.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// A file, and the name that it was opened under.
pub(crate) struct NamedFile {
    path: PathBuf,
    identity: Identity,
}

impl NamedFile {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        // Absolute, since the working folder of the process may change later.
        let path = std::path::absolute(path)?;
        let identity = identity(&path)?;
        Ok(Self { path, identity })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails when the name belongs to another file now, or to none.
    pub(super) fn check(&self) -> Result<()> {
        let reason = match identity(&self.path) {
            Ok(identity) if identity == self.identity => return Ok(()),
            Ok(_) => "it was replaced by another file".to_owned(),
            Err(error) => format!("it was moved or deleted: {error}"),
        };
        let path = self.path.display();
        Err(StoreError::Write {
            reason: format!("{path}: {reason}"),
        })
    }
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let file = path.metadata()?;
    Ok((file.dev(), file.ino()))
}

#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(_: &Path) -> io::Result<Identity> {
    Ok(())
}
