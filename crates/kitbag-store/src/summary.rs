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
    /// What made it.
    pub by: SummaryMaker,
    /// The summary.
    pub text: String,
}

impl Summary {
    /// The source of a chunk that shows it. Forgetting a message finds the prompts that told of it by
    /// this name.
    #[must_use]
    pub fn source(&self) -> String {
        format!("summary/{}/{}", self.conversation.scope, self.number)
    }
}

/// What made a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SummaryMaker {
    /// A model wrote it.
    Model,
    /// It is made of sentences that were said.
    Rules,
}

/// A summary to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewSummary {
    /// The first and the last message that it tells of.
    pub messages: (u32, u32),
    /// The summary.
    pub text: String,
    /// What made it.
    pub by: SummaryMaker,
}

impl NewSummary {
    /// A summary of the messages from the first to the last number.
    #[must_use]
    pub fn new(messages: (u32, u32), text: impl Into<String>, by: SummaryMaker) -> Self {
        let text = text.into();
        Self { messages, text, by }
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.text.trim().is_empty() {
            return Err(StoreError::invalid("the summary", "is empty"));
        }
        let (first, last) = self.messages;
        if first == 0 || first > last {
            let problem = format!("tells of the messages {first} to {last}, which are none");
            return Err(StoreError::invalid("the summary", problem));
        }
        Ok(())
    }
}

impl Store {
    /// Keeps a summary of a conversation.
    ///
    /// # Errors
    /// When there is no such conversation, the text is empty, or the store fails.
    pub async fn add_summary(
        &self,
        id: ConversationId,
        summary: NewSummary,
        now: Timestamp,
    ) -> Result<Summary, StoreError> {
        self.write(async move |tx| {
            Scope::lock(tx, id.scope).await?;
            Conversation::lock(tx, id).await?;
            add(tx, id, &summary, now).await
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
        self.read(
            async move |tx| match Scope::find(tx, &channel, &sender).await? {
                Some(scope) => latest(tx, scope.id, limit).await,
                None => Ok(Vec::new()),
            },
        )
        .await
    }
}

/// Adds a summary. The scope and the conversation are locked.
pub(crate) async fn add(
    tx: &mut Tx<'_>,
    id: ConversationId,
    summary: &NewSummary,
    now: Timestamp,
) -> Result<Summary, StoreError> {
    summary.check()?;
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
        first: summary.messages.0,
        last: summary.messages.1,
        made: now,
        by: summary.by,
        text: summary.text.clone(),
    };
    summary.insert(tx).await?;
    Ok(summary)
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
            by: match row.flag()? {
                true => SummaryMaker::Model,
                false => SummaryMaker::Rules,
            },
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
                (self.by == SummaryMaker::Model).into(),
                Value::Body(self.text.clone()),
            ]],
        )
        .await
    }
}
