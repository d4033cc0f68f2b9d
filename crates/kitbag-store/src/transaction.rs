//! A transaction of either database, in which every statement is bound to one tenant.
//!
//! The operations of the store are written once, over this type. In SQLite nothing here ever waits
//! for another task, so a transaction runs from start to end on the thread that owns the
//! connection.

use crate::error::{Result, StoreError};
use crate::value::{FromRow, Parameters, Row, Value};

/// An open transaction. The tenant is `$1` of every statement.
pub(crate) struct Tx<'t> {
    tenant: &'t str,
    inner: Inner<'t>,
}

enum Inner<'t> {
    #[cfg(feature = "sqlite")]
    Sqlite(&'t mut rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Postgres(crate::postgres::Connection<'t>),
}

impl<'t> Tx<'t> {
    #[cfg(feature = "sqlite")]
    pub(crate) fn sqlite(tenant: &'t str, connection: &'t mut rusqlite::Connection) -> Self {
        Self {
            tenant,
            inner: Inner::Sqlite(connection),
        }
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn postgres(tenant: &'t str, connection: crate::postgres::Connection<'t>) -> Self {
        Self {
            tenant,
            inner: Inner::Postgres(connection),
        }
    }

    /// Runs a statement and returns the number of rows it touched.
    pub(crate) async fn execute(&mut self, sql: &str, parameters: impl Parameters) -> Result<u64> {
        let parameters = self.with_tenant(parameters);
        match &mut self.inner {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(connection) => crate::sqlite::execute(connection, sql, &parameters),
            #[cfg(feature = "postgres")]
            Inner::Postgres(connection) => connection.execute(sql, &parameters).await,
        }
    }

    /// Runs a query.
    pub(crate) async fn query<T: FromRow>(
        &mut self,
        sql: &str,
        parameters: impl Parameters,
    ) -> Result<Vec<T>> {
        let rows = self.rows(sql, parameters).await?;
        rows.into_iter().map(|mut row| row.read()).collect()
    }

    /// Runs a query and leaves reading its rows to the caller.
    async fn rows(&mut self, sql: &str, parameters: impl Parameters) -> Result<Vec<Row>> {
        let parameters = self.with_tenant(parameters);
        match &mut self.inner {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(connection) => crate::sqlite::query(connection, sql, &parameters),
            #[cfg(feature = "postgres")]
            Inner::Postgres(connection) => connection.query(sql, &parameters).await,
        }
    }

    /// Runs a query that has at most one row.
    pub(crate) async fn query_one<T: FromRow>(
        &mut self,
        sql: &str,
        parameters: impl Parameters,
    ) -> Result<Option<T>> {
        let row = self.rows(sql, parameters).await?.into_iter().next();
        row.map(|mut row| row.read()).transpose()
    }

    /// Runs a query that always has a row, such as that of an aggregate.
    pub(crate) async fn query_row<T: FromRow>(
        &mut self,
        sql: &str,
        parameters: impl Parameters,
    ) -> Result<T> {
        let row = self.query_one(sql, parameters).await?;
        row.ok_or_else(|| StoreError::failed(format!("there is no result of: {sql}")))
    }

    /// Queries one table for the rows of a scope whose two named columns hold one of `pairs`. Each
    /// pair may occur once; rows come in no order. The text of the statement is the same for any
    /// number of pairs, so the database parses and plans it once.
    pub(crate) async fn query_pairs<T: FromRow>(
        &mut self,
        select: &str,
        scope: u32,
        (first, second): (&str, &str),
        pairs: &[(u32, u32)],
    ) -> Result<Vec<T>> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let within = format!("{select} WHERE tenant = $1 AND scope = $2");
        let rows = match &mut self.inner {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(connection) => {
                let sql = format!("{within} AND {first} = $3 AND {second} = $4");
                let pairs = pairs
                    .iter()
                    .map(|(one, other)| (self.tenant, scope, one, other));
                crate::sqlite::query_each(connection, &sql, pairs)?
            }
            #[cfg(feature = "postgres")]
            Inner::Postgres(_) => {
                // Lists as text: an array parameter would need another kind of `Value` for this
                // query alone.
                let sql = format!(
                    "{within} AND ({first}, {second}) IN (SELECT * FROM unnest(\
                     string_to_array($3, ',')::bigint[], string_to_array($4, ',')::bigint[]))"
                );
                let list = |of: fn(&(u32, u32)) -> u32| {
                    let numbers = pairs.iter().map(|pair| of(pair).to_string());
                    numbers.collect::<Vec<_>>().join(",")
                };
                let lists = (list(|pair| pair.0), list(|pair| pair.1));
                self.rows(&sql, (scope, lists)).await?
            }
        };
        rows.into_iter().map(|mut row| row.read()).collect()
    }

