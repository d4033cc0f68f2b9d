//! Summaries of conversations, or of their beginnings.

use jiff::Timestamp;

use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::id::ConversationId;
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Cell, LenientU32, Value, from_row};

/// A summary of what was said in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its number among the summaries of the channel and the sender.
    pub number: u32,
    /// The first message that it covers.
    pub first: u32,
    /// The last message that it covers.
    pub last: u32,
    /// The time when it was made.
    pub made: Timestamp,
    /// The maker.
    pub by: SummaryMaker,
    /// The summary.
    pub text: String,
}

impl Summary {
    /// The source of a chunk that shows it. Forgetting a message finds the prompts with the summary
    /// by this name.
    #[must_use]
    pub fn source(&self) -> String {
        format!("summary/{}/{}", self.conversation.scope, self.number)
    }
}

/// The maker of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SummaryMaker {
    /// A model wrote it.
    Model,
    /// It consists of sentences from the conversation.
    Rules,
}

/// A summary to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewSummary {
    /// The first and the last message that it covers.
    pub messages: (u32, u32),
    /// The summary.
    pub text: String,
    /// The maker.
    pub by: SummaryMaker,
}

impl NewSummary {
    /// Makes a summary of the messages from the first to the last number.
    #[must_use]
    pub fn new(messages: (u32, u32), text: impl Into<String>, by: SummaryMaker) -> Self {
        let text = text.into();
        Self { messages, text, by }
    }

    fn check(&self) -> Result<()> {
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
        mut summary: NewSummary,
        now: Timestamp,
    ) -> Result<Summary> {
        summary.text = self.secrets().masked(summary.text);
        self.write(async move |tx| {
            Scope::lock(tx, id).await?;
            Conversation::lock(tx, id).await?;
            add(tx, id, &summary, now).await
        })
        .await
    }

    /// The latest summaries of a channel and a sender, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn summaries(&self, channel: &str, sender: &str, limit: u32) -> Result<Vec<Summary>> {
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
) -> Result<Summary> {
    summary.check()?;
    let sql = "SELECT max(id) FROM summary WHERE tenant = $1 AND scope = $2";
    // A number out of range counts as none, so that a damaged row does not block new summaries.
    let before: Option<LenientU32> = tx.query_one(sql, id.scope).await?;
    let before = before.and_then(|LenientU32(number)| number);
    let summary = Summary {
        conversation: id,
        number: before.unwrap_or(0).saturating_add(1),
        first: summary.messages.0,
        last: summary.messages.1,
        made: now,
        by: summary.by,
        text: summary.text.clone(),
    };
    let body = Value::Body(summary.text.clone());
    let told = (summary.first, summary.last);
    let row = (id, summary.number, told, now, summary.by, body);
    let into = format!("summary (tenant, {COLUMNS})");
    tx.insert(&into, [row]).await?;
    Ok(summary)
}

/// Adds a summary of a whole conversation in place of a model's earlier one, and returns `false` if
/// the conversation has it already. The scope is locked.
pub(crate) async fn renew(
    tx: &mut Tx<'_>,
    id: ConversationId,
    summary: &NewSummary,
    now: Timestamp,
) -> Result<bool> {
    let sql = "SELECT id, body FROM summary WHERE tenant = $1 AND scope = $2 \
               AND conversation = $3 AND first_seq = 1 AND by_model = 1";
    let earlier: Vec<(u32, String)> = tx.query(sql, id).await?;
    if earlier.iter().any(|(_, text)| *text == summary.text) {
        return Ok(false);
    }
    // The new one first: its number must be above those of the removed ones, which prompts may
    // name.
    add(tx, id, summary, now).await?;
    for (number, _) in earlier {
        let sql = "DELETE FROM summary WHERE tenant = $1 AND scope = $2 AND id = $3";
        tx.execute(sql, (id.scope, number)).await?;
    }
    Ok(true)
}

/// Replaces the summary of the same messages with a model's, or adds it if there is none. The scope
/// is locked.
pub(crate) async fn improve(
    tx: &mut Tx<'_>,
    id: ConversationId,
    summary: &NewSummary,
    now: Timestamp,
) -> Result<()> {
    summary.check()?;
    let body = Value::Body(summary.text.clone());
    let sql = "UPDATE summary SET body = $2, made = $3, by_model = $4 \
               WHERE tenant = $1 AND scope = $5 AND conversation = $6 \
               AND first_seq = $7 AND last_seq = $8";
    let values = (body, now, summary.by, id, summary.messages);
    if tx.execute(sql, values).await? == 0 {
        add(tx, id, summary, now).await?;
    }
    Ok(())
}

/// The latest summaries of a scope, oldest first, in the order in which they are read.
pub(crate) async fn latest(tx: &mut Tx<'_>, scope: u32, limit: u32) -> Result<Vec<Summary>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM summary WHERE tenant = $1 AND scope = $2 ORDER BY id DESC LIMIT $3"
    );
    let mut summaries = tx.query(&sql, (scope, limit)).await?;
    summaries.reverse();
    Ok(summaries)
}

/// The latest summary of a conversation.
pub(crate) async fn latest_of(tx: &mut Tx<'_>, id: ConversationId) -> Result<Option<Summary>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM summary WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
         ORDER BY id DESC LIMIT 1"
    );
    tx.query_one(&sql, id).await
}

const COLUMNS: &str = "scope, conversation, id, first_seq, last_seq, made, by_model, body";

from_row!(Summary: conversation, number, first, last, made, by, text);

impl From<SummaryMaker> for Value {
    fn from(by: SummaryMaker) -> Self {
        (by == SummaryMaker::Model).into()
    }
}

impl Cell for SummaryMaker {
    const EXPECTED: &'static str = bool::EXPECTED;

    fn from_value(value: Value) -> Option<Self> {
        Some(match bool::from_value(value)? {
            true => Self::Model,
            false => Self::Rules,
        })
    }
}
