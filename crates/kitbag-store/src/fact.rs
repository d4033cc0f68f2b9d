//! Facts about a sender: a key and a value. A value that was replaced stays, as history.

use jiff::Timestamp;

use crate::conversation::timestamp;
use crate::error::StoreError;
use crate::id::{ConversationId, MessageId};
use crate::names;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Row, Value};

/// Longest key, in characters.
const LONGEST_KEY: usize = 100;
/// Longest value, in characters.
const LONGEST_VALUE: usize = 4_000;

/// Something known about a sender.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Fact {
    /// What it is about: `timezone`.
    pub key: String,
    /// What is known.
    pub value: String,
    /// Counts the values that the key has had, from 1.
    pub version: u32,
    /// Since when.
    pub since: Timestamp,
    /// Until when, if it no longer holds.
    pub until: Option<Timestamp>,
    /// The message that it was learned from.
    pub source: Option<MessageId>,
}

/// A fact to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewFact {
    /// What it is about.
    pub key: String,
    /// What is known.
    pub value: String,
    /// The message that it was learned from.
    pub source: Option<MessageId>,
}

impl NewFact {
    /// A fact that was told directly.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            source: None,
        }
    }

    /// The same fact with the message that it was learned from.
    #[must_use]
    pub fn from_message(mut self, source: MessageId) -> Self {
        self.source = Some(source);
        self
    }

    /// Checks what a fact must be.
    ///
    /// # Errors
    /// Names what is wrong.
    pub fn check(&self) -> Result<(), StoreError> {
        names::name("the key of a fact", &self.key)?;
        limit("the key of a fact", &self.key, LONGEST_KEY)?;
        if self.value.trim().is_empty() {
            let problem = format!("for `{}` is empty; unset the fact instead", self.key);
            return Err(StoreError::invalid("the value", problem));
        }
        limit("the value of a fact", &self.value, LONGEST_VALUE)
    }
}

fn limit(field: &'static str, text: &str, most: usize) -> Result<(), StoreError> {
    let length = text.chars().count();
    if length > most {
        let problem = format!("has {length} characters, and at most {most} are taken");
        return Err(StoreError::invalid(field, problem));
    }
    Ok(())
}

impl Store {
    /// Sets facts about a sender. A value that differs from the current one supersedes it; the same
    /// value changes nothing.
    ///
    /// # Errors
    /// When a fact is not one, which then changes nothing at all, or when the store fails.
    pub async fn set_facts(
        &self,
        sender: &str,
        facts: Vec<NewFact>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        names::name("the sender", sender)?;
        let sender = sender.to_owned();
        self.write(move |tx| {
            Box::pin(async move {
                lock(tx, &sender).await?;
                for fact in &facts {
                    set(tx, &sender, fact, now).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// Ends a fact. Its history stays. Tells whether it held.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unset_fact(
        &self,
        sender: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (sender, key) = (sender.to_owned(), key.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                lock(tx, &sender).await?;
                end(tx, &sender, &key, now).await
            })
        })
        .await
    }

    /// What is known about a sender now, by key; at most `limit` facts, those learned last.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn facts(&self, sender: &str, limit: u32) -> Result<Vec<Fact>, StoreError> {
        let sender = sender.to_owned();
        self.read(move |tx| Box::pin(async move { current(tx, &sender, limit).await }))
            .await
    }

    /// The values that a sender's facts have had, by key, oldest first; at most `limit`. Of one key, if it
    /// is given, and then those that came last.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn fact_history(
        &self,
        sender: &str,
        key: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Fact>, StoreError> {
        let (sender, key) = (sender.to_owned(), key.map(str::to_owned));
        self.read(move |tx| {
            Box::pin(async move {
                let limit = limit.into();
                let rows = match key {
                    Some(key) => {
                        let sql = format!(
                            "SELECT {COLUMNS} FROM fact WHERE tenant = $1 AND sender = $2 AND key = $3 \
                             ORDER BY version DESC LIMIT $4"
                        );
                        let mut rows = tx.query(&sql, [sender.into(), key.into(), limit]).await?;
                        rows.reverse();
                        rows
                    }
                    None => {
                        let sql = format!(
                            "SELECT {COLUMNS} FROM fact WHERE tenant = $1 AND sender = $2 \
                             ORDER BY key, version LIMIT $3"
                        );
                        tx.query(&sql, [sender.into(), limit]).await?
                    }
                };
                rows.into_iter().map(Fact::read).collect()
            })
        })
        .await
    }
}

const COLUMNS: &str =
    "key, value, version, since, until, source_scope, source_conversation, source_seq";

impl Fact {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            key: row.text()?,
            value: row.text()?,
            version: row.u32()?,
            since: timestamp(row.int()?)?,
            until: row.int_or_null()?.map(timestamp).transpose()?,
            source: source(&mut row)?,
        })
    }
}

