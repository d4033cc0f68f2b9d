//! Names of sessions that are safe as names of files, on every system.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The id of a session: 1 to 128 ASCII letters, digits, `_`, `-` and `.`, the first not a `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct SessionId(String);

impl SessionId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = SessionIdError;

    fn from_str(text: &str) -> Result<Self, SessionIdError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if text.is_empty() {
            Err(SessionIdError::Empty)
        } else if text.len() > LONGEST {
            Err(SessionIdError::TooLong { length: text.len() })
        } else if let Some(found) = text.chars().find(|c| !allowed(*c)) {
            Err(SessionIdError::Character { found })
        } else if text.starts_with('.') {
            // This also excludes `..`, which would lead out of the folder.
            Err(SessionIdError::Hidden)
        } else if is_device(text) {
            Err(SessionIdError::Device { name: text.into() })
        } else {
            Ok(Self(text.into()))
        }
    }
}

impl TryFrom<String> for SessionId {
    type Error = SessionIdError;

    fn try_from(text: String) -> Result<Self, SessionIdError> {
        text.parse()
    }
}

/// A text that is no session id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionIdError {
    /// It is empty.
    #[error("a session id cannot be empty")]
    Empty,
    /// It is too long.
    #[error("a session id has at most {LONGEST} characters, this one has {length} bytes")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// It holds a character that file names do not have everywhere.
    #[error("a session id has ASCII letters, digits, `_`, `-` and `.`, not {found:?}")]
    Character {
        /// The first such character.
        found: char,
    },
    /// It begins with a dot.
    #[error("a session id does not begin with `.`")]
    Hidden,
    /// Windows opens a device under that name.
    #[error("a session id is not `{name}`, which is a device on Windows")]
    Device { name: String },
}

// With `.json` far below the 255 bytes that file systems allow.
const LONGEST: usize = 128;

/// Tells whether Windows opens a device under this name: it compares up to the first dot, in any case.
fn is_device(text: &str) -> bool {
    let name = text.split('.').next().unwrap_or_default();
    matches!(
        name.to_ascii_lowercase().as_bytes(),
        b"con"
            | b"prn"
            | b"aux"
            | b"nul"
            | [b'c', b'o', b'm', b'0'..=b'9']
            | [b'l', b'p', b't', b'0'..=b'9']
    )
}
