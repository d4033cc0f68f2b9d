//! The store on a PostgreSQL server.
//!
//! Each operation is one transaction, which first takes the role without rights of its own and sets
//! the tenant. Both end with it: nothing is left on the connection but a mark, so a pooler may give it
//! to somebody else. Statements are prepared on a connection that is never given to anybody else, which
//! the mark shows, and are sent unnamed otherwise.

mod connection;
mod error;
mod marks;
mod migrate;
mod options;
mod parameters;
mod retry;
mod session;
mod tenants;
#[cfg(test)]
mod tests;
mod tls;

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio_postgres::Config;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};

use crate::error::{Result, StoreError};
use crate::location::Location;
use crate::store::{Opening, Operation, Tenant};
use crate::transaction::{Tx, placeholders};
use crate::value::{Row, Value};

pub(crate) use connection::Connection;
use connection::Statements;
use error::failed;
use marks::Marks;
pub(crate) use options::AddressOptions;
use retry::Retry;
use session::{Access, Session};

/// The most parameters of one statement. The protocol counts them with 16 bits, so it allows
/// 65,535.
pub(crate) const PARAMETERS: usize = 32_000;

/// A connection that was used so often prepares its statements. Preparing one is a round trip of its own, which
/// a command that ends soon would not make up for.
const USES: usize = 8;

/// A pool of connections to one server.
pub(crate) struct Postgres {
    pool: Pool,
    server: String,
    /// The time to wait for a free connection or a restarting server.
    wait: Duration,
    statements: Statements,
    marks: Marks,
}

impl Postgres {
    /// Connects and brings the tables up to date.
    pub(crate) async fn open(url: &str, opening: Opening) -> Result<Self> {
        let location = || Location::Postgres(url.to_owned()).to_string();
        let refuse = |reason: String| StoreError::Location {
            location: location(),
            reason,
        };
        let (address, options) = AddressOptions::split(url).map_err(refuse)?;
        let config = address.parse::<Config>();
        let mut config = config.map_err(|error| refuse(error::explain(&error)))?;
        // The driver would wait as long as the system does, which can be minutes.
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        if config.get_application_name().is_none() {
            config.application_name("kitbag");
        }
        let server = error::server(&config);
        let connector = options.tls.connector(&mut config);
        let connector = connector.map_err(|problem| StoreError::Tls {
            server: server.clone(),
            problem,
        })?;
        // `Fast` asks the server nothing: a broken connection shows at its first use, and that is
        // retried.
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(config, connector, ManagerConfig { recycling_method });
        let pool = Pool::builder(manager)
            .max_size(options.size)
            .wait_timeout(Some(options.wait))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::failed(error.to_string()))?;
        let postgres = Self {
            pool,
            server,
            wait: options.wait,
            statements: options.statements,
            marks: Marks::new()?,
        };
        let mut client = postgres.first_connection().await?;
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

    /// Runs an operation that changes rows, in a transaction of its own. Until the commit is sent
    /// nothing has changed, so it is tried again while the server restarts, fails over, has no free
    /// connection or lets the transaction lose against another.
    pub(crate) async fn write<T>(
        &self,
        tenant: &Tenant,
        operation: impl Operation<T>,
    ) -> Result<T> {
        let mut retry = Retry::for_at_most(self.wait);
        loop {
            match self.try_write(tenant, operation.clone()).await {
                Err(error) if error::is_passing(&error) => retry.wait_after(error).await?,
                result => return result,
            }
        }
    }

    async fn try_write<T>(&self, tenant: &Tenant, operation: impl Operation<T>) -> Result<T> {
        let client = self.connection().await?;
        let result = self.in_transaction(&client, tenant, operation).await;
        keep_or_drop(client, &result);
        result
    }

    /// Runs an operation that only reads, on a view of the store at one moment. Without that,
    /// neither of two queries would find a message that moves into a block between them.
    pub(crate) async fn read<T>(&self, tenant: &Tenant, operation: impl Operation<T>) -> Result<T> {
        let mut retry = Retry::for_at_most(self.wait);
        loop {
            match self.try_read(tenant, operation.clone()).await {
                Err(error) if error::is_passing(&error) => retry.wait_after(error).await?,
                result => return result,
            }
        }
    }

    async fn try_read<T>(&self, tenant: &Tenant, operation: impl Operation<T>) -> Result<T> {
        let client = self.connection().await?;
        let result = self.in_view(&client, tenant, operation).await;
        keep_or_drop(client, &result);
        result
    }

    async fn in_view<T>(
        &self,
        client: &Object,
        tenant: &Tenant,
        operation: impl Operation<T>,
    ) -> Result<T> {
        let session = self.begin(client, tenant, Access::Read).await?;
        let connection = self.within(&session);
        operation(&mut Tx::postgres(tenant.as_str(), connection)).await
    }

    async fn in_transaction<T>(
        &self,
        client: &Object,
        tenant: &Tenant,
        operation: impl Operation<T>,
    ) -> Result<T> {
        let session = self.begin(client, tenant, Access::Write).await?;
        let connection = self.within(&session);
        let result = operation(&mut Tx::postgres(tenant.as_str(), connection)).await?;
        session.commit().await?;
        Ok(result)
    }

