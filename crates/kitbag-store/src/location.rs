//! Where a store is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::StoreError;

/// The place of a store.
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

impl FromStr for Location {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |reason: &str| StoreError::Location {
            location: shown(text),
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
            Some(path) => path.strip_prefix("//").unwrap_or(path),
            None if text.contains("://") => return Err(fail("no such kind of database is known")),
            None => text,
        };
        if path.is_empty() {
            return Err(fail("the name of the file is missing"));
        }
        if path == ":memory:" {
            return Err(fail("memory that is gone with the process is no store"));
        }
        Ok(Self::Sqlite(path.into()))
    }
}

impl fmt::Display for Location {
    /// Without the password.
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

/// The place as it may be shown: without a password.
fn shown(location: &str) -> String {
    let Some((scheme, rest)) = location.split_once("://") else {
        let public = |pair: &&str| !pair.to_ascii_lowercase().starts_with("password");
        let pairs: Vec<&str> = location.split(' ').filter(public).collect();
        return pairs.join(" ");
    };
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or(user);
            format!("{scheme}://{user}@{host}")
        }
        None => location.to_owned(),
    }
}
