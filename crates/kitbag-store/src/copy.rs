//! Copying a tenant's rows into another store, and proving that they are the same.

use std::collections::BTreeMap;

use crate::error::StoreError;
use crate::schema::{self, Table};
use crate::store::Store;
use crate::transaction::{Tx, placeholders};
use crate::value::{Row, Value};

/// How many rows are copied in one transaction.
const PAGE: u32 = 2_000;

/// The table whose row says that a copy is under way: the tenant's own.
const MARKED: &str = "tenant";
/// What stands there until a copy is whole.
pub(crate) const UNFINISHED: i64 = -1;

/// What was copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// How many rows of each table.
    pub rows: BTreeMap<&'static str, u64>,
}

impl Store {
    /// Copies all rows of this tenant into another store, where the tenant must have none yet, and
    /// compares both. Nobody should write to either meanwhile; the comparison would tell.
    ///
    /// # Errors
    /// When the other store has rows already, when one of them fails, or when they differ.
    pub async fn copy_to(&self, other: &Self) -> Result<Copied, StoreError> {
        let tables = schema::tables();
        other.prepare_copy(schema::tables()).await?;
        let mut copied = Copied::default();
        for table in tables.iter().filter(|table| table.name != MARKED) {
            let rows = self.copy_table(other, table).await?;
            copied.rows.insert(table.name, rows);
        }
        if copied.rows.values().all(|rows| *rows == 0) {
            other.finish_copy(None).await?;
            return Err(StoreError::Missing {
                what: "row of tenant",
                name: self.tenant().to_string(),
            });
        }
        for table in tables.iter().filter(|table| table.name != MARKED) {
            if self.digest(table).await? != other.digest(table).await? {
                return Err(StoreError::Failed {
                    reason: format!("the copy of table {} differs from the original", table.name),
                });
            }
        }
        let scopes = self
            .read(|tx| {
                Box::pin(async move {
                    let row = tx.query_one("SELECT scopes FROM tenant WHERE tenant = $1", []);
                    Ok(row.await?.map_or(Ok(0), |mut row| row.int())?)
                })
            })
            .await?;
        other.finish_copy(Some(scopes)).await?;
        Ok(copied)
    }

    /// Checks that the tenant has nothing here, but for a copy that was not finished, which goes; and
    /// marks that a copy is under way.
    async fn prepare_copy(&self, tables: Vec<Table>) -> Result<(), StoreError> {
        let tenant = self.tenant().to_string();
        self.write(move |tx| {
            Box::pin(async move {
                let mark = tx.query_one("SELECT scopes FROM tenant WHERE tenant = $1", []);
                let mark = mark.await?.map(|mut row| row.int()).transpose()?;
                for table in tables.iter().filter(|table| table.name != MARKED) {
                    if mark == Some(UNFINISHED) {
                        let sql = format!("DELETE FROM {} WHERE tenant = $1", table.name);
                        tx.execute(&sql, []).await?;
                        continue;
                    }
                    let sql = format!("SELECT 1 FROM {} WHERE tenant = $1 LIMIT 1", table.name);
                    if tx.query_one(&sql, []).await?.is_some() {
                        let problem = format!("has rows of tenant `{tenant}` already");
                        return Err(StoreError::invalid("the other store", problem));
                    }
                }
                mark_as(tx, UNFINISHED).await
            })
        })
        .await
    }

    /// Takes the mark away.
    async fn finish_copy(&self, scopes: Option<i64>) -> Result<(), StoreError> {
        self.write(move |tx| Box::pin(async move { mark_as(tx, scopes.unwrap_or(0)).await }))
            .await
    }

    async fn copy_table(&self, other: &Self, table: &Table) -> Result<u64, StoreError> {
        let mut after = Vec::new();
        let mut count = 0;
        loop {
            let rows = self.page(table, after, PAGE).await?;
            let Some(last) = rows.last() else {
                return Ok(count);
            };
            after = table.key_of(last);
            count += rows.len() as u64;
            let into = table.insert_into();
            other
                .write(move |tx| Box::pin(async move { insert(tx, &into, rows).await }))
                .await?;
        }
    }

    /// Rows behind a key, in the order of their keys.
    async fn page(
        &self,
        table: &Table,
        after: Vec<Value>,
        limit: u32,
    ) -> Result<Vec<Vec<Value>>, StoreError> {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let key = table.key.join(", ");
        let behind = match after.len() {
            0 => String::new(),
            length => format!(" AND ({key}) > ({})", placeholders(2, length)),
        };
        let sql = format!(
            "SELECT {} FROM {} WHERE tenant = $1{behind} ORDER BY {key} LIMIT {limit}",
            columns.join(", "),
            table.name,
        );
        let bodies: Vec<bool> = table.columns.iter().map(|column| column.is_body).collect();
        self.read(move |tx| {
            Box::pin(async move {
                let rows = tx.query_with(&sql, after).await?;
                rows.into_iter().map(|row| cells(row, &bodies)).collect()
            })
        })
        .await
    }

    async fn digest(&self, table: &Table) -> Result<[u8; 32], StoreError> {
        let mut hasher = blake3::Hasher::new();
        let mut after = Vec::new();
        loop {
            let rows = self.page(table, after, PAGE).await?;
            let Some(last) = rows.last() else {
                return Ok(*hasher.finalize().as_bytes());
            };
            after = table.key_of(last);
            for cell in rows.iter().flatten() {
                update(&mut hasher, cell);
            }
        }
    }
}

impl Table {
    fn key_of(&self, row: &[Value]) -> Vec<Value> {
        let is_key = |name: &str| self.key.contains(&name);
        let cells = self.columns.iter().zip(row);
        // The columns of a key stand in its order at the beginning of each table.
        cells
            .filter(|(column, _)| is_key(column.name))
            .map(|(_, cell)| cell.clone())
            .collect()
    }

    fn insert_into(&self) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        format!(
            "INSERT INTO {} (tenant, {}) VALUES (",
            self.name,
            columns.join(", ")
        )
    }
}

async fn mark_as(tx: &mut Tx<'_>, scopes: i64) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO tenant (tenant, scopes) VALUES ($1, $2) \
         ON CONFLICT (tenant) DO UPDATE SET scopes = excluded.scopes",
        [scopes.into()],
    )
    .await?;
    Ok(())
}

async fn insert(tx: &mut Tx<'_>, into: &str, rows: Vec<Vec<Value>>) -> Result<(), StoreError> {
    for row in rows {
        let sql = format!("{into}{})", placeholders(1, row.len() + 1));
        tx.execute_with(&sql, row).await?;
    }
    Ok(())
}

/// The cells of a row, texts as texts in both databases.
fn cells(mut row: Row, bodies: &[bool]) -> Result<Vec<Value>, StoreError> {
    let mut cells = Vec::with_capacity(bodies.len());
    for is_body in bodies {
        let cell = match is_body {
            true => row.text_or_null()?.map_or(Value::Null, Value::Body),
            false => row.cell(),
        };
        cells.push(cell);
    }
    Ok(cells)
}

fn update(hasher: &mut blake3::Hasher, cell: &Value) {
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
