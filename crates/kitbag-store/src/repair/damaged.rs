//! Finds and removes rows that cannot be read or belong to nothing.

use serde_json::{Map, Value as Json, json};

use crate::conversation::{self, Conversation};
use crate::error::{Result, StoreError};
use crate::fact::{self, Fact};
use crate::history;
use crate::message::StoredMessage;
use crate::prompt::Hash;
use crate::schema::{self, Table};
use crate::state::ConversationState;
use crate::transaction::{Tx, placeholders};
use crate::value::{Cell, FromRow, Row, Value};

/// The greatest number that the store gives out.
pub(super) const LARGEST: u32 = u32::MAX;

/// The number of messages that are read at a time.
const PAGE: u32 = 1_000;

/// Tables that are derived from messages: their rows can be removed without loss.
const DERIVED: [&str; 2] = ["block", "posting"];

/// The treatment of a damaged row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// It is removed.
    Remove,
    /// It stays, with its readable cells.
    Mend,
}

/// A row that keeps the rest of the store from being used.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DamagedRow {
    /// Its table.
    pub table: &'static str,
    /// The reason it cannot be read.
    pub reason: String,
    /// The treatment that the repair gives it.
    pub remedy: Remedy,
    key: Vec<Value>,
    cells: Vec<(&'static str, Value)>,
}

impl DamagedRow {
    /// The cell of a column; none if it cannot be read as this type.
    pub(super) fn cell<T: Cell>(&self, column: &str) -> Option<T> {
        let (_, value) = self.cells.iter().find(|(name, _)| *name == column)?;
        T::from_value(value.clone())
    }

    /// The contents of the row as an object. Bytes that are no text become `{"hex": "…"}`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let cell = |value: &Value| match value {
            Value::Null => Json::Null,
            Value::Int(number) => json!(number),
            Value::Text(text) | Value::Body(text) => json!(text),
            Value::Blob(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => json!(text),
                Err(_) => {
                    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
                    json!({"hex": digits.collect::<String>()})
                }
            },
        };
        let cells = self.cells.iter();
        let row: Map<String, Json> = cells
            .map(|(name, value)| ((*name).to_owned(), cell(value)))
            .collect();
        json!({"table": self.table, "reason": self.reason, "row": row})
    }
}

/// All rows that must go or be mended, each once.
pub(super) async fn find(tx: &mut Tx<'_>) -> Result<Vec<DamagedRow>> {
    let mut found: Vec<DamagedRow> = Vec::new();
    for table in schema::tables() {
        if DERIVED.contains(&table.name) {
            continue;
        }
        let mut damaged = misplaced(tx, &table).await?;
        damaged.extend(match table.name {
            "conversation" => {
                let rows = unreadable::<Conversation>(tx, &table, conversation::COLUMNS).await?;
                let mend = |row| DamagedRow {
                    remedy: Remedy::Mend,
                    ..row
                };
                rows.into_iter().map(mend).collect()
            }
            "fact" => unreadable::<Fact>(tx, &table, fact::COLUMNS).await?,
            "message" => unreadable::<StoredMessage>(tx, &table, history::COLUMNS).await?,
            "state" => unreadable::<StateRow>(tx, &table, StateRow::COLUMNS).await?,
            "text" => unreadable::<TextRow>(tx, &table, TextRow::COLUMNS).await?,
            _ => Vec::new(),
        });
        for row in damaged {
            if !found
                .iter()
                .any(|one| one.table == row.table && one.key == row.key)
            {
                found.push(row);
            }
        }
    }
    Ok(found)
}

/// Rows with a number out of range, and rows without their scope or conversation. A conversation
/// with messages can be made again, so its rows stay.
async fn misplaced(tx: &mut Tx<'_>, table: &Table) -> Result<Vec<DamagedRow>> {
    let name = table.name;
    let in_range = |column: &str| format!("{column} BETWEEN 1 AND {LARGEST}");
    let numbers: &[&str] = match name {
        "scope" | "conversation" => &["id"],
        "message" => &["arrival", "conversation", "seq"],
        "turn" => &["conversation", "id"],
        "prompt" | "prompt_text" => &["conversation", "turn"],
        _ if table.has("conversation") => &["conversation"],
        _ => &[],
    };
    let mut conditions: Vec<String> = numbers.iter().map(|column| in_range(column)).collect();
    if table.has("scope") {
        conditions.push(format!(
            "EXISTS (SELECT 1 FROM scope WHERE scope.tenant = $1 AND scope.id = {name}.scope \
             AND scope.{})",
            in_range("id")
        ));
    }
    if table.has("conversation") && table.has("scope") && name != "message" {
        let of = |table: &str, column: &str| {
            format!(
                "EXISTS (SELECT 1 FROM {table} AS other WHERE other.tenant = $1 \
                 AND other.scope = {name}.scope AND other.{column} = {name}.conversation)"
            )
        };
        let (own, said) = (of("conversation", "id"), of("message", "conversation"));
        conditions.push(format!("({own} OR {said})"));
    }
    if conditions.is_empty() {
        return Ok(Vec::new());
    }
    let columns = table.column_names();
    let which = conditions.join(" AND ");
    let sql = format!("SELECT {columns} FROM {name} WHERE tenant = $1 AND NOT ({which})");
    let rows = tx.query::<Row>(&sql, ()).await?;
    let reason = "it has a number out of range, or what it belongs to is not there";
    let rows = rows.into_iter().map(|row| row.into_cells());
    Ok(rows
        .map(|cells| damaged(table, cells, reason.to_owned()))
        .collect())
}

