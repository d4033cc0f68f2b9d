//! Maintains a store: counts rows, compacts the file, empties the log.

use serde::Serialize;

use crate::error::Result;
use crate::schema;
use crate::store::Store;
use crate::transaction::Tx;

/// The amounts of a tenant's part of the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// The version of the tables.
    pub version: i64,
    /// Senders.
    pub senders: u64,
    /// Conversations.
    pub conversations: u64,
    /// Messages.
    pub messages: u64,
    /// Facts that hold.
    pub facts: u64,
    /// Facts that no longer hold.
    pub past_facts: u64,
    /// Summaries.
    pub summaries: u64,
    /// Turns.
    pub turns: u64,
    /// Messages that were refused and are still on record.
    pub refusals: u64,
    /// Keys of clients, revoked ones too.
    pub keys: u64,
    /// Prompts that can be rebuilt.
    pub prompts: u64,
    /// The bytes of those prompts as they were sent.
    pub prompt_bytes: u64,
    /// The size of the file with all tenants, if the store is a file.
    pub file_bytes: Option<u64>,
}

impl Store {
    /// Counts the rows of the tenant.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn stats(&self) -> Result<Stats> {
        let counted = self.read(count_all);
        let counted = counted.await?;
        #[cfg(feature = "sqlite")]
        if let Some(file) = self.file() {
            let bytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
            let bytes: i64 = file
                .outside(move |connection| connection.query_row(bytes, [], |row| row.get(0)))
                .await?;
            return Ok(Stats {
                file_bytes: u64::try_from(bytes).ok(),
                ..counted
            });
        }
        Ok(counted)
    }

    /// Returns unused space to the system. PostgreSQL does so by itself.
    ///
    /// # Errors
    /// When another process uses the file, or the store fails.
    pub async fn vacuum(&self) -> Result<()> {
        #[cfg(feature = "sqlite")]
        if let Some(file) = self.file() {
            file.outside(|connection| connection.execute_batch("VACUUM"))
                .await?;
        }
        self.clear_log().await
    }

    /// Returns unused space like [`vacuum`](Self::vacuum), and in PostgreSQL rewrites the tables of
    /// all tenants so that no page holds deleted rows. The tables are locked meanwhile. The
    /// server's write-ahead log, replicas and backups keep their contents until they are recycled
    /// or removed.
    ///
    /// # Errors
    /// When the user does not own the tables, or as [`vacuum`](Self::vacuum) fails.
    pub async fn vacuum_full(&self) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Some(server) = self.server() {
            return server.vacuum_full().await;
        }
        self.vacuum().await
    }

    /// Empties SQLite's log into the file, so that no deleted text remains in it.
    pub(crate) async fn clear_log(&self) -> Result<()> {
        #[cfg(feature = "sqlite")]
        if let Some(file) = self.file() {
            let is_clear = file.outside(crate::sqlite::clear_log).await?;
            if !is_clear {
                let seconds = crate::sqlite::PATIENCE.as_secs();
                return Err(crate::error::StoreError::Locked { seconds });
            }
        }
        Ok(())
    }
}

async fn count_all(tx: &mut Tx<'_>) -> Result<Stats> {
    let mut stats = Stats {
        version: schema::VERSION,
        ..Stats::default()
    };
    for (count, what) in [
        (
            &mut stats.senders,
            "count(DISTINCT sender) FROM scope WHERE",
        ),
        (&mut stats.conversations, "count(*) FROM conversation WHERE"),
        (&mut stats.messages, "count(*) FROM message WHERE"),
        (
            &mut stats.facts,
            "count(*) FROM fact WHERE drawn < 2 AND until IS NULL AND",
        ),
        (
            &mut stats.past_facts,
            "count(*) FROM fact WHERE drawn < 2 AND until IS NOT NULL AND",
        ),
        (&mut stats.summaries, "count(*) FROM summary WHERE"),
        (&mut stats.turns, "count(*) FROM turn WHERE"),
        (&mut stats.refusals, "count(*) FROM refusal WHERE"),
        (&mut stats.keys, "count(*) FROM api_key WHERE"),
        (
            &mut stats.prompts,
            "count(*) FROM prompt WHERE recipe IS NOT NULL AND",
        ),
        (
            &mut stats.prompt_bytes,
            "CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM prompt WHERE recipe IS NOT NULL AND",
        ),
    ] {
        let sql = format!("SELECT {what} tenant = $1");
        *count = tx.query_row(&sql, ()).await?;
    }
    Ok(stats)
}
