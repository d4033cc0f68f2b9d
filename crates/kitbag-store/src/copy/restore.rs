//! Restoring a backup: a tenant's rows come back in one transaction, all of them or none.

use std::path::Path;

use super::{Copied, Digest, PAGE, UNFINISHED, page, set_mark, tables, unfinished};
use crate::error::{Result, StoreError};
use crate::location::Location;
use crate::schema::Table;
use crate::store::Store;
use crate::transaction::Tx;

/// The treatment of rows that the tenant has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Nothing is restored.
    Refuse,
    /// They are removed.
    Replace,
}

impl Store {
    /// Restores this tenant's rows from a backup that [`back_up`](Self::back_up) made, and compares them.
    /// Until all of them are there, others see what was there before.
    ///
    /// # Errors
    /// When the file is no store, holds nothing of the tenant, or when the tenant has rows here that are
    /// not to be replaced.
    pub async fn restore(&self, from: &Path, existing: Existing) -> Result<Copied> {
        let backup = Self::open_existing(&Location::Sqlite(from.into())).await?;
        let backup = backup.for_tenant(self.tenant().clone());
        let tables = tables();
        let scopes = backup.mark().await?.unwrap_or(0);
        if scopes == UNFINISHED {
            return Err(unfinished());
        }
        if backup.is_empty(&tables).await? {
            return Err(StoreError::missing("row of tenant", self.tenant()));
        }
        let tenant = self.tenant().clone();
        self.write(async move |tx| {
            // Nobody else makes a scope meanwhile.
            set_mark(tx, scopes).await?;
            for table in &tables {
                if page(tx, table, Vec::new(), 1).await?.is_empty() {
                    continue;
                }
                if existing == Existing::Refuse && !table.holds_marks() {
                    let problem = format!("has rows of tenant `{tenant}` already");
                    return Err(StoreError::invalid("the store", problem));
                }
                let sql = format!("DELETE FROM {} WHERE tenant = $1", table.name);
                tx.execute(&sql, ()).await?;
            }
            let mut copied = Copied::default();
            for table in &tables {
                let rows = copy_table(tx, &backup, table).await?;
                copied.rows.insert(table.name, rows);
            }
            Ok(copied)
        })
        .await
    }
}

/// Copies a table, and returns how many rows it has.
async fn copy_table(tx: &mut Tx<'_>, backup: &Store, table: &Table) -> Result<u64> {
    let (mut count, mut after) = (0, Vec::new());
    let mut kept = Digest::default();
    loop {
        let rows = backup.page(table, after, PAGE).await?;
        let Some(last) = rows.last() else { break };
        after = table.key_of(last);
        count += rows.len() as u64;
        kept.add(&rows);
        tx.insert(&table.with_columns(), rows).await?;
    }
    let (mut restored, mut after) = (Digest::default(), Vec::new());
    loop {
        let rows = page(tx, table, after, PAGE).await?;
        let Some(last) = rows.last() else { break };
        after = table.key_of(last);
        restored.add(&rows);
    }
    if kept.0.finalize() != restored.0.finalize() {
        let name = table.name;
        return Err(StoreError::failed(format!(
            "the restored rows of table {name} differ from the backup"
        )));
    }
    Ok(count)
}
