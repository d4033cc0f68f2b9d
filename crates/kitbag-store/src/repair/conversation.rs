//! Mends a conversation whose row cannot be read: readable cells stay, the others are derived from
//! its messages or left out.

use jiff::Timestamp;

use super::damaged::DamagedRow;
use crate::error::Result;
use crate::transaction::Tx;
use crate::value::{Row, Value};

/// Rewrites a conversation from its readable cells. Its counts are mended later with those of its
/// scope.
pub(super) async fn mend(tx: &mut Tx<'_>, row: &DamagedRow) -> Result<()> {
    let (Some(scope), Some(id)) = (row.cell::<u32>("scope"), row.cell::<u32>("id")) else {
        return Ok(());
    };
    let sql = "SELECT min(at), max(at) FROM message \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3";
    let said: Option<Row> = tx.query_one(sql, (scope, id)).await?;
    // An aggregate always yields a row; an empty one reads as unknown times.
    let mut said = said.unwrap_or_else(|| Row::new(Vec::new()));
    let mut said = || said.cell::<Timestamp>().ok();
    let (first, last) = (said(), said());
    let (began, active) = (row.cell::<Timestamp>("began"), row.cell("active"));
    let began = began.or(first).or(active).unwrap_or(Timestamp::UNIX_EPOCH);
    let active = active.or(last).unwrap_or(began);
    let closed: Option<Timestamp> = row.cell::<Option<Timestamp>>("closed").flatten();
    let name = match text(row, "name") {
        Some(name) if !is_taken(tx, scope, id, &name).await? => Some(name),
        _ => None,
    };
    let title = text(row, "title").map(Value::Body);
    // 0 is below every real count, so `counts::of_scope` raises it.
    let count = |column| row.cell::<u32>(column).unwrap_or(0);
    let sql = "UPDATE conversation SET name = $2, title = $3, began = $4, active = $5, closed = $6, \
               messages = $7, turns = $8 WHERE tenant = $1 AND scope = $9 AND id = $10";
    let times = (began, active, closed.map(Value::from));
    let counts = (count("messages"), count("turns"));
    tx.execute(sql, (name, title, times, counts, (scope, id)))
        .await
        .map(drop)
}

/// A text, with the replacement character for bytes that are no UTF-8.
fn text(row: &DamagedRow, column: &str) -> Option<String> {
    match row.cell::<Value>(column)? {
        Value::Text(text) | Value::Body(text) => Some(text),
        Value::Int(number) => Some(number.to_string()),
        Value::Blob(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Value::Null => None,
    }
}

/// Returns true if another conversation of the scope has the name.
async fn is_taken(tx: &mut Tx<'_>, scope: u32, id: u32, name: &str) -> Result<bool> {
    let sql = "SELECT id FROM conversation \
               WHERE tenant = $1 AND scope = $2 AND id <> $3 AND name = $4";
    let other: Option<Value> = tx.query_one(sql, (scope, id, name)).await?;
    Ok(other.is_some())
}
