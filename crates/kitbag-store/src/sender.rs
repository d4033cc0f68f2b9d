//! Lists the senders that a store knows.

use jiff::Timestamp;

use crate::error::Result;
use crate::store::Store;
use crate::value::from_row;

/// A sender on a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sender {
    /// The sender's name.
    pub sender: String,
    /// The channel; empty for a sender of whom only facts are known.
    pub channel: String,
    /// The messages of the conversations, including the answers.
    pub messages: u64,
    /// The number of conversations.
    pub conversations: u64,
    /// The time when the first conversation began.
    pub began: Option<Timestamp>,
    /// The time of the latest message.
    pub active: Option<Timestamp>,
}

impl Store {
    /// The senders of the store with their amounts, at most `limit`, by name. It counts all of
    /// their messages; [`sender_names`](Self::sender_names) is faster.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn senders(&self, limit: u32) -> Result<Vec<Sender>> {
        self.read(async move |tx| {
            let of = |what: &str| {
                format!(
                    "(SELECT {what} FROM conversation \
                     WHERE conversation.tenant = $1 AND conversation.scope = scope.id)"
                )
            };
            // PostgreSQL needs a type for a NULL in a union; SQLite ignores it.
            let sql = format!(
                "SELECT sender, channel, (SELECT count(*) FROM message \
                 WHERE message.tenant = $1 AND message.scope = scope.id), {}, {}, {} \
                 FROM scope WHERE tenant = $1 \
                 UNION ALL SELECT DISTINCT sender, '', 0, 0, CAST(NULL AS BIGINT), \
                 CAST(NULL AS BIGINT) FROM fact WHERE tenant = $1 \
                 AND sender NOT IN (SELECT sender FROM scope WHERE tenant = $1) \
                 ORDER BY 1, 2 LIMIT $2",
                of("count(*)"),
                of("min(began)"),
                of("max(active)")
            );
            tx.query(&sql, limit).await
        })
        .await
    }

    /// The senders of the store with their channels, at most `limit`, by name. A sender of whom
    /// only facts are known has an empty channel.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn sender_names(&self, limit: u32) -> Result<Vec<(String, String)>> {
        self.read(async move |tx| {
            let sql = "SELECT sender, channel FROM scope WHERE tenant = $1 \
                       UNION ALL SELECT DISTINCT sender, '' FROM fact WHERE tenant = $1 \
                       AND sender NOT IN (SELECT sender FROM scope WHERE tenant = $1) \
                       ORDER BY 1, 2 LIMIT $2";
            tx.query(sql, limit).await
        })
        .await
    }
}

from_row!(Sender: sender, channel, messages, conversations, began, active);
