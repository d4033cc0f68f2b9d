//! A connection inside an open transaction, and the way it sends statements.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::Statement;
use tokio_postgres::types::{ToSql, Type};

use super::error;
use super::marks::Marks;
use super::row;
use crate::error::{Result, StoreError};
use crate::value::{Row, Value};

/// The way statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statements {
    /// Prepared, unless a pooler shows itself.
    Automatic,
    /// Each is parsed and planned whenever it is sent. Any pooler can pass that on.
    Unnamed,
    /// Each is parsed once for a connection, and planned a few times. A pooler that gives a
    /// connection to others between transactions must know of it, as PgBouncer does from 1.21 on
    /// with `max_prepared_statements`.
    Prepared,
}

/// The most statements that a connection remembers. There are some hundred; filters with many
/// values make more.
const REMEMBERED: usize = 500;

/// A connection inside an open transaction.
#[derive(Clone, Copy)]
pub(crate) struct Connection<'c> {
    pub(super) client: &'c ClientWrapper,
    /// True if statements are prepared and not unnamed.
    pub(super) prepares: bool,
    /// The marks that said so, if it is not the address that did.
    pub(super) marks: Option<&'c Marks>,
}

impl Connection<'_> {
    pub(crate) async fn execute(&self, sql: &str, parameters: &[Value]) -> Result<u64> {
        let touched = match self.prepared(sql, parameters).await? {
            Some(statement) => {
                let values = parameters.iter().map(|value| value as &(dyn ToSql + Sync));
                let values: Vec<_> = values.collect();
                self.client.execute(&statement, &values).await
            }
            None => self.client.execute_typed(sql, &typed(parameters)).await,
        };
        touched.map_err(|error| self.failed(error))
    }

    pub(crate) async fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>> {
        let found = match self.prepared(sql, parameters).await? {
            Some(statement) => {
                let values = parameters.iter().map(|value| value as &(dyn ToSql + Sync));
                let values: Vec<_> = values.collect();
                self.client.query(&statement, &values).await
            }
            None => self.client.query_typed(sql, &typed(parameters)).await,
        };
        found
            .map_err(|error| self.failed(error))?
            .iter()
            .map(row)
            .collect()
    }

    /// Runs a statement that hardly comes again with the same text, and so is never prepared.
    pub(super) async fn execute_once<'v>(
        &self,
        sql: &str,
        parameters: impl IntoIterator<Item = &'v Value>,
    ) -> Result<u64> {
        let executed = self.client.execute_typed(sql, &typed(parameters)).await;
        executed.map_err(|error| self.failed(error))
    }

    /// Runs statements without parameters.
    #[cfg(feature = "sqlite")]
    pub(crate) async fn batch(&self, sql: &str) -> Result<()> {
        self.client
            .batch_execute(sql)
            .await
            .map_err(|error| self.failed(error))
    }

    /// The failure of a statement. A prepared statement that is gone, or there already, shows a pooler that the marks
    /// have missed: the operation is tried again, on another connection and without prepared statements.
    fn failed(&self, error: tokio_postgres::Error) -> StoreError {
        match self.marks {
            Some(marks) if error::is_of_prepared(&error) => {
                marks.meet_pooler();
                let reason = error::explain(&error);
                StoreError::Disconnected { reason }
            }
            _ => error::failed(error),
        }
    }

    async fn prepared(&self, sql: &str, parameters: &[Value]) -> Result<Option<Statement>> {
        if !self.prepares {
            return Ok(None);
        }
        let cache = &self.client.statement_cache;
        if cache.size() >= REMEMBERED {
            cache.clear();
        }
        let kinds: Vec<Type> = parameters.iter().map(Value::kind).collect();
        let statement = self.client.prepare_typed_cached(sql, &kinds).await;
        statement.map(Some).map_err(|error| self.failed(error))
    }
}

type Typed<'a> = (&'a (dyn ToSql + Sync), Type);

fn typed<'v>(parameters: impl IntoIterator<Item = &'v Value>) -> Vec<Typed<'v>> {
    // Types are sent along, so the server needs no extra round trip to describe the statement.
    let typed = |value: &'v Value| -> Typed<'v> { (value, value.kind()) };
    parameters.into_iter().map(typed).collect()
}
