//! Errors of the store, with a hint for each that a user can do something about.

mod tls;

use std::path::PathBuf;

use crate::value::WrongCell;

pub use tls::TlsProblem;

/// The result of an operation of the store.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A failure of the store. Rows that were acknowledged before are not lost by it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The location of the store cannot be parsed.
    #[error("`{location}` is not the location of a store: {reason}")]
    Location {
        /// The location as given, without its password.
        location: String,
        /// The problem with it.
        reason: String,
    },
    /// The file of the store cannot be opened.
    #[error("cannot open the store {}: {reason}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The database's own words.
        reason: String,
    },
    /// The file is no store of Kitbag, or is damaged.
    #[error("{} is not a store of Kitbag, or it is damaged: {reason}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// The database's own words.
        reason: String,
    },
    /// A part of the store's file cannot be read.
    #[error("the file of the store is damaged: {reason}")]
    DamagedFile {
        /// The database's own words.
        reason: String,
    },
    /// There is no store, and none was to be made.
    #[error("there is no store at {location}: {reason}")]
    NoStore {
        /// The file, or the server without its password.
        location: String,
        /// The thing found in its place.
        reason: &'static str,
    },
    /// The server cannot be reached, or refuses the connection.
    #[error("cannot connect to {server}: {reason}")]
    Connect {
        /// The server, without its password.
        server: String,
        /// The attempt, or the server's own words.
        reason: String,
    },
    /// The server does not answer, or cuts the connection.
    #[error("cannot connect to {server}: {reason}")]
    Unreachable {
        /// The server, without its password.
        server: String,
        /// The reason, as the client saw it.
        reason: String,
    },
    /// The connection to the server cannot be encrypted as the address demands.
    #[error("no encrypted connection to {server}: {problem}")]
    Tls {
        /// The server, without its password.
        server: String,
        /// The reason.
        problem: TlsProblem,
    },
    /// The server answers but takes no connection now: it starts, goes down, or has none left.
    #[error("{server} accepts no connections: {reason}")]
    Unavailable {
        /// The server, without its password.
        server: String,
        /// The server's own words.
        reason: String,
    },
    /// All connections of this process stayed in use for the whole waiting time.
    #[error("no connection to {server} is free: {reason}")]
    Exhausted {
        /// The server, without its password.
        server: String,
        /// The time spent waiting.
        reason: String,
    },
    /// A later version of Kitbag made the store.
    #[error("the store has version {found}, and this Kitbag knows versions up to {known}")]
    Newer {
        /// The version of the store.
        found: i64,
        /// The latest version known here.
        known: i64,
    },
    /// An earlier version of Kitbag made the store, and it cannot be brought up to date.
    #[error(
        "{} has tables of version {found}; version {known} is needed, and the file cannot be written",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// The version of the store.
        found: i64,
        /// The version that this program needs.
        known: i64,
    },
    /// The tables cannot be made or changed with the rights of this user.
    #[error("`{user}` may not {what}: {reason}")]
    Rights {
        /// The user.
        user: String,
        /// The operation that was refused.
        what: &'static str,
        /// The database's own words.
        reason: String,
    },
    /// The user may see only one tenant at a time.
    #[error("row-level security hides other tenants from `{user}`")]
    TenantsHidden {
        /// The user.
        user: String,
    },
    /// The disk is full, or a write was refused.
    #[error("the store could not be written: {reason}")]
    Write {
        /// The database's own words.
        reason: String,
    },
    /// Another process kept the store locked.
    #[error("another process kept the store locked for {seconds} seconds")]
    Locked {
        /// The time spent waiting.
        seconds: u64,
    },
    /// The transaction lost against another each time it was tried. Nothing was changed.
    #[error("the transaction lost against others each time: {reason}")]
    Conflict {
        /// The database's own words.
        reason: String,
    },
    /// The connection broke during a commit, so its outcome is unknown.
    #[error(
        "the connection broke before the commit was confirmed, so it is unknown if it was made: {reason}"
    )]
    CommitUnknown {
        /// The reason, as the client saw it.
        reason: String,
    },
    /// The connection broke before anything was committed.
    #[error("the connection to the store broke: {reason}")]
    Disconnected {
        /// The reason, as the client saw it.
        reason: String,
    },
    /// The database failed otherwise.
    #[error("the store failed: {reason}")]
    Failed {
        /// The database's own words.
        reason: String,
    },
    /// A row holds an invalid value.
    #[error("a row of {table} is damaged: {reason}")]
    Damaged {
        /// The table.
        table: &'static str,
        /// The problem with it.
        reason: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A value that the store does not take.
    #[error("{field} {problem}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// The problem with the value.
        problem: String,
    },
    /// A named thing does not exist.
    #[error("there is no {what} `{name}`")]
    Missing {
        /// The kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Another turn of the conversation is under way.
    #[error("another turn of conversation {conversation} is under way until {until}")]
    Busy {
        /// The conversation.
        conversation: String,
        /// The end of its lease, unless it is renewed.
        until: jiff::Timestamp,
    },
    /// The lease of the turn has gone to somebody else.
    #[error("the lease of turn {turn} was taken over by another process")]
    LeaseLost {
        /// The turn.
        turn: String,
    },
    /// A prompt that cannot be rebuilt as it was sent.
    #[error("the prompt of turn {turn} cannot be rebuilt: {reason}")]
    Replay {
        /// The turn.
        turn: String,
        /// The reason.
        reason: String,
    },
    /// A step of a turn that its state does not allow.
    #[error("turn {turn} {problem}")]
    Turn {
        /// The turn.
        turn: String,
        /// The problem with the step.
        problem: String,
    },
}

