//! Backups: a store in one file, as it was at one moment, while others go on writing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::{PAGE, UNFINISHED, mark, page, tables, unfinished};
use crate::error::{Result, StoreError};
use crate::location::Location;
use crate::store::Store;

impl Store {
    /// Writes a backup into a file that is not there yet, whole or not at all, and returns its size. The
    /// backup is a store itself: of a file it holds every tenant, of a server this tenant.
    ///
    /// # Errors
    /// When the file is there already or cannot be written, or the store fails.
    pub async fn back_up(&self, to: &Path) -> Result<u64> {
        if fs::symlink_metadata(to).is_ok() {
            let problem = format!("{} is there already", to.display());
            return Err(StoreError::invalid("the backup", problem));
        }
        let partial = Partial::new(to)?;
        match self.file() {
            Some(file) => {
                let name = partial.0.display().to_string();
                let work = move |connection: &rusqlite::Connection| {
                    connection.execute("VACUUM INTO ?1", [name])
                };
                file.outside(work).await?;
            }
            None => self.copy_into_file(&partial.0).await?,
        }
        partial.keep(to)
    }

    /// Copies the tenant's rows as they are at one moment.
    async fn copy_into_file(&self, path: &Path) -> Result<()> {
        let backup = Self::open(&Location::Sqlite(path.into())).await?;
        let backup = backup.for_tenant(self.tenant().clone());
        self.read(async move |tx| {
            let scopes = mark(tx).await?;
            if scopes == Some(UNFINISHED) {
                return Err(unfinished());
            }
            for table in tables() {
                let mut after = Vec::new();
                loop {
                    let rows = page(tx, &table, after, PAGE).await?;
                    let Some(last) = rows.last() else { break };
                    after = table.key_of(last);
                    let into = table.with_columns();
                    let insert = backup.write(async move |tx| tx.insert(&into, rows).await);
                    insert.await?;
                }
            }
            backup.set_mark(scopes.unwrap_or(0)).await
        })
        .await
    }
}

/// A file that is removed again unless it is kept.
struct Partial(PathBuf);

impl Partial {
    /// Makes an empty file next to the one that is meant, for its owner alone.
    fn new(to: &Path) -> Result<Self> {
        let mut name = to.as_os_str().to_owned();
        name.push(".partial");
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(|error| failed(&path, &error))?;
        Ok(Self(path))
    }

    /// Gives the file its name once all of it is on the disk, and returns its size.
    fn keep(self, to: &Path) -> Result<u64> {
        let keep = || -> io::Result<u64> {
            let file = File::open(&self.0)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            fs::rename(&self.0, to)?;
            let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
            #[cfg(unix)]
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
            Ok(bytes)
        };
        keep().map_err(|error| failed(to, &error))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let mut name = self.0.clone().into_os_string();
            name.push(ending);
            // It is not there once it was renamed.
            drop(fs::remove_file(name));
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Write {
        reason: format!("{}: {error}", path.display()),
    }
}
