//! Restores a backup: a tenant's rows come back in one transaction, all of them or none.

use std::path::Path;

use super::{Copied, Digest, PAGE, UNFINISHED, page, set_scope_count, tables, unfinished};
use crate::error::{Result, StoreError};
use crate::location::Location;
use crate::schema::Table;
use crate::store::{Store, Tenant};
use crate::transaction::Tx;

/// The treatment of rows that the tenant has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// They stay, and the restore fails.
    Refuse,
    /// They are removed.
    Replace,
}

impl Store {
    /// Restores this tenant's rows from a backup that [`back_up`](Self::back_up) made, and compares
    /// them. Others see the previous rows until all of the new ones are there.
    ///
    /// # Errors
    /// When the file is no store, holds no row of the tenant, or when the tenant has rows here that
    /// may not be replaced.
    pub async fn restore(&self, from: &Path, existing: Existing) -> Result<Copied> {
        let (backup, scopes) = self.open_backup(from).await?;
        let tenant = self.tenant().clone();
        self.write(async move |tx| {
            // Locks the tenant's row, so nobody makes a scope meanwhile.
            set_scope_count(tx, scopes).await?;
            let tables = tables();
            make_room(tx, &tables, &tenant, existing).await?;
            let mut copied = Copied::default();
            for table in &tables {
                let rows = copy_table(tx, &backup, table).await?;
                copied.rows.insert(table.name, rows);
            }
            Ok(copied)
        })
        .await
    }

    /// Removes the rows that [`restore`](Self::restore) would remove, inserts one row of each
    /// table, and undoes both. It finds rows that may not be replaced, missing rights and policies
    /// that refuse the tenant, so that many tenants can be tried before the first one is restored.
    ///
    /// # Errors
    /// As [`restore`](Self::restore) would fail at these rows.
    pub async fn rehearse_restore(&self, from: &Path, existing: Existing) -> Result<()> {
        let (backup, scopes) = self.open_backup(from).await?;
        let tenant = self.tenant().clone();
        self.write(async move |tx| {
            tx.set_savepoint().await?;
            set_scope_count(tx, scopes).await?;
            let tables = tables();
            make_room(tx, &tables, &tenant, existing).await?;
            for table in &tables {
                let rows = backup.page(table, Vec::new(), 1).await?;
                tx.insert(&table.with_columns(), rows).await?;
            }
            tx.roll_back_to_savepoint().await
        })
        .await
    }

    /// The backup as this tenant sees it, and the number of scopes the tenant has ever had there.
    async fn open_backup(&self, from: &Path) -> Result<(Self, i64)> {
        let backup = Self::open_existing(&Location::Sqlite(from.into())).await?;
        let backup = backup.for_tenant(self.tenant().clone());
        let scopes = backup.scope_count().await?.unwrap_or(0);
        if scopes == UNFINISHED {
            return Err(unfinished());
        }
        if backup.is_empty(&tables()).await? {
            return Err(StoreError::missing("row of tenant", self.tenant()));
        }
        Ok((backup, scopes))
    }
}

/// Removes the tenant's rows. Rows that may not be replaced are an error.
async fn make_room(
    tx: &mut Tx<'_>,
    tables: &[Table],
    tenant: &Tenant,
    existing: Existing,
) -> Result<()> {
    for table in tables {
        if page(tx, table, Vec::new(), 1).await?.is_empty() {
            continue;
        }
        if existing == Existing::Refuse && !table.holds_marks() {
            let problem = format!("already has memory of tenant `{tenant}`");
            return Err(StoreError::invalid("the store", problem));
        }
        let sql = format!("DELETE FROM {} WHERE tenant = $1", table.name);
        tx.execute(&sql, ()).await?;
    }
    Ok(())
}

/// Copies a table and returns the number of its rows.
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
    // Read back within the same transaction: what the database made of the rows is compared, not
    // what was sent.
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
