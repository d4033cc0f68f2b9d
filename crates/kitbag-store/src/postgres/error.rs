//! What PostgreSQL's errors mean.

use std::error::Error;

use deadpool_postgres::PoolError;
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;

use crate::error::StoreError;

/// The failure of a statement.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands in `map_err` everywhere"
)]
pub(crate) fn failed(error: tokio_postgres::Error) -> StoreError {
    let reason = explain(&error);
    let Some(code) = error.code() else {
        return StoreError::Disconnected { reason };
    };
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        return StoreError::Rights {
            user: "the user of the connection".to_owned(),
            what: "use the tables",
            reason,
        };
    }
    if *code == SqlState::QUERY_CANCELED {
        return StoreError::Failed { reason };
    }
    let class = code.code().chars().take(2).collect::<String>();
    match class.as_str() {
        // Out of resources, and operator intervention: the server is full, or going down.
        "53" => StoreError::Write { reason },
        "57" | "08" => StoreError::Disconnected { reason },
        _ => StoreError::Failed { reason },
    }
}

/// The failure to get a connection.
pub(super) fn connect(server: &str, error: &PoolError) -> StoreError {
    let reason = match error {
        PoolError::Backend(error) => explain(error),
        PoolError::Timeout(_) => "all connections were busy for 30 seconds".to_owned(),
        other => other.to_string(),
    };
    StoreError::Connect {
        server: server.to_owned(),
        reason,
    }
}

/// What the server said, or else the innermost cause.
pub(super) fn explain(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// The server's name for messages.
pub(super) fn server(config: &Config) -> String {
    let host = config.get_hosts().first().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    });
    let host = host.unwrap_or_else(|| "localhost".to_owned());
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = config.get_dbname().unwrap_or("the user's database");
    format!("PostgreSQL at {host}, port {port}, {database}")
}
