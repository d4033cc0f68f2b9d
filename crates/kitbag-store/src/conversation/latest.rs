//! The latest conversations of a tenant, with the columns of a list.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{COLUMNS, Conversation};
use crate::error::Result;
use crate::export::ExportFilter;
use crate::message::MessageTime;
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::placeholders;
use crate::value::{FromRow, Row, Value};

/// The number of names in one query.
const TOGETHER: usize = 500;

/// A conversation with its channel and sender.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LatestConversation {
    /// The channel it takes place on.
    pub channel: String,
    /// The sender it belongs to.
    pub sender: String,
    /// The conversation.
    pub conversation: Conversation,
    /// The messages of it that people may see, without forgotten ones.
    pub kept: u64,
    /// The time of its first message, without a zone if that message had none.
    pub began: MessageTime,
    /// The time of its latest message, without a zone if that message had none.
    pub active: MessageTime,
}

impl Store {
    /// Those of some names that conversations of a sender on a channel have.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn conversation_names(
        &self,
        channel: &str,
        sender: &str,
        names: &[String],
    ) -> Result<BTreeSet<String>> {
        let (channel, sender, names) = (channel.to_owned(), sender.to_owned(), names.to_vec());
        self.read(async move |tx| {
            let mut found = BTreeSet::new();
            let Some(scope) = Scope::find(tx, &channel, &sender).await? else {
                return Ok(found);
            };
            for some in names.chunks(TOGETHER) {
                let sql = format!(
                    "SELECT name FROM conversation WHERE tenant = $1 AND scope = $2 AND name IN ({})",
                    placeholders(3, some.len())
                );
                let some: Vec<Value> = some.iter().map(|name| Value::from(name.as_str())).collect();
                found.extend(tx.query::<String>(&sql, (scope.id, some)).await?);
            }
            Ok(found)
        })
        .await
    }

    /// Lists the conversations of a sender or a channel or all, newest first. Of the filter on
    /// messages only two parts apply: the conversations, and the period in which a conversation
    /// must have been active.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn latest_conversations(
        &self,
        filter: &ExportFilter,
        limit: u32,
    ) -> Result<Vec<LatestConversation>> {
        let mut parameters: Vec<Value> = vec![limit.into()];
        let conditions = filter.conditions(&mut parameters);
        let times = filter.messages.activity_conditions();
        let of_it = "FROM message WHERE message.tenant = $1 AND message.scope = latest.scope \
                     AND message.conversation = latest.id";
        let columns = COLUMNS.replace(", ", ", conversation.");
        let shown = format!("conversation.kept, conversation.{columns}");
        let newest = "ORDER BY conversation.active DESC, conversation.scope DESC, \
                      conversation.id DESC LIMIT $2";
        // Without a sender an index on times yields the newest at once; a sender's are read by
        // their scope. SQLite keeps to the order of a cross join. Before, a list of 500 among
        // 100,000 messages sorted all conversations.
        let latest = match (&filter.sender, &filter.channel) {
            (None, None) => format!(
                "SELECT {shown} FROM conversation WHERE conversation.tenant = $1\
                 {conditions}{times} {newest}"
            ),
            _ => format!(
                "SELECT {shown} FROM scope CROSS JOIN conversation WHERE scope.tenant = $1 \
                 AND conversation.tenant = $1 AND conversation.scope = scope.id\
                 {conditions}{times} {newest}"
            ),
        };
        // Materialized: the messages are counted only for the conversations that are shown.
        let own = COLUMNS.replace(", ", ", latest.");
        // Conversations of stores from before version 4 may lack the count, which is then taken here.
        let sql = format!(
            "WITH latest AS MATERIALIZED ({latest}) SELECT channel, sender, \
             coalesce(kept, (SELECT count(*) {of_it} AND internal = 0)), \
             EXISTS (SELECT 1 {of_it} AND message.at = latest.began AND at_offset IS NULL), \
             EXISTS (SELECT 1 {of_it} AND message.at = latest.active AND at_offset IS NULL), \
             latest.{own} FROM latest CROSS JOIN scope \
             WHERE scope.tenant = $1 AND scope.id = latest.scope \
             ORDER BY latest.active DESC, latest.scope DESC, latest.id DESC"
        );
        self.read(async move |tx| tx.query(&sql, parameters).await)
            .await
    }
}

impl FromRow for LatestConversation {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (channel, sender, kept) = row.read()?;
        let (is_begin_local, is_end_local) = row.read()?;
        let conversation: Conversation = row.read()?;
        let time = |at: Timestamp, is_local: bool| match is_local {
            true => MessageTime::local(at),
            false => at.into(),
        };
        Ok(Self {
            channel,
            sender,
            kept,
            began: time(conversation.began, is_begin_local),
            active: time(conversation.active, is_end_local),
            conversation,
        })
    }
}