/// Rows whose columns cannot be read as `T`.
async fn unreadable<T: FromRow>(
    tx: &mut Tx<'_>,
    table: &Table,
    columns: &str,
) -> Result<Vec<DamagedRow>> {
    let key = table.key.join(", ");
    let mut found = Vec::new();
    let mut after: Vec<Value> = Vec::new();
    loop {
        let behind = match after.len() {
            0 => String::new(),
            length => format!(" AND ({key}) > ({})", placeholders(2, length)),
        };
        let (all, name) = (table.column_names(), table.name);
        let sql = format!(
            "SELECT {all} FROM {name} WHERE tenant = $1{behind} ORDER BY {key} LIMIT {PAGE}"
        );
        let rows = tx.query::<Row>(&sql, after).await?;
        let rows: Vec<Vec<Value>> = rows.into_iter().map(Row::into_cells).collect();
        let Some(last) = rows.last() else {
            return Ok(found);
        };
        after = table.key_of(last);
        for cells in rows {
            let named = |column: &str| {
                let at = table.columns.iter().position(|own| own.name == column);
                at.and_then(|at| cells.get(at)).cloned()
            };
            // `columns` are those of the table, so each is found; a missing one would be reported
            // as damage.
            let picked = columns
                .split(", ")
                .map(|name| named(name).unwrap_or(Value::Null));
            if let Err(error) = T::from_row(&mut Row::new(picked.collect())) {
                found.push(damaged(table, cells, error.to_string()));
            }
        }
    }
}

fn damaged(table: &Table, cells: Vec<Value>, reason: String) -> DamagedRow {
    DamagedRow {
        table: table.name,
        reason,
        remedy: Remedy::Remove,
        key: table.key_of(&cells),
        cells: table
            .columns
            .iter()
            .map(|one| one.name)
            .zip(cells)
            .collect(),
    }
}

/// Removes or mends rows, which are identified by their keys.
pub(super) async fn remedy(tx: &mut Tx<'_>, rows: Vec<DamagedRow>) -> Result<()> {
    let tables = schema::tables();
    for row in rows {
        if row.remedy == Remedy::Mend {
            super::conversation::mend(tx, &row).await?;
            continue;
        }
        let table = tables.iter().find(|table| table.name == row.table);
        // The key is one that this program has read from the same table, so the table exists.
        let Some(table) = table else { continue };
        let key = table.key.iter().zip(2..);
        let key: Vec<String> = key
            .map(|(column, at)| format!("{column} = ${at}"))
            .collect();
        let (name, key) = (table.name, key.join(" AND "));
        let sql = format!("DELETE FROM {name} WHERE tenant = $1 AND {key}");
        tx.execute(&sql, row.key).await?;
    }
    // Their scopes may have been removed just now.
    for name in DERIVED {
        let sql = format!(
            "DELETE FROM {name} WHERE tenant = $1 \
             AND scope NOT IN (SELECT id FROM scope WHERE tenant = $1)"
        );
        tx.execute(&sql, ()).await?;
    }
    Ok(())
}

/// A part of a conversation's state, which must be readable JSON of its kind.
struct StateRow;

impl StateRow {
    const COLUMNS: &str = "kind, json";
}

impl FromRow for StateRow {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (kind, json): (String, String) = row.read()?;
        let read = ConversationState::default().put(&kind, &json);
        read.map(|()| Self)
            .map_err(|error| StoreError::damaged("state", format!("{kind}: {error}")))
    }
}

/// A text of prompts, which must match its hash.
struct TextRow;

impl TextRow {
    const COLUMNS: &str = "hash, body";
}

impl FromRow for TextRow {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (hash, body): (Hash, String) = row.read()?;
        match Hash::of(&body) == hash {
            true => Ok(Self),
            false => Err(StoreError::damaged("text", "it was altered")),
        }
    }
}
