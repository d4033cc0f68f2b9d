//! Taking messages out, page by page.

use std::collections::BTreeSet;

use crate::error::{Result, StoreError};
use crate::filter::MessageFilter;
use crate::history;
use crate::message::StoredMessage;
use crate::store::Store;
use crate::transaction::{Tx, placeholders};
use crate::value::{Row, Value};

/// Which messages to take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportFilter {
    /// Of one sender.
    pub sender: Option<String>,
    /// On one channel.
    pub channel: Option<String>,
    /// Of those, the messages that this admits.
    pub messages: MessageFilter,
    /// Whether a message counts as well whose words are asked for in one of its older texts alone.
    pub in_older_texts: bool,
}

impl ExportFilter {
    /// Messages of one sender, on one channel, or of all.
    #[must_use]
    pub fn new(sender: Option<String>, channel: Option<String>) -> Self {
        Self {
            sender,
            channel,
            messages: MessageFilter::default(),
            in_older_texts: false,
        }
    }

    /// The same, looking for words in the older texts of messages that were changed as well.
    #[must_use]
    pub fn in_older_texts(mut self) -> Self {
        self.in_older_texts = true;
        self
    }

    /// The same, of messages that a filter admits.
    #[must_use]
    pub fn among(mut self, messages: MessageFilter) -> Self {
        self.messages = messages;
        self
    }

    /// The conditions on rows of `scope` and `conversation`, whose values are added to the parameters
    /// behind the tenant's.
    pub(crate) fn conditions(&self, parameters: &mut Vec<Value>) -> String {
        let mut conditions = String::new();
        for (column, value) in [("sender", &self.sender), ("channel", &self.channel)] {
            if let Some(value) = value {
                let name = placeholders(parameters.len() + 2, 1);
                conditions.push_str(&format!(" AND scope.{column} = {name}"));
                parameters.push(value.as_str().into());
            }
        }
        conditions.push_str(&self.messages.conversation_condition(parameters));
        conditions
    }
}

/// Where the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportCursor {
    scope: u32,
    arrival: u32,
}

/// A message with all that says where it belongs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// Where it was said.
    pub channel: String,
    /// In whose conversation.
    pub sender: String,
    /// The name of the conversation, if it has one.
    pub conversation: Option<String>,
    /// The title of the conversation, if it has one.
    pub title: Option<String>,
    /// The message.
    pub message: StoredMessage,
}

impl Store {
    /// The next messages, in the order in which they arrived from each sender on each channel, and
    /// where to go on. One that is damaged is a [`StoreError::Damaged`] that names it, and those after
    /// it come all the same.
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
                cursor = Some(ExportCursor { scope, arrival });
                let (channel, sender, conversation) = row.read()?;
                // A title that cannot be read costs no message.
                let title: Option<String> = row.cell().unwrap_or_default();
                // Contents that cannot be read are named when the message is.
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

/// The places of messages behind one place, up to another, whose older texts have the words and the metadata
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
        // An older text that cannot be read costs no message.
        let text: String = row.cell().unwrap_or_default();
        let json: Option<String> = row.cell().unwrap_or_default();
        if filter.admits_contents(&text, json.as_deref()) {
            found.insert(place);
        }
    }
    Ok(found)
}
