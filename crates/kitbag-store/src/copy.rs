//! Copies a tenant's rows into another store, and proves that the copies are the same.

#[cfg(feature = "sqlite")]
mod backup;
#[cfg(feature = "sqlite")]
mod partial;
#[cfg(feature = "sqlite")]
mod restore;

use std::collections::BTreeMap;

use crate::error::{Result, StoreError};
use crate::schema::{self, Table};
use crate::store::Store;
use crate::transaction::{Tx, placeholders};
use crate::value::{Row, Value};

#[cfg(feature = "sqlite")]
pub use backup::Backup;
#[cfg(feature = "sqlite")]
pub use restore::Existing;

/// The rows that are copied in one transaction.
const PAGE: u32 = 2_000;

/// The table whose row counts the scopes, and marks a copy that is under way: the tenant's own.
const COUNTER_TABLE: &str = "tenant";
/// The tables with marks of forgotten rows. A store that has nothing else counts as empty, and its
/// marks make room for those of the copy.
const FORGOTTEN: [&str; 2] = ["forgotten", "mark_key"];
/// The mark of an unfinished copy, in the place of the number of scopes.
pub(crate) const UNFINISHED: i64 = -1;

/// The outcome of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// The number of rows, by table.
    pub rows: BTreeMap<&'static str, u64>,
}

impl Store {
    /// Copies all rows of this tenant into another store, where the tenant must have none yet, and
    /// compares both. Nobody should write to either meanwhile; the comparison would fail.
    ///
    /// # Errors
    /// When the other store has rows already, when one of them fails, or when they differ.
    pub async fn copy_to(&self, other: &Self) -> Result<Copied> {
        let tables = tables();
        let scopes = self.scope_count().await?;
        if scopes == Some(UNFINISHED) {
            return Err(unfinished());
        }
        if self.is_empty(&tables).await? {
            return Err(StoreError::missing("row of tenant", self.tenant()));
        }
        // An attempt that was interrupted: its rows are ours to remove.
        if other.scope_count().await? == Some(UNFINISHED) {
            other.remove_all(tables.iter()).await?;
        } else if !other.is_empty(&tables).await? {
            let problem = format!("already has memory of tenant `{}`", other.tenant());
            return Err(StoreError::invalid("the store to copy to", problem));
        }
        // Set before the first row and replaced after the last: whoever looks between them sees an
        // unfinished copy.
        other.set_scope_count(UNFINISHED).await?;
        let marks = tables.iter().filter(|table| table.holds_marks());
        other.remove_all(marks).await?;
        let mut copied = Copied::default();
        for table in &tables {
            let rows = self.copy_table(other, table).await?;
            copied.rows.insert(table.name, rows);
        }
        // Read back from the other store: a lossy conversion there must not pass as a copy.
        for table in &tables {
            if self.digest(table).await? != other.digest(table).await? {
                let name = table.name;
                return Err(StoreError::failed(format!(
                    "the copy of table {name} differs from the original"
                )));
            }
        }
        other.set_scope_count(scopes.unwrap_or(0)).await?;
        Ok(copied)
    }

    /// The number of scopes the tenant has ever had here, or `UNFINISHED`.
    async fn scope_count(&self) -> Result<Option<i64>> {
        self.read(scope_count).await
    }

    async fn set_scope_count(&self, scopes: i64) -> Result<()> {
        self.write(async move |tx| set_scope_count(tx, scopes).await)
            .await
    }

