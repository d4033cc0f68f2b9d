//! The rights of a key.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::StoreError;

/// One right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KeyScope {
    /// Requests to models through the server.
    Proxy,
    /// Packs, prompts, and reading what is remembered.
    Read,
    /// Asking, remembering and forgetting.
    Write,
    /// Metrics, and everything that the others may.
    Admin,
}

impl KeyScope {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Proxy, Self::Read, Self::Write, Self::Admin];

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for KeyScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for KeyScope {
    type Err = StoreError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|scope| scope.as_str() == name).ok_or_else(|| {
            let name = name.escape_debug();
            let problem = format!("`{name}` is not one of proxy, read, write and admin");
            StoreError::invalid("the scope", problem)
        })
    }
}

/// The rights of a key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyScopes(BTreeSet<KeyScope>);

impl KeyScopes {
    /// Every right.
    #[must_use]
    pub fn all() -> Self {
        KeyScope::ALL.into_iter().collect()
    }

    /// Returns whether it is among them. An administrator may do everything.
    #[must_use]
    pub fn allow(&self, scope: KeyScope) -> bool {
        self.0.contains(&scope) || self.0.contains(&KeyScope::Admin)
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<KeyScope> for KeyScopes {
    fn from_iter<I: IntoIterator<Item = KeyScope>>(scopes: I) -> Self {
        Self(scopes.into_iter().collect())
    }
}

impl fmt::Display for KeyScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|scope| scope.as_str()).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for KeyScopes {
    type Err = StoreError;

    /// Names with commas between them.
    fn from_str(names: &str) -> Result<Self, Self::Err> {
        names.split(',').map(|name| name.trim().parse()).collect()
    }
}

impl Serialize for KeyScopes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|scope| scope.as_str()))
    }
}