    /// Runs a query once for each row of `given`, whose values it reads as columns of a table
    /// `given`, such as `given.block`. `columns` are declared with their types, `block INTEGER`. `$2`
    /// is the scope. The text of the statement is the same for any number of rows.
    pub(crate) async fn query_each<T: FromRow, P: Parameters>(
        &mut self,
        query: &str,
        scope: u32,
        columns: &[&str],
        given: impl IntoIterator<Item = P>,
    ) -> Result<Vec<T>> {
        let (values, width) = values_of_rows("given", given)?;
        if values.is_empty() {
            return Ok(Vec::new());
        }
        let names = columns
            .iter()
            .map(|column| column.split(' ').next().unwrap_or(column));
        let found = match &mut self.inner {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(connection) => {
                let mut sql = query.to_owned();
                // `$1` and `$2` are taken: the tenant and the scope.
                for (number, name) in (3..).zip(names) {
                    sql = sql.replace(&format!("given.{name}"), &format!("${number}"));
                }
                let before = [Value::from(self.tenant), Value::from(scope)];
                let sets = values.chunks(width);
                let sets = sets.map(|row| rusqlite::params_from_iter(before.iter().chain(row)));
                crate::sqlite::query_each(connection, &sql, sets)?
            }
            #[cfg(feature = "postgres")]
            Inner::Postgres(_) => {
                let names: Vec<&str> = names.collect();
                let rows = crate::postgres::json_rows(&names, values.chunks(width))?;
                let columns = columns.join(", ").replace("INTEGER", "BIGINT");
                // The server would join the tables by reading all of the other one, did the offset
                // not make it run the query for each row.
                let sql = format!(
                    "SELECT found.* FROM json_to_recordset($3::json) AS given ({columns}) \
                     CROSS JOIN LATERAL ({query} OFFSET 0) AS found"
                );
                self.rows(&sql, (scope, rows)).await?
            }
        };
        found.into_iter().map(|mut row| row.read()).collect()
    }

    /// Runs a query for one row that the caller then changes: nobody else may change it before the
    /// transaction ends. SQLite has one writer at a time anyway.
    pub(crate) async fn lock_one<T: FromRow>(
        &mut self,
        sql: &str,
        parameters: impl Parameters,
    ) -> Result<Option<T>> {
        match &self.inner {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(_) => self.query_one(sql, parameters).await,
            #[cfg(feature = "postgres")]
            Inner::Postgres(_) => {
                let locking = format!("{sql} FOR UPDATE");
                self.query_one(&locking, parameters).await
            }
        }
    }

    /// Holds off every other transaction that locks this name, until this one ends. Needed for rows
    /// that do not exist yet and so cannot be locked themselves.
    pub(crate) async fn lock_exclusive(&mut self, name: &str) -> Result<()> {
        self.advise("pg_advisory_xact_lock", name).await
    }

    /// Admits other shared holders of this name, but no [`lock_exclusive`](Self::lock_exclusive).
    pub(crate) async fn lock_shared(&mut self, name: &str) -> Result<()> {
        self.advise("pg_advisory_xact_lock_shared", name).await
    }

    async fn advise(&mut self, lock: &str, name: &str) -> Result<()> {
        // A file has one writer at a time as it is.
        #[cfg(feature = "sqlite")]
        if matches!(self.inner, Inner::Sqlite(_)) {
            return Ok(());
        }
        // The tenant is part of the hashed name: tenants never wait for each other.
        let sql = format!("SELECT 1 FROM {lock}(hashtextextended($1 || '/' || $2, 0))");
        self.rows(&sql, name).await.map(drop)
    }

