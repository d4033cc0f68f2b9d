//! Backups: a store in one file, as it was at one moment, while others go on writing.

use std::path::{Path, PathBuf};

use super::partial::Partial;
use super::{PAGE, UNFINISHED, page, scope_count, tables, unfinished};
use crate::error::Result;
use crate::location::Location;
use crate::store::Store;

/// A backup that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// Its size.
    pub bytes: u64,
    /// Files of the same name that interrupted backups left behind. They can be removed.
    pub left_over: Vec<PathBuf>,
}

impl Store {
    /// Writes a backup into a new file, completely or not at all. The backup is a store itself. It
    /// holds every tenant of a SQLite file, but only this tenant of a server.
    ///
    /// # Errors
    /// When the file exists already, is being written by another process or cannot be written, or
    /// when the store fails.
    pub async fn back_up(&self, to: &Path) -> Result<Backup> {
        let mut partial = Partial::new(to, self.owner())?;
        match self.file() {
            Some(file) => {
                let name = partial.path.display().to_string();
                // Unlike a copy of the file, this takes the log along and waits for no writer.
                let work = move |connection: &rusqlite::Connection| {
                    connection.execute("VACUUM INTO ?1", [name])
                };
                file.outside(work).await?;
            }
            None => self.copy_into_file(&partial.path).await?,
        }
        Ok(Backup {
            bytes: partial.keep()?,
            left_over: std::mem::take(&mut partial.left_over),
        })
    }

    /// Copies the tenant's rows as they are at one moment.
    async fn copy_into_file(&self, path: &Path) -> Result<()> {
        let backup = Self::open(&Location::Sqlite(path.into())).await?;
        let backup = backup.for_tenant(self.tenant().clone());
        // One transaction around all tables. If its connection breaks, it runs again from the
        // beginning.
        self.read(async move |tx| {
            let scopes = scope_count(tx).await?;
            if scopes == Some(UNFINISHED) {
                return Err(unfinished());
            }
            let tables = tables();
            // The rows of such an attempt are those of another moment.
            backup.remove_all(tables.iter()).await?;
            for table in tables {
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
            backup.set_scope_count(scopes.unwrap_or(0)).await
        })
        .await
    }
}