impl StoreError {
    /// Returns true if the error is about the database, whose message is for its operator. Others are about the
    /// request.
    #[must_use]
    pub const fn is_of_database(&self) -> bool {
        !matches!(
            self,
            Self::Missing { .. }
                | Self::Invalid { .. }
                | Self::Busy { .. }
                | Self::Turn { .. }
                | Self::LeaseLost { .. }
                | Self::Replay { .. }
        )
    }

    /// A remedy for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Location { .. } => {
                Some("give a file (`memory.db`, `sqlite:memory.db`) or a `postgresql://` address")
            }
            Self::NotAStore { .. } => Some(
                "choose another file, or restore this one from a copy; nothing in it was changed",
            ),
            Self::Open { .. } => Some(
                "check that it is a file in a folder that you may write, or name another store",
            ),
            Self::DamagedFile { .. } => Some(
                "keep a copy of the file, and restore a backup into another one; `.recover` of the program `sqlite3` saves what can be read of it",
            ),
            Self::NoStore { .. } => Some("name another store, or store something first"),
            Self::Newer { .. } => Some("update Kitbag; nothing in the store was changed"),
            Self::Older { .. } => {
                Some("open it, or a copy of it, once with write access, which upgrades it")
            }
            Self::Rights { .. } => Some(
                "let a user who may create roles and schemas open the store once, then grant this user the role `kitbag_app`",
            ),
            Self::TenantsHidden { .. } => {
                Some("connect as a superuser or as a role with BYPASSRLS to list tenants")
            }
            Self::Write { .. } => {
                Some("check that the folder exists, is writable and has free space, then try again")
            }
            Self::Locked { .. } => {
                Some("end the process that holds the store, or try again when it is done")
            }
            Self::Unreachable { .. } => {
                Some("check the address and that the server runs, then try again")
            }
            Self::Tls { problem, .. } => problem.hint(),
            Self::Unavailable { .. } => Some(
                "try again later; raise `max_connections` of the server or lower `pool_size` in the address if it has too many clients",
            ),
            Self::Exhausted { .. } => {
                Some("raise `pool_size` or `pool_wait` in the address of the store")
            }
            Self::CommitUnknown { .. } => Some(
                "check before you try again; operations with an idempotency key, a reference or the id of a turn count only once",
            ),
            Self::Conflict { .. } | Self::Disconnected { .. } => {
                Some("nothing was changed; try again")
            }
            _ => None,
        }
    }

    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self::Failed {
            reason: reason.into(),
        }
    }

    pub(crate) fn damaged(table: &'static str, reason: impl Into<String>) -> Self {
        Self::Damaged {
            table,
            reason: reason.into(),
        }
    }

    pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            problem: problem.into(),
        }
    }

    pub(crate) fn missing(what: &'static str, name: impl ToString) -> Self {
        Self::Missing {
            what,
            name: name.to_string(),
        }
    }
}

impl From<WrongCell> for StoreError {
    fn from(wrong: WrongCell) -> Self {
        Self::failed(wrong.to_string())
    }
}
