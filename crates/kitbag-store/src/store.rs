//! The handle of a store: one set of methods over two databases.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::append::Analysed;
use crate::audit::Note;
#[cfg(feature = "embeddings")]
use crate::embedding::Embedder;
use crate::error::{Result, StoreError};
use crate::location::Location;
use crate::secrets::Secrets;
use crate::transaction::Tx;

/// A store of one tenant. Cheap to clone; clones share their connections.
///
/// Each method does one stage of a turn in one transaction.
#[derive(Clone)]
pub struct Store {
    backend: Arc<Backend>,
    tenant: Tenant,
    owner: Arc<str>,
    secrets: Secrets,
    facts_from_talk: FactsFromTalk,
    /// The entry of the audit log that the next change adds.
    note: Option<Arc<Note>>,
    #[cfg(feature = "embeddings")]
    embedder: Option<Arc<Embedder>>,
}

/// The treatment of plain statements that people make about themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FactsFromTalk {
    /// They are kept as facts, with the message they come from.
    #[default]
    Draw,
    /// Only facts that a caller states explicitly are kept.
    Ignore,
}

enum Backend {
    #[cfg(feature = "sqlite")]
    Sqlite(crate::sqlite::Sqlite),
    #[cfg(feature = "postgres")]
    Postgres(crate::postgres::Postgres),
}

/// The treatment of a location that holds no store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// A store is made there.
    Make,
    /// The missing store is an error.
    Existing,
}

impl Store {
    /// Opens a store, makes it if it is missing, and brings an older one up to date.
    ///
    /// # Errors
    /// When it cannot be reached or made, belongs to another program, or comes from a later
    /// version.
    pub async fn open(location: &Location) -> Result<Self> {
        Self::open_as(location, Opening::Make).await
    }

    /// Opens an existing store and never makes one: a command that only reads should not turn a
    /// mistyped name or an empty file into a store. A read-only file can still be read.
    ///
    /// # Errors
    /// [`StoreError::NoStore`] when there is none; otherwise as [`open`](Self::open) fails.
    pub async fn open_existing(location: &Location) -> Result<Self> {
        Self::open_as(location, Opening::Existing).await
    }

    async fn open_as(location: &Location, opening: Opening) -> Result<Self> {
        let backend = match location {
            #[cfg(feature = "sqlite")]
            Location::Sqlite(path) => Backend::Sqlite(match opening {
                Opening::Make => crate::sqlite::open(path)?,
                Opening::Existing => crate::sqlite::open_existing(path)?,
            }),
            #[cfg(feature = "postgres")]
            Location::Postgres(url) => {
                Backend::Postgres(crate::postgres::Postgres::open(url, opening).await?)
            }
            #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
            other => {
                return Err(StoreError::Location {
                    location: other.to_string(),
                    reason: "this build of Kitbag has no such database".to_owned(),
                });
            }
        };
        Ok(Self {
            backend: Arc::new(backend),
            tenant: Tenant::default(),
            owner: owner()?.into(),
            facts_from_talk: FactsFromTalk::default(),
            secrets: Secrets::default(),
            note: None,
            #[cfg(feature = "embeddings")]
            embedder: None,
        })
    }

    /// Returns the same store as another tenant sees it.
    #[must_use]
    pub fn for_tenant(&self, tenant: Tenant) -> Self {
        Self {
            tenant,
            ..self.clone()
        }
    }

    /// Returns the same store with another way to treat what people say about themselves. Facts
    /// that were drawn before stay.
    #[must_use]
    pub fn with_facts_from_talk(&self, facts_from_talk: FactsFromTalk) -> Self {
        Self {
            facts_from_talk,
            ..self.clone()
        }
    }

    /// Returns the same store with another way to treat secrets in new text. Stored rows stay as
    /// they are.
    #[must_use]
    pub fn with_secrets(&self, secrets: Secrets) -> Self {
        Self {
            secrets,
            ..self.clone()
        }
    }

    pub(crate) fn with_note(&self, note: Note) -> Self {
        Self {
            note: Some(Arc::new(note)),
            ..self.clone()
        }
    }

    /// Returns the same store, which compares meanings with a model when it recalls. Nothing of the
    /// model is stored.
    #[cfg(feature = "embeddings")]
    #[must_use]
    pub fn with_embedder(&self, embedder: Arc<Embedder>) -> Self {
        Self {
            embedder: Some(embedder),
            ..self.clone()
        }
    }

    /// The model by which meanings are compared.
    #[cfg(feature = "embeddings")]
    pub(crate) fn embedder(&self) -> Option<&Arc<Embedder>> {
        self.embedder.as_ref()
    }

