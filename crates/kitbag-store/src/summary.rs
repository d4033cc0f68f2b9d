//! Summaries of conversations, or of their beginnings.

use jiff::Timestamp;

use crate::conversation::{Conversation, timestamp};
use crate::error::StoreError;
use crate::id::ConversationId;
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Row, Value};

/// What was said in a conversation, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its number among the summaries of the channel and the sender.
    pub number: u32,
    /// The first message that it tells of.
    pub first: u32,
    /// The last message that it tells of.
    pub last: u32,
    /// When it was made.
    pub made: Timestamp,
    /// Whether a model wrote it; else it is made of sentences that were said.
    pub by_model: bool,
    /// The summary.
    pub text: String,
}

impl Store {
    /// Keeps a summary of the messages `first` to `last` of a conversation.
    ///
    /// # Errors
    /// When there is no such conversation, the text is empty, or the store fails.
    pub async fn add_summary(
        &self,
        id: ConversationId,
        messages: (u32, u32),
        text: &str,
        by_model: bool,
        now: Timestamp,
    ) -> Result<Summary, StoreError> {
        if text.trim().is_empty() {
            return Err(StoreError::invalid("the summary", "is empty"));
        }
        let (first, last) = messages;
        let text = text.to_owned();
        self.write(move |tx| {
            Box::pin(async move {
                Scope::lock(tx, id.scope).await?;
                Conversation::lock(tx, id).await?;
                let row = tx
                    .query_one(
                        "SELECT max(id) FROM summary WHERE tenant = $1 AND scope = $2",
                        [id.scope.into()],
                    )
                    .await?;
                let before = row.map_or(Ok(None), |mut row| row.int_or_null())?;
                let before = before.and_then(|number| u32::try_from(number).ok());
                let summary = Summary {
                    conversation: id,
                    number: before.unwrap_or(0).saturating_add(1),
                    first,
                    last,
                    made: now,
                    by_model,
                    text,
                };
                summary.insert(tx).await?;
                Ok(summary)
            })
        })
        .await
    }

    /// The latest summaries of a channel and a sender, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn summaries(
        &self,
        channel: &str,
        sender: &str,
        limit: u32,
    ) -> Result<Vec<Summary>, StoreError> {
        let (channel, sender) = (channel.to_owned(), sender.to_owned());
        self.read(move |tx| {
            Box::pin(async move {
                match Scope::find(tx, &channel, &sender).await? {
                    Some(scope) => latest(tx, scope.id, limit).await,
                    None => Ok(Vec::new()),
                }
            })
        })
        .await
    }
}

/// The latest summaries of a scope, oldest first: the order in which they read.
pub(crate) async fn latest(
    tx: &mut Tx<'_>,
    scope: u32,
    limit: u32,
) -> Result<Vec<Summary>, StoreError> {
    let rows = tx
        .query(
            "SELECT conversation, id, first_seq, last_seq, made, by_model, body FROM summary \
             WHERE tenant = $1 AND scope = $2 ORDER BY id DESC LIMIT $3",
            [scope.into(), limit.into()],
        )
        .await?;
    let read = |row| Summary::read(scope, row);
    rows.into_iter().rev().map(read).collect()
}

impl Summary {
    fn read(scope: u32, mut row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            conversation: ConversationId {
                scope,
                number: row.u32()?,
            },
            number: row.u32()?,
            first: row.u32()?,
            last: row.u32()?,
            made: timestamp(row.int()?)?,
            by_model: row.flag()?,
            text: row.text()?,
        })
    }

    async fn insert(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.insert(
            "summary (tenant, scope, id, conversation, first_seq, last_seq, made, by_model, body)",
            vec![[
                self.conversation.scope.into(),
                self.number.into(),
                self.conversation.number.into(),
                self.first.into(),
                self.last.into(),
                self.made.as_microsecond().into(),
                self.by_model.into(),
                Value::Body(self.text.clone()),
            ]],
        )
        .await
    }
}
