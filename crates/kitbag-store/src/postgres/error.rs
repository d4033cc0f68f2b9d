//! Translates PostgreSQL's errors.

use std::error::Error;
use std::io;
use std::time::Duration;

use deadpool_postgres::PoolError;
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;

use super::tls;
use crate::error::StoreError;

/// The failure of a statement.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands in `map_err` everywhere"
)]
pub(crate) fn failed(error: tokio_postgres::Error) -> StoreError {
    let reason = explain(&error);
    let Some(code) = error.code() else {
        return match is_broken(&error) {
            true => StoreError::Disconnected { reason },
            // A value that does not convert fails again however often it is tried.
            false => StoreError::Failed { reason },
        };
    };
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        return StoreError::Rights {
            user: "the user of the connection".to_owned(),
            what: "use the tables",
            reason,
        };
    }
    // Somebody set a `statement_timeout` or cancelled it: in class 57, but trying again would only
    // repeat it.
    if *code == SqlState::QUERY_CANCELED {
        return StoreError::Failed { reason };
    }
    // During a failover the address may still lead to a read-only server: a replica that becomes
    // the primary, or a primary that has become one.
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        return StoreError::Disconnected { reason };
    }
    let class = code.code().chars().take(2).collect::<String>();
    if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED {
        return StoreError::Conflict { reason };
    }
    match class.as_str() {
        // Class 53 is a lack of resources, such as a full disk; 57 and 08 mean that the server is
        // going down or gone.
        "53" => StoreError::Write { reason },
        "57" | "08" => StoreError::Disconnected { reason },
        _ => StoreError::Failed { reason },
    }
}

/// Returns true if a prepared statement does not exist, or exists already, in the session that was asked for it.
pub(super) fn is_of_prepared(error: &tokio_postgres::Error) -> bool {
    let code = error.code();
    code.is_some_and(|code| {
        *code == SqlState::INVALID_SQL_STATEMENT_NAME || *code == SqlState::DUPLICATE_PSTATEMENT
    })
}

/// The failure of a commit. If the server refused it, nothing has changed; if the connection broke
/// or the server went down before it answered, the outcome is unknown.
pub(super) fn commit(error: tokio_postgres::Error) -> StoreError {
    if error.code().is_none() {
        let reason = explain(&error);
        return StoreError::CommitUnknown { reason };
    }
    match failed(error) {
        StoreError::Disconnected { reason } => StoreError::CommitUnknown { reason },
        other => other,
    }
}

/// Returns true if a later attempt may succeed and nothing has changed so far.
pub(super) const fn is_passing(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Disconnected { .. }
            | StoreError::Conflict { .. }
            | StoreError::Unreachable { .. }
            | StoreError::Unavailable { .. }
    )
}

/// The failure to get a connection.
pub(super) fn connect(server: &str, error: &PoolError, wait: Duration) -> StoreError {
    let server = server.to_owned();
    let error = match error {
        PoolError::Backend(error) => error,
        PoolError::Timeout(_) => {
            let reason = format!(
                "all connections were busy for {} seconds",
                wait.as_secs_f32()
            );
            return StoreError::Exhausted { server, reason };
        }
        other => {
            let reason = other.to_string();
            return StoreError::Connect { server, reason };
        }
    };
    if let Some(problem) = tls::problem_of(error) {
        return StoreError::Tls { server, problem };
    }
    let reason = explain(error);
    match error.code().map(SqlState::code) {
        // Too many connections; starting up, shutting down or crashed; a pooler without a
        // connection to the server.
        Some(code) if code == "53300" || code.starts_with("57P") || code.starts_with("08") => {
            StoreError::Unavailable { server, reason }
        }
        Some(_) => StoreError::Connect { server, reason },
        None if is_broken(error) => StoreError::Unreachable { server, reason },
        None => StoreError::Connect { server, reason },
    }
}

/// Returns true if nobody answered, or the connection was cut.
fn is_broken(error: &tokio_postgres::Error) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, NotFound, TimedOut,
        UnexpectedEof,
    };
    if error.is_closed() {
        return true;
    }
    // The driver wraps the system's error in its own, so the chain of causes is searched.
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return matches!(
                io.kind(),
                BrokenPipe
                    | ConnectionAborted
                    | ConnectionRefused
                    | ConnectionReset
                    | NotFound
                    | TimedOut
                    | UnexpectedEof
            );
        }
        cause = inner.source();
    }
    false
}

/// The message of the server, or else that of the innermost cause.
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

/// The server's name for error messages.
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
