//! Reads messages back.

use kitbag_core::role::{Role, Visibility};

use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::id::{ConversationId, MessageId};
use crate::message::{self, MessageTime, StoredMessage};
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{FromRow, Row, WrongCell};

impl Store {
    /// The newest messages of a conversation, oldest first, as a model sees them, including
    /// internal ones.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn messages(&self, id: ConversationId, limit: u32) -> Result<Vec<StoredMessage>> {
        self.newest_messages(id, Readers::Model, limit).await
    }

    /// The newest messages of a conversation that a person may see, oldest first.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn visible_messages(
        &self,
        id: ConversationId,
        limit: u32,
    ) -> Result<Vec<StoredMessage>> {
        self.newest_messages(id, Readers::People, limit).await
    }

    async fn newest_messages(
        &self,
        id: ConversationId,
        readers: Readers,
        limit: u32,
    ) -> Result<Vec<StoredMessage>> {
        self.read(async move |tx| {
            Conversation::get(tx, id).await?;
            newest(tx, id.end(), readers, limit).await
        })
        .await
    }

    /// One message.
    ///
    /// # Errors
    /// When there is no such message, or the store fails.
    pub async fn message(&self, id: MessageId) -> Result<StoredMessage> {
        let found = self.read(async move |tx| get(tx, id).await).await?;
        found.ok_or_else(|| StoreError::missing("message", id))
    }
}

/// The readers that messages are meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The model sees every message.
    Model,
    /// People see no internal ones.
    People,
}

/// The columns of a [`StoredMessage`].
pub(crate) const COLUMNS: &str = "scope, conversation, seq, role, speaker, ref, at, at_offset, recallable, internal, body, json, sent_as";

impl FromRow for StoredMessage {
    /// Reads a message. An error names the damaged message and its column.
    fn from_row(row: &mut Row) -> Result<Self> {
        let scope = row.read()?;
        let mut number = || {
            row.cell().map_err(|wrong| {
                let expected = wrong.expected;
                damaged(format!(
                    "a message of scope {scope} has a number that is not {expected}"
                ))
            })
        };
        let (number, seq) = (number()?, number()?);
        let id = ConversationId { scope, number }.message(seq);
        let no = |what: &'static str| {
            move |wrong: WrongCell| {
                let expected = wrong.expected;
                damaged(format!("the {what} of message {id} is not {expected}"))
            }
        };
        let name: String = row.cell().map_err(no("role"))?;
        let role =
            role(&name).ok_or_else(|| damaged(format!("message {id} has an unknown role")))?;
        let speaker = row.cell().map_err(no("speaker"))?;
        let reference = row.cell().map_err(no("reference"))?;
        let at = MessageTime::from_columns(
            row.cell().map_err(no("time"))?,
            row.cell().map_err(no("zone"))?,
        );
        let recallable = row.cell().map_err(no("mark for recall"))?;
        let visibility = match row.cell().map_err(no("visibility"))? {
            true => Visibility::Internal,
            false => Visibility::All,
        };
        let body = row.cell().map_err(no("text"))?;
        let json: Option<String> = row.cell().map_err(no("JSON"))?;
        let sent_as: Option<String> = row.cell().map_err(no("content as it was sent"))?;
        let message = message::from_columns(role, speaker, body, json.as_deref(), visibility);
        let sent_as = sent_as.map(|json| serde_json::from_str(&json)).transpose();
        let unreadable =
            |error: serde_json::Error| damaged(format!("message {id} is not readable: {error}"));
        Ok(Self {
            id,
            message: message.map_err(unreadable)?,
            reference,
            at,
            recallable,
            sent_as: sent_as.map_err(unreadable)?,
        })
    }
}

fn damaged(reason: String) -> StoreError {
    StoreError::damaged("message", reason)
}

pub(crate) fn role(name: &str) -> Option<Role> {
    let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
    roles.into_iter().find(|role| role.as_str() == name)
}

/// The newest messages of a conversation before a message or before its [end](ConversationId::end),
/// oldest first.
pub(crate) async fn newest(
    tx: &mut Tx<'_>,
    before: MessageId,
    readers: Readers,
    limit: u32,
) -> Result<Vec<StoredMessage>> {
    let shown = match readers {
        Readers::Model => "",
        Readers::People => " AND internal = 0",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM message WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
         AND seq < $4{shown} ORDER BY seq DESC LIMIT $5"
    );
    let mut messages = tx.query(&sql, (before, limit)).await?;
    messages.reverse();
    Ok(messages)
}

/// The number of messages of a conversation before one of them.
pub(crate) async fn count_before(tx: &mut Tx<'_>, before: MessageId) -> Result<u32> {
    // Most conversations begin within the limit, so this saves a statement.
    if before.seq <= 1 {
        return Ok(0);
    }
    let sql = "SELECT count(*) FROM message \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq < $4";
    tx.query_row(sql, before).await
}

/// A message, if it is there.
pub(crate) async fn get(tx: &mut Tx<'_>, id: MessageId) -> Result<Option<StoredMessage>> {
    let place = [(id.conversation.number, id.seq)];
    let found = at_places(tx, COLUMNS, id.conversation.scope, &place).await?;
    Ok(found.into_iter().next())
}

/// Columns of the messages at some places, given as conversations and numbers in them.
pub(crate) async fn at_places<T: FromRow>(
    tx: &mut Tx<'_>,
    columns: &str,
    scope: u32,
    places: &[(u32, u32)],
) -> Result<Vec<T>> {
    let select = format!("SELECT {columns} FROM message");
    tx.query_pairs(&select, scope, ("conversation", "seq"), places)
        .await
}
