//! Keys that identify the clients of a server. A key is shown once; the store keeps its hash.
//!
//! A key names its tenant, and is looked up among that tenant's keys alone, so that row-level security holds
//! for keys as for everything else.

mod scopes;
mod secret;

use jiff::Timestamp;
use serde::Serialize;

use crate::audit::{self, Action};
use crate::error::{Result, StoreError};
use crate::names;
use crate::store::Store;
use crate::value::{FromRow, Row, Value};

pub use scopes::{KeyScope, KeyScopes};
pub use secret::{KEY_RANDOMNESS, KeySecret};

/// A key to be made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewKey {
    /// The name that people have for it.
    pub name: String,
    /// Its rights.
    pub scopes: KeyScopes,
    /// The most requests a minute.
    pub requests_per_minute: Option<u32>,
    /// The most tokens a minute, of prompts and answers together.
    pub tokens_per_minute: Option<u32>,
    /// The end of its life.
    pub expires: Option<Timestamp>,
}

impl NewKey {
    /// A key without limits and without an end.
    #[must_use]
    pub fn new(name: impl Into<String>, scopes: KeyScopes) -> Self {
        Self {
            name: name.into(),
            scopes,
            requests_per_minute: None,
            tokens_per_minute: None,
            expires: None,
        }
    }
}

/// A key as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Key {
    /// The visible part behind the tenant.
    pub id: String,
    /// The name that people have for it.
    pub name: String,
    /// Its rights.
    pub scopes: KeyScopes,
    /// The most requests a minute.
    pub requests_per_minute: Option<u32>,
    /// The most tokens a minute, of prompts and answers together.
    pub tokens_per_minute: Option<u32>,
    /// The time when it was made.
    pub created: Timestamp,
    /// The end of its life.
    pub expires: Option<Timestamp>,
    /// The time when it was revoked.
    pub revoked: Option<Timestamp>,
}

impl Key {
    /// Returns whether it opens anything at this time.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

impl Store {
    /// Keeps a key of this tenant, whose secret was made for it.
    ///
    /// # Errors
    /// When the secret is another tenant's, when the name cannot be one, or when the store fails.
    pub async fn create_key(&self, new: NewKey, secret: &KeySecret, now: Timestamp) -> Result<Key> {
        names::name("the name of the key", &new.name)?;
        if secret.tenant() != self.tenant() {
            let problem = format!("is one of tenant `{}`", secret.tenant());
            return Err(StoreError::invalid("the key", problem));
        }
        if new.scopes.is_empty() {
            return Err(StoreError::invalid(
                "the key",
                "may do nothing: it has no scope",
            ));
        }
        let key = Key {
            id: secret.id().to_owned(),
            name: self.secrets().masked_name(new.name),
            scopes: new.scopes,
            requests_per_minute: new.requests_per_minute,
            tokens_per_minute: new.tokens_per_minute,
            created: now,
            expires: new.expires,
            revoked: None,
        };
        let hash = secret.hash().as_bytes().to_vec();
        self.write(async move |tx| {
            let limits = (key.requests_per_minute, key.tokens_per_minute);
            let row = (
                (&key.id, Value::Body(key.name.clone()), hash),
                (key.scopes.to_string(), limits),
                (key.created, key.expires, key.revoked),
            );
            tx.insert(&format!("api_key (tenant, id, name, hash, {REST})"), [row])
                .await?;
            audit::add(tx, None, Action::CreateKey, Some(&key.id), now).await?;
            Ok(key)
        })
        .await
    }

    /// The tenant's keys, the oldest first; revoked ones too.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn keys(&self) -> Result<Vec<Key>> {
        let sql =
            format!("SELECT id, name, {REST} FROM api_key WHERE tenant = $1 ORDER BY created, id");
        self.read(async move |tx| tx.query(&sql, ()).await).await
    }

    /// Returns whether the tenant ever had a key: whoever makes the first one no longer wants clients without.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn has_keys(&self) -> Result<bool> {
        let sql = "SELECT 1 FROM api_key WHERE tenant = $1 LIMIT 1";
        let found = self.read(async move |tx| tx.query_one::<i64>(sql, ()).await);
        Ok(found.await?.is_some())
    }

    /// Ends a key for good. One that was revoked before stays as it is.
    ///
    /// # Errors
    /// When the tenant has no such key, or when the store fails.
    pub async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<Key> {
        names::name("the key", id)?;
        let id = id.to_owned();
        self.write(async move |tx| {
            let sql = "UPDATE api_key SET revoked = $2 \
                       WHERE tenant = $1 AND id = $3 AND revoked IS NULL";
            let revoked = tx.execute(sql, (now, &id)).await?;
            let sql = format!("SELECT id, name, {REST} FROM api_key WHERE tenant = $1 AND id = $2");
            let key = tx.query_one(&sql, &id).await?;
            let key = key.ok_or_else(|| StoreError::missing("key", &id))?;
            if revoked > 0 {
                audit::add(tx, None, Action::RevokeKey, Some(&id), now).await?;
            }
            Ok(key)
        })
        .await
    }

    /// The key that a client shows, with the store as its tenant sees it; none where it opens nothing. All
    /// keys that open nothing look alike to the client, also one whose tenant does not exist.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn authenticate(&self, shown: &str, now: Timestamp) -> Result<Option<(Self, Key)>> {
        let Some(secret) = KeySecret::read(shown) else {
            return Ok(None);
        };
        let store = self.for_tenant(secret.tenant().clone());
        let sql =
            format!("SELECT hash, id, name, {REST} FROM api_key WHERE tenant = $1 AND id = $2");
        let id = secret.id().to_owned();
        let found = store.read(async move |tx| tx.query_one::<(Vec<u8>, Key)>(&sql, &id).await);
        let Some((hash, key)) = found.await? else {
            return Ok(None);
        };
        let hash = blake3::Hash::from_slice(&hash)
            .map_err(|_| StoreError::damaged("api_key", "a hash has the wrong length"))?;
        // Hashes are compared in constant time.
        let is_open = hash == secret.hash() && key.is_valid_at(now);
        Ok(is_open.then_some((store, key)))
    }
}

/// The columns of a [`Key`] behind its name.
const REST: &str = "scopes, requests, tokens, created, expires, revoked";

impl FromRow for Key {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (id, name, scopes): (_, _, String) = row.read()?;
        let scopes = scopes.parse().map_err(|_| {
            StoreError::damaged("api_key", "the scopes are none that this Kitbag knows")
        })?;
        Ok(Self {
            id,
            name,
            scopes,
            requests_per_minute: row.read()?,
            tokens_per_minute: row.read()?,
            created: row.read()?,
            expires: row.read()?,
            revoked: row.read()?,
        })
    }
}
