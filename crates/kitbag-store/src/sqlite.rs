//! The store in one SQLite file: one thread that writes, and a few that read.

mod error;
mod log;
mod named;
mod open;
mod queue;
mod threads;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Params, ToSql, params_from_iter};

use crate::error::Result;
use crate::transaction::placeholders;
use crate::value::{Row, Value};

pub(crate) use error::failed;
pub(crate) use log::clear_log;
pub(crate) use open::{PATIENCE, open, open_existing};
pub(crate) use threads::Sqlite;

pub(crate) fn execute(connection: &Connection, sql: &str, parameters: &[Value]) -> Result<u64> {
    let run = || -> rusqlite::Result<usize> {
        // The same statements run over and over, and compiling one would be a good part of a short
        // run.
        let mut statement = connection.prepare_cached(&numbered(sql))?;
        statement.execute(params_from_iter(parameters))
    };
    Ok(run().map_err(failed)? as u64)
}

pub(crate) fn batch(connection: &Connection, sql: &str) -> Result<()> {
    connection.execute_batch(sql).map_err(failed)
}

pub(crate) fn query(connection: &Connection, sql: &str, parameters: &[Value]) -> Result<Vec<Row>> {
    query_each(connection, sql, [params_from_iter(parameters)])
}

/// Runs a query with each of several sets of parameters and returns all rows.
pub(crate) fn query_each(
    connection: &Connection,
    sql: &str,
    sets: impl IntoIterator<Item: Params>,
) -> Result<Vec<Row>> {
    let run = || -> rusqlite::Result<Vec<Row>> {
        let mut statement = connection.prepare_cached(&numbered(sql))?;
        let columns = statement.column_count();
        let mut rows = Vec::new();
        for parameters in sets {
            let mut found = statement.query(parameters)?;
            while let Some(row) = found.next()? {
                let mut cells = Vec::with_capacity(columns);
                for column in 0..columns {
                    cells.push(owned(row.get_ref(column)?));
                }
                rows.push(Row::new(cells));
            }
        }
        Ok(rows)
    };
    run().map_err(failed)
}

/// Inserts rows of `columns` values each, with the tenant in front of each row.
pub(crate) fn insert(
    connection: &Connection,
    into: &str,
    conflict: &str,
    tenant: &Value,
    values: &[Value],
    columns: usize,
) -> Result<()> {
    // One row per statement, unlike PostgreSQL: there is no round trip to save here, and the text
    // is the same for any number of rows, so it is compiled once.
    let places = placeholders(1, columns + 1);
    let sql = format!("INSERT INTO {into} VALUES ({places}) {conflict}");
    let run = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(&numbered(&sql))?;
        for row in values.chunks(columns) {
            statement.execute(params_from_iter([tenant].into_iter().chain(row)))?;
        }
        Ok(())
    };
    run().map_err(failed)
}

/// Rewrites `$3` to `?3`: SQLite numbers `$` names in the order of their first use.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

fn owned(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        // No column is of this type. As a text it fails where a number is expected, and does not
        // pass rounded.
        ValueRef::Real(number) => Value::Text(number.to_string()),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            // Only another program writes such bytes. `Cell` refuses them where a text is expected.
            Err(_) => Value::Blob(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) | Self::Body(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}
