//! Reading messages back.

use std::collections::BTreeMap;

use kitbag_core::role::{Role, Visibility};

use crate::conversation::Conversation;
use crate::error::StoreError;
use crate::id::{ConversationId, MessageId};
use crate::message::{self, MessageTime, StoredMessage};
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Row, WrongCell};

impl Store {
    /// The newest messages of a conversation, oldest first, as a model sees them: internal ones among
    /// them.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn messages(
        &self,
        id: ConversationId,
        limit: u32,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        self.read(async move |tx| {
            Conversation::get(tx, id).await?;
            newest(tx, id, Readers::Model, limit).await
        })
        .await
    }

    /// The newest messages of a conversation that a person may see, oldest first.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn visible_messages(
        &self,
        id: ConversationId,
        limit: u32,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        self.read(async move |tx| {
            Conversation::get(tx, id).await?;
            newest(tx, id, Readers::People, limit).await
        })
        .await
    }

    /// One message.
    ///
    /// # Errors
    /// When there is no such message, or the store fails.
    pub async fn message(&self, id: MessageId) -> Result<StoredMessage, StoreError> {
        self.read(async move |tx| {
            let mut found = by_place(
                tx,
                id.conversation.scope,
                &[(id.conversation.number, id.seq)],
            )
            .await?;
            found
                .remove(&(id.conversation.number, id.seq))
                .ok_or_else(|| StoreError::missing("message", id))
        })
        .await
    }
}

/// Who is given messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Sees every message.
    Model,
    /// See no internal ones.
    People,
}

/// The columns that [`read`] takes.
pub(crate) const COLUMNS: &str = "conversation, seq, role, speaker, ref, at, at_offset, recallable, internal, body, json, sent_as";

/// A message from a row of [`COLUMNS`]. One that is damaged is named.
pub(crate) fn read(scope: u32, row: &mut Row) -> Result<StoredMessage, StoreError> {
    let mut number = || {
        row.u32().map_err(|wrong| {
            damaged(format!(
                "a message of scope {scope} has a number that is not {}",
                wrong.expected()
            ))
        })
    };
    let id = MessageId {
        conversation: ConversationId {
            scope,
            number: number()?,
        },
        seq: number()?,
    };
    let no = |what: &'static str| {
        move |wrong: WrongCell| {
            let expected = wrong.expected();
            damaged(format!("the {what} of message {id} is not {expected}"))
        }
    };
    let role = role(&row.text().map_err(no("role"))?)
        .ok_or_else(|| damaged(format!("message {id} has an unknown role")))?;
    let name = row.text_or_null().map_err(no("speaker"))?;
    let reference = row.text_or_null().map_err(no("reference"))?;
    let at = MessageTime::from_columns(
        row.int_or_null().map_err(no("time"))?,
        row.int_or_null().map_err(no("zone"))?,
    );
    let recallable = row.flag().map_err(no("mark for recall"))?;
    let visibility = match row.flag().map_err(no("visibility"))? {
        true => Visibility::Internal,
        false => Visibility::All,
    };
    let body = row.text().map_err(no("text"))?;
    let json = row.text_or_null().map_err(no("JSON"))?;
    let sent_as = row.text_or_null().map_err(no("content as it was sent"))?;
    let unreadable =
        |error: serde_json::Error| damaged(format!("message {id} is not readable: {error}"));
    Ok(StoredMessage {
        id,
        message: message::from_columns(role, name, body, json.as_deref(), visibility)
            .map_err(unreadable)?,
        reference,
        at,
        recallable,
        sent_as: sent_as
            .map(|json| serde_json::from_str(&json))
            .transpose()
            .map_err(unreadable)?,
    })
}

fn damaged(reason: String) -> StoreError {
    StoreError::Damaged {
        table: "message",
        reason,
    }
}

pub(crate) fn role(name: &str) -> Option<Role> {
    let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
    roles.into_iter().find(|role| role.as_str() == name)
}

/// The newest messages of a conversation, oldest first.
pub(crate) async fn newest(
    tx: &mut Tx<'_>,
    id: ConversationId,
    readers: Readers,
    limit: u32,
) -> Result<Vec<StoredMessage>, StoreError> {
    let shown = match readers {
        Readers::Model => "",
        Readers::People => " AND internal = 0",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM message WHERE tenant = $1 AND scope = $2 AND conversation = $3{shown} \
         ORDER BY seq DESC LIMIT $4"
    );
    let rows = tx
        .query(&sql, [id.scope.into(), id.number.into(), limit.into()])
        .await?;
    let rows = rows.into_iter().rev();
    rows.map(|mut row| read(id.scope, &mut row)).collect()
}

/// The newest messages of a conversation before one of them, as a model sees them, oldest first.
pub(crate) async fn newest_before(
    tx: &mut Tx<'_>,
    id: ConversationId,
    before: u32,
    limit: u32,
) -> Result<Vec<StoredMessage>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM message WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
         AND seq < $4 ORDER BY seq DESC LIMIT $5"
    );
    let values = [
        id.scope.into(),
        id.number.into(),
        before.into(),
        limit.into(),
    ];
    let rows = tx.query(&sql, values).await?.into_iter().rev();
    rows.map(|mut row| read(id.scope, &mut row)).collect()
}

/// The number of messages of a conversation before one of them.
pub(crate) async fn count_before(
    tx: &mut Tx<'_>,
    id: ConversationId,
    before: u32,
) -> Result<u32, StoreError> {
    if before <= 1 {
        return Ok(0);
    }
    let row = tx
        .query_one(
            "SELECT count(*) FROM message \
             WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq < $4",
            [id.scope.into(), id.number.into(), before.into()],
        )
        .await?;
    row.map_or(Ok(0), |mut row| Ok(row.u32()?))
}

/// Messages by conversation and number.
pub(crate) async fn by_place(
    tx: &mut Tx<'_>,
    scope: u32,
    places: &[(u32, u32)],
) -> Result<BTreeMap<(u32, u32), StoredMessage>, StoreError> {
    let mut found = BTreeMap::new();
    for mut row in at_places(tx, COLUMNS, scope, places).await? {
        let message = read(scope, &mut row)?;
        found.insert((message.id.conversation.number, message.id.seq), message);
    }
    Ok(found)
}

/// Columns of the messages at some places.
pub(crate) async fn at_places(
    tx: &mut Tx<'_>,
    columns: &str,
    scope: u32,
    places: &[(u32, u32)],
) -> Result<Vec<Row>, StoreError> {
    let select = format!("SELECT {columns} FROM message");
    let keys = places.iter();
    let keys = keys.map(|(conversation, seq)| [(*conversation).into(), (*seq).into()]);
    tx.query_keys(&select, scope, ["conversation", "seq"], keys.collect())
        .await
}