    async fn is_empty(&self, tables: &[Table]) -> Result<bool> {
        for table in tables.iter().filter(|table| !table.holds_marks()) {
            if !self.page(table, Vec::new(), 1).await?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn remove_all(&self, tables: impl Iterator<Item = &Table>) -> Result<()> {
        for table in tables {
            let sql = format!("DELETE FROM {} WHERE tenant = $1", table.name);
            self.write(async move |tx| tx.execute(&sql, ()).await)
                .await?;
        }
        Ok(())
    }

    async fn copy_table(&self, other: &Self, table: &Table) -> Result<u64> {
        let mut count = 0;
        self.each_page(table, async |rows| {
            count += rows.len() as u64;
            let into = table.with_columns();
            other
                .write(async move |tx| tx.insert(&into, rows).await)
                .await
        })
        .await?;
        Ok(count)
    }

    /// Reads all rows of a table, a page at a time.
    async fn each_page(
        &self,
        table: &Table,
        mut use_rows: impl AsyncFnMut(Vec<Vec<Value>>) -> Result<()>,
    ) -> Result<()> {
        let mut after = Vec::new();
        loop {
            let rows = self.page(table, after, PAGE).await?;
            let Some(last) = rows.last() else {
                return Ok(());
            };
            after = table.key_of(last);
            use_rows(rows).await?;
        }
    }

    /// Rows behind a key, in the order of their keys.
    async fn page(&self, table: &Table, after: Vec<Value>, limit: u32) -> Result<Vec<Vec<Value>>> {
        let table = table.clone();
        self.read(async move |tx| page(tx, &table, after, limit).await)
            .await
    }

    async fn digest(&self, table: &Table) -> Result<blake3::Hash> {
        let mut digest = Digest::default();
        self.each_page(table, async |rows| {
            digest.add(&rows);
            Ok(())
        })
        .await?;
        Ok(digest.0.finalize())
    }
}

impl Table {
    fn holds_marks(&self) -> bool {
        FORGOTTEN.contains(&self.name)
    }
}

/// The tables to copy: all but the one whose row is the counter.
fn tables() -> Vec<Table> {
    let mut tables = schema::tables();
    tables.retain(|table| table.name != COUNTER_TABLE);
    tables
}

async fn scope_count(tx: &mut Tx<'_>) -> Result<Option<i64>> {
    let sql = "SELECT scopes FROM tenant WHERE tenant = $1";
    tx.query_one(sql, ()).await
}

async fn set_scope_count(tx: &mut Tx<'_>, scopes: i64) -> Result<()> {
    let or = "ON CONFLICT (tenant) DO UPDATE SET scopes = excluded.scopes";
    tx.insert_or("tenant (tenant, scopes)", or, [scopes]).await
}

/// Rows behind a key, in the order of their keys.
async fn page(
    tx: &mut Tx<'_>,
    table: &Table,
    after: Vec<Value>,
    limit: u32,
) -> Result<Vec<Vec<Value>>> {
    let key = table.key.join(", ");
    // By key and not by offset, which would read all earlier rows again for each page.
    let behind = match after.len() {
        0 => String::new(),
        length => format!(" AND ({key}) > ({})", placeholders(2, length)),
    };
    let (columns, name) = (table.column_names(), table.name);
    let sql = format!(
        "SELECT {columns} FROM {name} WHERE tenant = $1{behind} ORDER BY {key} LIMIT {limit}"
    );
    let bodies: Vec<bool> = table.columns.iter().map(|column| column.is_body).collect();
    let rows = tx.query(&sql, after).await?;
    rows.into_iter().map(|row| cells(row, &bodies)).collect()
}

/// A hash over the content of rows, in order.
#[derive(Default)]
struct Digest(blake3::Hasher);

impl Digest {
    fn add(&mut self, rows: &[Vec<Value>]) {
        for cell in rows.iter().flatten() {
            update(&mut self.0, cell);
        }
    }
}

/// The error for a store that holds half a copy.
pub(crate) fn unfinished() -> StoreError {
    StoreError::failed("a copy into it was not finished; copy again, or choose another store")
}

/// The cells of a row. Columns with people's words become texts, which PostgreSQL keeps as bytes.
fn cells(mut row: Row, bodies: &[bool]) -> Result<Vec<Value>> {
    let mut cells = Vec::with_capacity(bodies.len());
    for is_body in bodies {
        let cell = match is_body {
            true => row.read::<Option<String>>()?.map(Value::Body).into(),
            false => row.read()?,
        };
        cells.push(cell);
    }
    Ok(cells)
}

fn update(hasher: &mut blake3::Hasher, cell: &Value) {
    // A kind and a length in front of each cell: without them the boundary between two cells could
    // shift unseen.
    let (kind, bytes): (u8, &[u8]) = match cell {
        Value::Null => (0, &[]),
        Value::Int(number) => {
            hasher.update(&[1]).update(&number.to_le_bytes());
            return;
        }
        Value::Text(text) | Value::Body(text) => (2, text.as_bytes()),
        Value::Blob(bytes) => (3, bytes),
    };
    hasher
        .update(&[kind])
        .update(&(bytes.len() as u64).to_le_bytes())
        .update(bytes);
}
