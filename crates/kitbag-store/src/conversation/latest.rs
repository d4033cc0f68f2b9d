//! The latest conversations of a tenant, with what a list shows of them.

use jiff::Timestamp;

use super::{COLUMNS, Conversation};
use crate::error::StoreError;
use crate::export::ExportFilter;
use crate::message::MessageTime;
use crate::store::Store;
use crate::transaction::placeholders;
use crate::value::Value;

/// A conversation, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LatestConversation {
    /// Where it takes place.
    pub channel: String,
    /// Whose it is.
    pub sender: String,
    /// The conversation.
    pub conversation: Conversation,
    /// How many messages of it people may see: those that were forgotten are not counted.
    pub kept: u64,
    /// When its first message came, without a zone if that message had none.
    pub began: MessageTime,
    /// When its latest message came, without a zone if that message had none.
    pub active: MessageTime,
}

impl Store {
    /// The conversations of a sender, on a channel, or of all, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn latest_conversations(
        &self,
        filter: &ExportFilter,
        limit: u32,
    ) -> Result<Vec<LatestConversation>, StoreError> {
        let mut parameters: Vec<Value> = Vec::new();
        let conditions = filter.conditions(&mut parameters);
        let limit_name = placeholders(parameters.len() + 2, 1);
        parameters.push(limit.into());
        let of_it = "FROM message WHERE message.tenant = $1 AND message.scope = latest.scope \
                     AND message.conversation = latest.id";
        let columns = COLUMNS.replace(", ", ", conversation.");
        // First those that are shown, then their messages: else all of them would be counted.
        let sql = format!(
            "WITH latest AS MATERIALIZED (SELECT scope.id AS scope, scope.channel, scope.sender, \
             conversation.{columns} FROM scope JOIN conversation \
             ON conversation.tenant = scope.tenant AND conversation.scope = scope.id \
             WHERE scope.tenant = $1 AND conversation.tenant = $1{conditions} \
             ORDER BY active DESC, scope.id DESC, conversation.id DESC LIMIT {limit_name}) \
             SELECT scope, channel, sender, (SELECT count(*) {of_it} AND internal = 0), \
             EXISTS (SELECT 1 {of_it} AND message.at = latest.began AND at_offset IS NULL), \
             EXISTS (SELECT 1 {of_it} AND message.at = latest.active AND at_offset IS NULL), \
             {COLUMNS} FROM latest ORDER BY active DESC, scope DESC, id DESC"
        );
        self.read(async move |tx| {
            let mut found = Vec::new();
            for mut row in tx.query_with(&sql, parameters).await? {
                let scope = row.u32()?;
                let (channel, sender) = (row.text()?, row.text()?);
                let kept = row.int()?.unsigned_abs();
                let (local_begin, local_end) = (row.flag()?, row.flag()?);
                let conversation = Conversation::read(scope, row)?;
                let time = |at: Timestamp, is_local: bool| match is_local {
                    true => MessageTime::local(at),
                    false => at.into(),
                };
                found.push(LatestConversation {
                    channel,
                    sender,
                    kept,
                    began: time(conversation.began, local_begin),
                    active: time(conversation.active, local_end),
                    conversation,
                });
            }
            Ok(found)
        })
        .await
    }
}
