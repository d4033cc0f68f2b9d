//! The store on a PostgreSQL server.
//!
//! Each operation is one transaction that first takes the role without rights of its own and sets
//! the tenant, both until it ends: nothing is left on the connection, so that a pooler may give it to
//! somebody else. Statements are sent unnamed for the same reason.

mod error;
mod migrate;
mod tenants;

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};
use tokio_postgres::{Config, IsolationLevel, NoTls, Transaction};

use crate::error::{Result, StoreError};
use crate::location::Location;
use crate::store::{Opening, Operation, Tenant};
use crate::transaction::{Tx, placeholders};
use crate::value::{Row, Value};

use error::failed;

/// How many connections a process holds at most.
const CONNECTIONS: usize = 16;

/// How long a connection is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server takes at most 65,535 parameters in a statement.
pub(crate) const PARAMETERS: usize = 32_000;

/// A pool of connections.
pub(crate) struct Postgres {
    pool: Pool,
    server: String,
}

impl Postgres {
    /// Connects, and brings the tables up to date.
    pub(crate) async fn open(url: &str, opening: Opening) -> Result<Self> {
        let location = || Location::Postgres(url.to_owned()).to_string();
        let refuse = |reason: String| StoreError::Location {
            location: location(),
            reason,
        };
        let config = url.parse::<Config>();
        let mut config = config.map_err(|error| refuse(error::explain(&error)))?;
        if config.get_ssl_mode() == SslMode::Require {
            let reason = "connections with TLS are not supported yet: use a socket or a tunnel, \
                          and `sslmode=disable`";
            return Err(refuse(reason.to_owned()));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        if config.get_application_name().is_none() {
            config.application_name("kitbag");
        }
        let server = error::server(&config);
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method });
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .wait_timeout(Some(PATIENCE))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::failed(error.to_string()))?;
        let postgres = Self { pool, server };
        let mut client = postgres.connection().await?;
        if opening == Opening::Existing && migrate::version(&client).await? == 0 {
            return Err(StoreError::NoStore {
                location: location(),
                reason: "the database has no tables of Kitbag",
            });
        }
        migrate::migrate(&mut client).await?;
        drop(client);
        Ok(postgres)
    }

    /// Runs an operation that changes something in a transaction of its own.
    pub(crate) async fn write<T>(
        &self,
        tenant: &Tenant,
        operation: impl Operation<T>,
    ) -> Result<T> {
        let mut client = self.connection().await?;
        let transaction = client.transaction().await.map_err(failed)?;
        bind(&transaction, tenant).await?;
        let result = operation(&mut Tx::postgres(tenant.as_str(), &transaction)).await?;
        transaction.commit().await.map_err(failed)?;
        Ok(result)
    }

    /// Runs an operation that changes nothing, on a view of the store at one moment: else a message
    /// that moves into a block between two queries would be found by neither.
    pub(crate) async fn read<T>(&self, tenant: &Tenant, operation: impl Operation<T>) -> Result<T> {
        let mut client = self.connection().await?;
        let transaction = client
            .build_transaction()
            .isolation_level(IsolationLevel::RepeatableRead)
            .read_only(true)
            .start()
            .await
            .map_err(failed)?;
        bind(&transaction, tenant).await?;
        let result = operation(&mut Tx::postgres(tenant.as_str(), &transaction)).await;
        // Nothing has to be kept: the end is told to the server and not waited for.
        drop(transaction);
        result
    }

    async fn connection(&self) -> Result<deadpool_postgres::Object> {
        self.pool
            .get()
            .await
            .map_err(|error| error::connect(&self.server, &error))
    }
}

/// Makes a transaction one of the tenant's.
async fn bind(transaction: &deadpool_postgres::Transaction<'_>, tenant: &Tenant) -> Result<()> {
    // A tenant's name has no character that would end the literal.
    let bind = format!(
        "SET LOCAL ROLE kitbag_app; SET LOCAL search_path TO kitbag; \
         SET LOCAL kitbag.tenant TO '{tenant}'",
    );
    transaction.batch_execute(&bind).await.map_err(failed)
}

pub(crate) async fn execute<'v>(
    transaction: &Transaction<'_>,
    sql: &str,
    parameters: impl IntoIterator<Item = &'v Value>,
) -> Result<u64> {
    transaction
        .execute_typed(sql, &typed(parameters))
        .await
        .map_err(failed)
}

pub(crate) async fn query(
    transaction: &Transaction<'_>,
    sql: &str,
    parameters: &[Value],
) -> Result<Vec<Row>> {
    let found = transaction
        .query_typed(sql, &typed(parameters))
        .await
        .map_err(failed)?;
    found.iter().map(row).collect()
}

/// Inserts rows of so many values, with the tenant in front of each.
pub(crate) async fn insert(
    transaction: &Transaction<'_>,
    into: &str,
    conflict: &str,
    tenant: &Value,
    values: &[Value],
    columns: usize,
) -> Result<()> {
    for some in values.chunks(PARAMETERS / columns * columns) {
        let rows = (2..2 + some.len()).step_by(columns);
        let rows = rows.map(|first| format!("($1, {})", placeholders(first, columns)));
        let rows = rows.collect::<Vec<_>>().join(", ");
        let sql = format!("INSERT INTO {into} VALUES {rows} {conflict}");
        execute(transaction, &sql, [tenant].into_iter().chain(some)).await?;
    }
    Ok(())
}

type Typed<'a> = (&'a (dyn ToSql + Sync), Type);

fn typed<'v>(parameters: impl IntoIterator<Item = &'v Value>) -> Vec<Typed<'v>> {
    let typed = |value: &'v Value| -> Typed<'v> { (value, value.kind()) };
    parameters.into_iter().map(typed).collect()
}

impl Value {
    fn kind(&self) -> Type {
        match self {
            // The server infers what is missing.
            Self::Null => Type::UNKNOWN,
            Self::Int(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Body(_) | Self::Blob(_) => Type::BYTEA,
        }
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Body(text) => text.as_bytes().to_sql(kind, out),
            Self::Blob(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

fn row(found: &tokio_postgres::Row) -> Result<Row> {
    let cells = found.columns().iter().enumerate().map(|(index, column)| {
        let value = match *column.type_() {
            Type::INT8 => found.try_get::<_, Option<i64>>(index)?.into(),
            Type::INT4 => found
                .try_get::<_, Option<i32>>(index)?
                .map(i64::from)
                .into(),
            Type::BOOL => found.try_get::<_, Option<bool>>(index)?.into(),
            Type::BYTEA => found.try_get::<_, Option<Vec<u8>>>(index)?.into(),
            _ => found.try_get::<_, Option<String>>(index)?.into(),
        };
        Ok(value)
    });
    let cells: Result<Vec<Value>, tokio_postgres::Error> = cells.collect();
    Ok(Row::new(cells.map_err(failed)?))
}
