//! Exports messages page by page.

use std::collections::BTreeSet;

use crate::error::{Result, StoreError};
use crate::filter::MessageFilter;
use crate::history;
use crate::message::StoredMessage;
use crate::store::Store;
use crate::transaction::{Tx, placeholders};
use crate::value::{Row, Value};

/// The messages to export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportFilter {
    /// Messages of this sender only.
    pub sender: Option<String>,
    /// Messages on this channel only.
    pub channel: Option<String>,
    /// The messages among those that this filter admits.
    pub messages: MessageFilter,
    /// True if a message also counts when only one of its older texts has the words.
    pub in_older_texts: bool,
}

impl ExportFilter {
    /// Selects the messages of one sender, on one channel, or of all.
    #[must_use]
    pub fn new(sender: Option<String>, channel: Option<String>) -> Self {
        Self {
            sender,
            channel,
            messages: MessageFilter::default(),
            in_older_texts: false,
        }
    }

    /// Looks for words in the older texts of changed messages too.
    #[must_use]
    pub fn in_older_texts(mut self) -> Self {
        self.in_older_texts = true;
        self
    }

    /// Restricts the messages to those that a filter admits.
    #[must_use]
    pub fn among(mut self, messages: MessageFilter) -> Self {
        self.messages = messages;
        self
    }

    /// The conditions on rows of `scope` and `conversation`. Their values are appended to the
    /// parameters behind the tenant's.
    pub(crate) fn conditions(&self, parameters: &mut Vec<Value>) -> String {
        let mut conditions = String::new();
        for (column, value) in [("sender", &self.sender), ("channel", &self.channel)] {
            if let Some(value) = value {
                // `$1` is the tenant, and parameters count from 1.
                let name = placeholders(parameters.len() + 2, 1);
                conditions.push_str(&format!(" AND scope.{column} = {name}"));
                parameters.push(value.as_str().into());
            }
        }
        conditions.push_str(&self.messages.conversation_condition(parameters));
        conditions
    }
}

/// The beginning of the next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportCursor {
    scope: u32,
    arrival: u32,
}

/// A message with its channel, sender and conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// The channel it was said on.
    pub channel: String,
    /// The sender whose conversation it is in.
    pub sender: String,
    /// The name of the conversation, if it has one.
    pub conversation: Option<String>,
    /// The title of the conversation, if it has one.
    pub title: Option<String>,
    /// The message.
    pub message: StoredMessage,
}

impl Store {
    /// Returns the next messages, in the order of their arrival from each sender on each channel,
    /// and the cursor of the next page. A damaged message is a [`StoreError::Damaged`] that names
    /// it, and those after it follow.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn export(
        &self,
        filter: &ExportFilter,
        after: Option<ExportCursor>,
        limit: u32,
    ) -> Result<(Vec<Result<Exported, StoreError>>, Option<ExportCursor>)> {
        let filter = filter.clone();
        self.read(async move |tx| {
            let start = after.map_or((0, 0), |after| (after.scope, after.arrival));
            let mut parameters: Vec<Value> = vec![limit.into(), start.0.into(), start.1.into()];
            let conditions = filter.conditions(&mut parameters);
            let of_messages = filter.messages.message_conditions();
            // Bodies are read twice only if the filter looks into them.
            let contents = match filter.messages.is_about_contents() {
                true => "message.body, message.json",
                false => "'', NULL",
            };
            let columns = history::COLUMNS.replace(", ", ", message.");
            let sql = format!(
                "SELECT scope.id, message.arrival, scope.channel, scope.sender, \
                 conversation.name, conversation.title, {contents}, message.{columns} FROM scope \
                 JOIN message ON message.tenant = scope.tenant AND message.scope = scope.id \
                 JOIN conversation ON conversation.tenant = scope.tenant \
                 AND conversation.scope = scope.id AND conversation.id = message.conversation \
                 WHERE scope.tenant = $1 AND message.tenant = $1 \
                 AND (message.scope, message.arrival) > ($3, $4){conditions}{of_messages} \
                 ORDER BY message.scope, message.arrival LIMIT $2"
            );
            let mut cursor = None;
            let mut page = Vec::new();
            let mut rows: Vec<((u32, u32), Row)> = Vec::new();
            for mut row in tx.query::<Row>(&sql, parameters).await? {
                rows.push((row.read()?, row));
            }
            let older = match rows.last() {
                Some((end, _)) if filter.in_older_texts => {
                    with_older_texts(tx, &filter.messages, start, *end).await?
                }
                _ => BTreeSet::new(),
            };
            for ((scope, arrival), mut row) in rows {
                // Set for rejected rows too: the next page must begin behind them.
                cursor = Some(ExportCursor { scope, arrival });
                let (channel, sender, conversation) = row.read()?;
                // A title that cannot be read loses no message.
                let title: Option<String> = row.cell().unwrap_or_default();
                // Contents that cannot be read are reported when the message itself is read.
                let text: String = row.cell().unwrap_or_default();
                let json: Option<String> = row.cell().unwrap_or_default();
                if !filter.messages.admits_contents(&text, json.as_deref())
                    && !older.contains(&(scope, arrival))
                {
                    continue;
                }
                page.push(row.read().map(|message| Exported {
                    channel,
                    sender,
                    conversation,
                    title,
                    message,
                }));
            }
            Ok((page, cursor))
        })
        .await
    }
}

/// The places of messages between two places whose older texts have the words and the metadata
/// asked for.
async fn with_older_texts(
    tx: &mut Tx<'_>,
    filter: &MessageFilter,
    after: (u32, u32),
    end: (u32, u32),
) -> Result<BTreeSet<(u32, u32)>> {
    if filter.words.is_empty() {
        return Ok(BTreeSet::new());
    }
    let sql = "SELECT message.scope, message.arrival, message_version.body, message_version.json \
               FROM message_version JOIN message ON message.tenant = message_version.tenant \
               AND message.scope = message_version.scope \
               AND message.conversation = message_version.conversation \
               AND message.seq = message_version.seq WHERE message_version.tenant = $1 \
               AND (message.scope, message.arrival) > ($2, $3) \
               AND (message.scope, message.arrival) <= ($4, $5)";
    let mut found = BTreeSet::new();
    for mut row in tx.query::<Row>(sql, (after, end)).await? {
        let place = row.read()?;
        // An older text that cannot be read loses no message.
        let text: String = row.cell().unwrap_or_default();
        let json: Option<String> = row.cell().unwrap_or_default();
        if filter.admits_contents(&text, json.as_deref()) {
            found.insert(place);
        }
    }
    Ok(found)
}
