//! Facts about a sender: a key and a value. A value that was replaced stays, as history.

use jiff::Timestamp;

use crate::error::{Result, StoreError};
use crate::id::{ConversationId, MessageId};
use crate::names;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{FromRow, LenientU32, Row, Value, from_row};

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
    pub fn check(&self) -> Result<()> {
        names::name("the key of a fact", &self.key)?;
        names::limit("the key of a fact", &self.key, LONGEST_KEY)?;
        if self.value.trim().is_empty() {
            let problem = format!("for `{}` is empty; unset the fact instead", self.key);
            return Err(StoreError::invalid("the value", problem));
        }
        names::limit("the value of a fact", &self.value, LONGEST_VALUE)
    }
}

impl Store {
    /// Sets facts about a sender. A value that differs from the current one supersedes it; the same
    /// value changes nothing.
    ///
    /// # Errors
    /// When a fact is not one, which then changes nothing at all, or when the store fails.
    pub async fn set_facts(&self, sender: &str, facts: Vec<NewFact>, now: Timestamp) -> Result<()> {
        names::name("the sender", sender)?;
        let sender = sender.to_owned();
        let facts = self.secrets().masked_facts(facts);
        self.write(async move |tx| {
            lock(tx, &sender).await?;
            for fact in &facts {
                set(tx, &sender, fact, now).await?;
            }
            Ok(())
        })
        .await
    }

    /// Ends a fact. Its history stays. Tells whether it held.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unset_fact(&self, sender: &str, key: &str, now: Timestamp) -> Result<bool> {
        let (sender, key) = (sender.to_owned(), key.to_owned());
        self.write(async move |tx| {
            lock(tx, &sender).await?;
            end(tx, &sender, &key, now).await
        })
        .await
    }

    /// What is known about a sender now, by key; at most `limit` facts, those learned last.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn facts(&self, sender: &str, limit: u32) -> Result<Vec<Fact>> {
        let sender = sender.to_owned();
        self.read(async move |tx| current(tx, &sender, limit).await)
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
    ) -> Result<Vec<Fact>> {
        let (sender, key) = (sender.to_owned(), key.map(str::to_owned));
        self.read(async move |tx| {
            let (of_key, order) = match key {
                Some(_) => (" AND key = $4", "version DESC"),
                None => ("", "key, version"),
            };
            let sql = format!(
                "SELECT {COLUMNS} FROM fact WHERE tenant = $1 AND sender = $3{of_key} \
                 ORDER BY {order} LIMIT $2"
            );
            let key: Vec<Value> = key.into_iter().map(Value::from).collect();
            let mut facts: Vec<Fact> = tx.query(&sql, (limit, sender, key)).await?;
            facts.sort_by(|a, b| (&a.key, a.version).cmp(&(&b.key, b.version)));
            Ok(facts)
        })
        .await
    }
}

const COLUMNS: &str =
    "key, value, version, since, until, source_scope, source_conversation, source_seq";

from_row!(Fact: key, value, version, since, until, source);

impl FromRow for Option<MessageId> {
    fn from_row(row: &mut Row) -> Result<Self> {
        Ok(match row.read()? {
            (LenientU32(Some(scope)), LenientU32(Some(number)), LenientU32(Some(seq))) => {
                Some(ConversationId { scope, number }.message(seq))
            }
            _ => None,
        })
    }
}

/// The facts that hold, the latest `limit` of them, sorted by key.
pub(crate) async fn current(tx: &mut Tx<'_>, sender: &str, limit: u32) -> Result<Vec<Fact>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM fact WHERE tenant = $1 AND sender = $2 AND until IS NULL \
         ORDER BY since DESC, key LIMIT $3"
    );
    let mut facts: Vec<Fact> = tx.query(&sql, (sender, limit)).await?;
    facts.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(facts)
}

/// Lets one transaction at a time change facts about a sender. A lock for each fact would be taken
/// in whatever order the facts come in, and two who wait for each other would never end.
pub(crate) async fn lock(tx: &mut Tx<'_>, sender: &str) -> Result<()> {
    tx.lock_exclusive(&format!("facts/{sender}")).await
}

/// Sets one fact. The caller holds the [`lock`].
pub(crate) async fn set(
    tx: &mut Tx<'_>,
    sender: &str,
    fact: &NewFact,
    now: Timestamp,
) -> Result<()> {
    fact.check()?;
    let sql = "SELECT version, value, until FROM fact \
               WHERE tenant = $1 AND sender = $2 AND key = $3 ORDER BY version DESC LIMIT 1";
    let latest: Option<(u32, String, Option<i64>)> = tx.lock_one(sql, (sender, &fact.key)).await?;
    let mut version = 0;
    if let Some((latest, value, until)) = latest {
        if until.is_none() && value == fact.value {
            return Ok(());
        }
        version = latest;
        end(tx, sender, &fact.key, now).await?;
    }
    let value = Value::Body(fact.value.clone());
    let source = |of: fn(MessageId) -> u32| fact.source.map(of);
    tx.insert(
        "fact (tenant, sender, key, version, value, since, source_scope, source_conversation, \
         source_seq)",
        [(
            (sender, &fact.key, version.saturating_add(1), value, now),
            source(|id| id.conversation.scope),
            source(|id| id.conversation.number),
            source(|id| id.seq),
        )],
    )
    .await
}

/// Ends the value that holds. The caller holds the [`lock`].
pub(crate) async fn end(tx: &mut Tx<'_>, sender: &str, key: &str, now: Timestamp) -> Result<bool> {
    let sql = "UPDATE fact SET until = $2 \
               WHERE tenant = $1 AND sender = $3 AND key = $4 AND until IS NULL";
    Ok(tx.execute(sql, (now, sender, key)).await? > 0)
}