    /// Inserts rows of one shape; `into` is the table with its columns after the tenant's: `"fact
    /// (tenant, scope, key)"`. The tenant is added in front of each row.
    pub(crate) async fn insert<P: Parameters>(
        &mut self,
        into: &str,
        rows: impl IntoIterator<Item = P>,
    ) -> Result<()> {
        self.insert_or(into, "", rows).await
    }

    /// Inserts rows like [`insert`](Self::insert), with a clause for rows that exist already: `"ON
    /// CONFLICT DO NOTHING"`.
    pub(crate) async fn insert_or<P: Parameters>(
        &mut self,
        into: &str,
        conflict: &str,
        rows: impl IntoIterator<Item = P>,
    ) -> Result<()> {
        let tenant = Value::from(self.tenant);
        match &mut self.inner {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(connection) => {
                crate::sqlite::insert(connection, into, conflict, tenant, rows)
            }
            #[cfg(feature = "postgres")]
            Inner::Postgres(connection) => {
                let (values, columns) = values_of_rows(into, rows)?;
                if values.is_empty() {
                    return Ok(());
                }
                let columns = (into, columns);
                crate::postgres::insert(*connection, columns, conflict, &tenant, &values).await
            }
        }
    }

    /// The condition that a column of type `BODY` contains a text.
    pub(crate) fn holds(&self, column: &str, text: &str) -> String {
        match &self.inner {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(_) => format!("instr({column}, {text}) > 0"),
            #[cfg(feature = "postgres")]
            Inner::Postgres(_) => format!("position({text} in {column}) > 0"),
        }
    }

    fn with_tenant(&self, parameters: impl Parameters) -> Vec<Value> {
        // Most statements have at most seven parameters of their own.
        let mut values = Vec::with_capacity(8);
        values.push(self.tenant.into());
        parameters.add_to(&mut values);
        values
    }
}

/// Savepoints are for restoring backups, which are SQLite files.
#[cfg(feature = "sqlite")]
impl Tx<'_> {
    /// Begins a part that [`roll_back_to_savepoint`](Self::roll_back_to_savepoint) undoes.
    pub(crate) async fn set_savepoint(&mut self) -> Result<()> {
        self.batch("SAVEPOINT here").await
    }

    /// Undoes everything since [`set_savepoint`](Self::set_savepoint).
    pub(crate) async fn roll_back_to_savepoint(&mut self) -> Result<()> {
        self.batch("ROLLBACK TO SAVEPOINT here; RELEASE SAVEPOINT here")
            .await
    }

    /// Runs statements without parameters.
    async fn batch(&mut self, sql: &str) -> Result<()> {
        match &mut self.inner {
            Inner::Sqlite(connection) => crate::sqlite::batch(connection, sql),
            #[cfg(feature = "postgres")]
            Inner::Postgres(connection) => connection.batch(sql).await,
        }
    }
}

/// The values of all rows, one row after the other, and the number of values in each.
///
/// Rows made of lists can differ in length. Cut at one width, their values would end up in wrong
/// columns, so that is an error.
fn values_of_rows<P: Parameters>(
    into: &str,
    rows: impl IntoIterator<Item = P>,
) -> Result<(Vec<Value>, usize)> {
    let (mut values, mut columns) = (Vec::new(), None);
    for row in rows {
        let before = values.len();
        row.add_to(&mut values);
        let added = values.len() - before;
        let expected = *columns.get_or_insert(added);
        if added != expected {
            return Err(StoreError::failed(format!(
                "a row for {into} has {added} values, and the first one has {expected}"
            )));
        }
    }
    Ok((values, columns.unwrap_or(0)))
}

/// Names for `count` parameters, beginning with `$first`: `$4, $5, $6`.
pub(crate) fn placeholders(first: usize, count: usize) -> String {
    let names: Vec<String> = (first..first + count)
        .map(|number| format!("${number}"))
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_unequal_length_are_refused() {
        let row = |count: i64| (0..count).map(Value::Int).collect::<Vec<_>>();
        let (values, columns) = values_of_rows("fact", [row(2), row(2)]).unwrap();
        assert_eq!((values.len(), columns), (4, 2));
        // Together they fill two rows of two.
        let error = values_of_rows("fact", [row(1), row(3)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the store failed: a row for fact has 3 values, and the first one has 1"
        );
    }
}