    async fn begin<'c>(
        &self,
        client: &'c Object,
        tenant: &Tenant,
        access: Access,
    ) -> Result<Session<'c>> {
        let is_used = Object::metrics(client).recycle_count >= USES;
        let mark = match self.statements {
            Statements::Automatic if is_used => self.marks.of(client),
            _ => None,
        };
        Session::begin(client, tenant, access, mark).await
    }

    fn within<'c>(&'c self, session: &Session<'c>) -> Connection<'c> {
        Connection {
            client: session.client(),
            prepares: self.statements == Statements::Prepared || session.is_marked,
            marks: session.is_marked.then_some(&self.marks),
        }
    }

    /// Rewrites all tables, so that no page holds deleted rows. It locks each of them meanwhile.
    pub(crate) async fn vacuum_full(&self) -> Result<()> {
        let client = self.connection().await?;
        // The server only warns about tables of other owners and skips them, and nobody reads the
        // warning.
        let sql = "SELECT coalesce(bool_and(pg_has_role(tableowner, 'USAGE')), true) \
                   FROM pg_tables WHERE schemaname = 'kitbag'";
        let owns: bool = client.query_one(sql, &[]).await.map_err(failed)?.get(0);
        if !owns {
            return Err(StoreError::Rights {
                user: "the user of the connection".to_owned(),
                what: "write the tables anew",
                reason: "another user owns them".to_owned(),
            });
        }
        // One statement for each table: `VACUUM` cannot run in a transaction, and several
        // statements sent at once are one.
        for table in crate::schema::tables() {
            let sql = format!("VACUUM (FULL) kitbag.{}", table.name);
            client.batch_execute(&sql).await.map_err(failed)?;
        }
        Ok(())
    }

    /// The first connection of a store. It does not wait for a server that cannot be reached at
    /// all, since the address may be mistyped, but for one that answers that it is starting or
    /// full.
    async fn first_connection(&self) -> Result<Object> {
        let mut retry = Retry::for_at_most(self.wait);
        loop {
            match self.connection().await {
                Err(error @ StoreError::Unavailable { .. }) => retry.wait_after(error).await?,
                result => return result,
            }
        }
    }

    async fn connection(&self) -> Result<Object> {
        let connection = self.pool.get().await;
        let connection =
            connection.map_err(|error| error::connect(&self.server, &error, self.wait))?;
        if Object::metrics(&connection).recycle_count == USES
            && self.statements == Statements::Automatic
            && let Some(mark) = self.marks.of(&connection)
            && let Err(error) = mark.leave(&connection).await
        {
            // Back in the pool it would pass for one that has lost its mark.
            drop(Object::take(connection));
            return Err(error);
        }
        Ok(connection)
    }
}

/// Takes a connection out of the pool whose use failed as if it were gone. It may still work, but lead to a server
/// that another one has replaced, or to a session that is another one's.
fn keep_or_drop<T>(connection: Object, result: &Result<T>) {
    if let Err(StoreError::Disconnected { .. }) = result {
        drop(Object::take(connection));
    }
}

/// Inserts rows of `columns` values each, with the tenant in front of each row.
pub(crate) async fn insert(
    connection: Connection<'_>,
    (into, columns): (&str, usize),
    conflict: &str,
    tenant: &Value,
    values: &[Value],
) -> Result<()> {
    for some in values.chunks(PARAMETERS / columns * columns) {
        let rows = (2..2 + some.len()).step_by(columns);
        let rows = rows.map(|first| format!("($1, {})", placeholders(first, columns)));
        let rows = rows.collect::<Vec<_>>().join(", ");
        let sql = format!("INSERT INTO {into} VALUES {rows} {conflict}");
        let values = [tenant].into_iter().chain(some);
        connection.execute_once(&sql, values).await?;
    }
    Ok(())
}

/// Rows as a JSON list of objects, for `json_to_recordset`.
pub(crate) fn json_rows<'v>(
    names: &[&str],
    rows: impl Iterator<Item = &'v [Value]>,
) -> Result<String> {
    let json = |value: &Value| match value {
        Value::Null => Ok(serde_json::Value::Null),
        Value::Int(number) => Ok((*number).into()),
        Value::Text(text) => Ok(text.as_str().into()),
        Value::Body(_) | Value::Blob(_) => Err(StoreError::failed("bytes have no form in JSON")),
    };
    let row = |row: &'v [Value]| -> Result<serde_json::Value> {
        let pairs = names.iter().zip(row);
        let pairs = pairs.map(|(name, value)| Ok(((*name).to_owned(), json(value)?)));
        pairs
            .collect::<Result<serde_json::Map<_, _>>>()
            .map(Into::into)
    };
    let rows = rows.map(row).collect::<Result<serde_json::Value>>()?;
    Ok(rows.to_string())
}

impl Value {
    fn kind(&self) -> Type {
        match self {
            // The server infers the type from the column.
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
            // `SELECT 1` and the like are of this type.
            Type::INT4 => found
                .try_get::<_, Option<i32>>(index)?
                .map(i64::from)
                .into(),
            Type::BOOL => found.try_get::<_, Option<bool>>(index)?.into(),
            Type::BYTEA => found.try_get::<_, Option<Vec<u8>>>(index)?.into(),
            // A type that no query of ours returns fails to convert here, which is an error and no
            // panic.
            _ => found.try_get::<_, Option<String>>(index)?.into(),
        };
        Ok(value)
    });
    let cells: Result<Vec<Value>, tokio_postgres::Error> = cells.collect();
    Ok(Row::new(cells.map_err(failed)?))
}
