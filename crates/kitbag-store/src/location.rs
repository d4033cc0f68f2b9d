//! The location of a store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::StoreError;

/// The location of a store.
///
/// ```
/// use kitbag_store::Location;
///
/// assert_eq!("notes.db".parse::<Location>()?, "sqlite:notes.db".parse()?);
/// let server: Location = "postgresql://ann:secret@db/agents".parse()?;
/// assert_eq!(server.to_string(), "postgresql://ann@db/agents");
/// # Ok::<(), kitbag_store::StoreError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A file.
    Sqlite(PathBuf),
    /// A server, as an address or as `key=value` pairs.
    Postgres(String),
}

impl Location {
    /// Returns true if a path is the store's file, or one that SQLite keeps next to it.
    #[must_use]
    pub fn is_file_of(&self, path: &Path) -> bool {
        let Self::Sqlite(file) = self else {
            return false;
        };
        // The file may not exist yet, so a path that cannot be resolved is compared as it is.
        let real =
            |path: &Path| std::path::absolute(path).map(|path| path.canonicalize().unwrap_or(path));
        let Ok(path) = real(path) else { return false };
        ["", "-wal", "-shm"].into_iter().any(|ending| {
            let mut name = file.clone().into_os_string();
            name.push(ending);
            real(Path::new(&name)).is_ok_and(|own| own == path)
        })
    }
}

impl FromStr for Location {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |reason: &str| StoreError::Location {
            location: without_credentials(text),
            reason: reason.to_owned(),
        };
        if text.contains('\0') {
            return Err(fail("it contains a NUL character"));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        if let Some(pairs) = text
            .strip_prefix("postgresql:")
            .or_else(|| text.strip_prefix("postgres:"))
        {
            return Ok(Self::Postgres(pairs.to_owned()));
        }
        let path = match text.strip_prefix("sqlite:") {
            // `sqlite:///x` is the absolute path `/x`, and `sqlite://x` a relative one.
            Some(path) => path.strip_prefix("//").unwrap_or(path),
            None if text.contains("://") => {
                return Err(fail("Kitbag stores memory in SQLite and PostgreSQL only"));
            }
            None => text,
        };
        if path.is_empty() {
            return Err(fail("the name of the file is missing"));
        }
        if path == ":memory:" {
            return Err(fail("SQLite would lose it when the process ends"));
        }
        Ok(Self::Sqlite(path.into()))
    }
}

impl fmt::Display for Location {
    /// Leaves the password out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => f.write_str(&shown(url)),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The address for messages, without a password in any of its forms.
#[cfg(feature = "postgres")]
fn shown(address: &str) -> String {
    use tokio_postgres::config::Host;

    let address = crate::postgres::AddressOptions::split(address);
    let config = address.map(|(address, _)| address.parse::<tokio_postgres::Config>());
    // An address that does not parse may have its password anywhere, so nothing of it is shown.
    let Ok(Ok(config)) = config else {
        return "postgresql://…".to_owned();
    };
    let user = config.get_user().map(|user| format!("{user}@"));
    let host = config.get_hosts().first().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        // As in a URL, where a path to a socket takes the place of the host.
        Host::Unix(folder) => folder.display().to_string().replace('/', "%2F"),
    });
    let port = config.get_ports().first().filter(|port| **port != 5432);
    format!(
        "postgresql://{}{}{}/{}",
        user.unwrap_or_default(),
        host.unwrap_or_default(),
        port.map(|port| format!(":{port}")).unwrap_or_default(),
        config.get_dbname().unwrap_or_default()
    )
}

#[cfg(not(feature = "postgres"))]
fn shown(_: &str) -> String {
    "postgresql://…".to_owned()
}

/// The input where a location was expected, without anything between `://` and `@`.
fn without_credentials(text: &str) -> String {
    // The last `@`: a password may contain one.
    let parts = text.split_once("://").zip(text.rsplit_once('@'));
    match parts {
        Some(((scheme, _), (_, host))) => format!("{scheme}://{host}"),
        None => text.to_owned(),
    }
}