    /// The treatment of statements in messages.
    #[must_use]
    pub const fn facts_from_talk(&self) -> FactsFromTalk {
        self.facts_from_talk
    }

    /// Adds the statements of its speaker to a message, unless statements are ignored.
    pub(crate) fn with_statements(&self, message: Analysed) -> Analysed {
        match self.facts_from_talk {
            FactsFromTalk::Draw => message.with_statements(),
            FactsFromTalk::Ignore => message,
        }
    }

    /// The treatment of secrets in what is stored.
    #[must_use]
    pub const fn secrets(&self) -> Secrets {
        self.secrets
    }

    /// The tenant whose rows this store reads and writes.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The name under which this process holds leases.
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// Runs an operation that changes rows: completely, or not at all. An entry of the audit log that waits for it is a
    /// part of it.
    pub(crate) async fn write<T: Send + 'static>(&self, operation: impl Operation<T>) -> Result<T> {
        let Some(note) = self.note.clone() else {
            return self.write_unnoted(operation).await;
        };
        let added = Arc::clone(&note);
        let noted = async move |tx: &mut Tx<'_>| {
            let done = operation(tx).await?;
            note.add(tx).await?;
            Ok(done)
        };
        let done = self.write_unnoted(noted).await?;
        added.added();
        Ok(done)
    }

    async fn write_unnoted<T: Send + 'static>(&self, operation: impl Operation<T>) -> Result<T> {
        match &*self.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(sqlite) => sqlite.write(self.tenant.clone(), operation).await,
            #[cfg(feature = "postgres")]
            Backend::Postgres(postgres) => postgres.write(&self.tenant, operation).await,
        }
    }

    /// Runs an operation that changes no row.
    pub(crate) async fn read<T: Send + 'static>(&self, operation: impl Operation<T>) -> Result<T> {
        match &*self.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(sqlite) => sqlite.read(self.tenant.clone(), operation).await,
            #[cfg(feature = "postgres")]
            Backend::Postgres(postgres) => postgres.read(&self.tenant, operation).await,
        }
    }

    /// The names of all tenants. PostgreSQL refuses users who are bound by row-level security.
    pub(crate) async fn tenant_names(&self) -> Result<Vec<String>> {
        match &*self.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(sqlite) => {
                // Listing crosses tenants, so it cannot run as an operation: those are bound to one
                // tenant.
                let names = |connection: &rusqlite::Connection| {
                    let mut statement = connection.prepare(crate::tenants::NAMES)?;
                    let names = statement.query_map([], |row| row.get(0))?;
                    names.collect()
                };
                sqlite.outside(names).await
            }
            #[cfg(feature = "postgres")]
            Backend::Postgres(postgres) => postgres.tenants().await,
        }
    }

    /// The server behind the store.
    #[cfg(feature = "postgres")]
    pub(crate) fn server(&self) -> Option<&crate::postgres::Postgres> {
        match &*self.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(_) => None,
            Backend::Postgres(postgres) => Some(postgres),
        }
    }

    /// The SQLite file behind the store, for operations on files alone.
    #[cfg(feature = "sqlite")]
    pub(crate) fn file(&self) -> Option<&crate::sqlite::Sqlite> {
        match &*self.backend {
            Backend::Sqlite(sqlite) => Some(sqlite),
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => None,
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}

/// Work that runs in a transaction. It runs again if the transaction failed before its commit.
pub(crate) trait Operation<T>:
    AsyncFnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static
{
}

impl<T, F> Operation<T> for F where F: AsyncFnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static
{}

/// The owner of rows: nobody sees another tenant's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Tenant {
    /// The only tenant of a store that one person or team uses.
    fn default() -> Self {
        Self("main".into())
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Tenant {
    type Err = StoreError;

    /// Accepts letters, digits, `-`, `_`, `.`, `:` and `@`, at most 100 of them.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        // `postgres::Session` writes the name into a literal of SQL: no quote may ever be allowed
        // here.
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:@".contains(c);
        if name.is_empty() || name.len() > 100 || !name.chars().all(allowed) {
            return Err(StoreError::invalid(
                "the tenant",
                format!(
                    "`{}` is not a name of at most 100 letters, digits, `-`, `_`, `.`, `:`, `@`",
                    name.escape_debug()
                ),
            ));
        }
        Ok(Self(name.into()))
    }
}

/// A random name for this process. Leases are held under it, so no two processes may share one.
fn owner() -> Result<String> {
    let mut random = [0_u8; 12];
    getrandom::fill(&mut random).map_err(|error| {
        StoreError::failed(format!("the system gives no random numbers: {error}"))
    })?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