fn source(row: &mut Row) -> Result<Option<MessageId>, StoreError> {
    let mut number = || -> Result<Option<u32>, StoreError> {
        let number = row.int_or_null()?;
        Ok(number.and_then(|number| u32::try_from(number).ok()))
    };
    let (scope, conversation, seq) = (number()?, number()?, number()?);
    let id = || {
        Some(MessageId {
            conversation: ConversationId {
                scope: scope?,
                number: conversation?,
            },
            seq: seq?,
        })
    };
    Ok(id())
}

/// The facts that hold, the latest `limit` of them, sorted by key.
pub(crate) async fn current(
    tx: &mut Tx<'_>,
    sender: &str,
    limit: u32,
) -> Result<Vec<Fact>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM fact WHERE tenant = $1 AND sender = $2 AND until IS NULL \
         ORDER BY since DESC, key LIMIT $3"
    );
    let rows = tx.query(&sql, [sender.into(), limit.into()]).await?;
    let facts: Result<Vec<Fact>, StoreError> = rows.into_iter().map(Fact::read).collect();
    let mut facts = facts?;
    facts.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(facts)
}

/// Lets one transaction at a time change facts about a sender. A lock for each fact would be taken
/// in whatever order the facts come in, and two who wait for each other would never end.
pub(crate) async fn lock(tx: &mut Tx<'_>, sender: &str) -> Result<(), StoreError> {
    tx.lock_exclusive(&format!("facts/{sender}")).await
}

/// Sets one fact. The caller holds the [`lock`].
pub(crate) async fn set(
    tx: &mut Tx<'_>,
    sender: &str,
    fact: &NewFact,
    now: Timestamp,
) -> Result<(), StoreError> {
    fact.check()?;
    let latest = tx
        .lock_one(
            "SELECT version, value, until FROM fact WHERE tenant = $1 AND sender = $2 AND key = $3 \
             ORDER BY version DESC LIMIT 1",
            [sender.into(), fact.key.as_str().into()],
        )
        .await?;
    let mut version = 0;
    if let Some(mut row) = latest {
        version = row.u32()?;
        let (value, holds) = (row.text()?, row.int_or_null()?.is_none());
        if holds && value == fact.value {
            return Ok(());
        }
        end(tx, sender, &fact.key, now).await?;
    }
    let source = fact.source;
    let number = |of: fn(MessageId) -> u32| -> Value { source.map(of).into() };
    tx.insert(
        "fact (tenant, sender, key, version, value, since, until, source_scope, \
         source_conversation, source_seq)",
        vec![[
            sender.into(),
            fact.key.as_str().into(),
            version.saturating_add(1).into(),
            Value::Body(fact.value.clone()),
            now.as_microsecond().into(),
            Value::Null,
            number(|id| id.conversation.scope),
            number(|id| id.conversation.number),
            number(|id| id.seq),
        ]],
    )
    .await
}

/// Ends the value that holds. The caller holds the [`lock`].
pub(crate) async fn end(
    tx: &mut Tx<'_>,
    sender: &str,
    key: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let ended = tx
        .execute(
            "UPDATE fact SET until = $2 WHERE tenant = $1 AND sender = $3 AND key = $4 AND until IS NULL",
            [now.as_microsecond().into(), sender.into(), key.into()],
        )
        .await?;
    Ok(ended > 0)
}
