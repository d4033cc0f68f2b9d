//! The store in one SQLite file: one thread that writes, and a few that read.

mod error;
mod log;
mod named;
mod open;
#[cfg(test)]
mod plan_tests;
mod queue;
mod threads;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Params, ToSql, params_from_iter};

use crate::error::Result;
use crate::transaction::placeholders;
use crate::value::{Parameters, Row, Value};

pub(crate) use error::failed;
pub(crate) use log::clear_log;
pub(crate) use open::{PATIENCE, open, open_existing};
pub(crate) use threads::Sqlite;

pub(crate) fn execute(connection: &Connection, sql: &str, parameters: &[Value]) -> Result<u64> {
    let run = || -> rusqlite::Result<usize> {
        // The same statements run over and over, and compiling one would be a good part of a short
        // run.
        let mut statement = prepare(connection, sql)?;
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
        let mut statement = prepare(connection, sql)?;
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

/// Inserts rows, with the tenant in front of each row.
pub(crate) fn insert<P: Parameters>(
    connection: &Connection,
    into: &str,
    conflict: &str,
    tenant: Value,
    rows: impl IntoIterator<Item = P>,
) -> Result<()> {
    let mut rows = rows.into_iter();
    let Some(first) = rows.next() else {
        return Ok(());
    };
    // One list for all rows: a large batch would fill the memory with its values.
    let mut values = vec![tenant];
    first.add_to(&mut values);
    // One row per statement, unlike PostgreSQL: there is no round trip to save here, and the text
    // is the same for any number of rows, so it is compiled once.
    let places = placeholders(1, values.len());
    let sql = format!("INSERT INTO {into} VALUES ({places}) {conflict}");
    let run = || -> rusqlite::Result<()> {
        let mut statement = prepare(connection, &sql)?;
        statement.execute(params_from_iter(&values))?;
        for row in rows {
            values.truncate(1);
            row.add_to(&mut values);
            // A row of another length than the first is an error of SQLite.
            statement.execute(params_from_iter(&values))?;
        }
        Ok(())
    };
    run().map_err(failed)
}

fn prepare<'c>(connection: &'c Connection, sql: &str) -> rusqlite::Result<CachedStatement<'c>> {
    // SQLite numbers `$` names in the order of their first use.
    let sql = sql.replace('$', "?");
    #[cfg(test)]
    plan_tests::note(connection, &sql);
    connection.prepare_cached(&sql)
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
