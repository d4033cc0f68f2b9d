//! Facts about a sender: a key and a value. Replaced values are kept as history.
//!
//! A fact is set by a person or a tool, or drawn from a message. A fact that was set holds everywhere, a
//! drawn one on the channel of its message. Of one key, the latest value visible in a place holds
//! there.

mod drawn;
mod timeline;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::error::{Result, StoreError};
use crate::id::{ConversationId, MessageId};
use crate::names;
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{FromRow, LenientU32, Row, Value};

pub(crate) use drawn::{Drawn, STATEMENTS, draw, keep_drawn, new_facts, statements};
pub(crate) use timeline::Timeline;

/// The longest key, in characters.
const LONGEST_KEY: usize = 100;
/// The longest value, in characters.
const LONGEST_VALUE: usize = 4_000;
/// The value of a retraction that takes back any value.
const ANY_VALUE: &str = "*";

/// A fact about a sender.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Fact {
    /// Its topic, such as `timezone`.
    pub key: String,
    /// Its value.
    pub value: String,
    /// The number of this value among those the key has had, from 1.
    pub version: u32,
    /// The time from which it holds.
    pub since: Timestamp,
    /// The time until which it held, if it no longer holds.
    pub until: Option<Timestamp>,
    /// The message that it was learned from.
    pub source: Option<MessageId>,
    /// True if it was drawn from that message and not told as a fact.
    pub drawn: bool,
    /// The person it is about, if that is not the sender. The key begins with the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// True if the message takes the value back. Such a fact never leaves the store.
    #[serde(skip)]
    pub(crate) is_retraction: bool,
}

impl Fact {
    /// Returns true if prompts of a scope may show it.
    pub(crate) fn is_seen_in(&self, scope: Option<u32>) -> bool {
        let source = self.source.map(|id| id.conversation.scope);
        !self.drawn || (source.is_some() && source == scope)
    }
}

/// A fact to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewFact {
    /// Its topic.
    pub key: String,
    /// Its value.
    pub value: String,
    /// The message that it was learned from.
    pub source: Option<MessageId>,
    pub(crate) drawn: bool,
    pub(crate) speaker: Option<String>,
    pub(crate) is_retraction: bool,
}

impl NewFact {
    /// Makes a fact that was told directly.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            source: None,
            drawn: false,
            speaker: None,
            is_retraction: false,
        }
    }

    /// Sets the message that it was learned from.
    #[must_use]
    pub fn from_message(mut self, source: MessageId) -> Self {
        self.source = Some(source);
        self
    }

    /// Checks the limits of a fact.
    ///
    /// # Errors
    /// Names the limit that is exceeded.
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
    /// Sets facts about a sender. A different value supersedes the current one. The same value
    /// turns one that was only drawn into a told one, and otherwise changes nothing.
    ///
    /// # Errors
    /// When a fact is invalid, which changes nothing at all, or when the store fails.
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

    /// Ends a fact and returns true if it held. Its history stays.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unset_fact(&self, sender: &str, key: &str, now: Timestamp) -> Result<bool> {
        let sender = sender.to_owned();
        let key = self.secrets().masked_name(key.to_owned());
        self.write(async move |tx| {
            lock(tx, &sender).await?;
            end(tx, &sender, &key, now).await
        })
        .await
    }

    /// The facts that hold about a sender now, by key; at most `limit` of them, the latest learned.
    /// Of values from several channels the latest counts.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn facts(&self, sender: &str, limit: u32) -> Result<Vec<Fact>> {
        let sender = sender.to_owned();
        self.read(async move |tx| current(tx, &sender, DrawnFrom::Anywhere, limit).await)
            .await
    }

    /// The facts that a prompt on a channel may show about a sender now, by key: the told ones, and
    /// those drawn from messages on this channel; at most `limit` of them, the latest learned.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn facts_on(&self, channel: &str, sender: &str, limit: u32) -> Result<Vec<Fact>> {
        let (channel, sender) = (channel.to_owned(), sender.to_owned());
        self.read(async move |tx| {
            let scope = Scope::find(tx, &channel, &sender).await?;
            let from = DrawnFrom::Scope(scope.map(|scope| scope.id));
            current(tx, &sender, from, limit).await
        })
        .await
    }

    /// The number of facts' values, current and past, that came from each message.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn fact_sources(&self) -> Result<BTreeMap<MessageId, u64>> {
        self.read(async move |tx| {
            let sql = "SELECT source_scope, source_conversation, source_seq FROM fact \
                       WHERE tenant = $1 AND source_scope IS NOT NULL";
            let mut counts = BTreeMap::new();
            for source in tx.query::<MessageId>(sql, ()).await? {
                *counts.entry(source).or_insert(0) += 1;
            }
            Ok(counts)
        })
        .await
    }

    /// The values that a fact about a sender has had as a channel sees it, oldest first: the told
    /// ones, and those drawn from messages there.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn fact_history_on(
        &self,
        channel: &str,
        sender: &str,
        key: &str,
    ) -> Result<Vec<Fact>> {
        let (to, of) = (channel.to_owned(), sender.to_owned());
        let scope = self.read(async move |tx| Scope::find(tx, &to, &of).await);
        let scope = scope.await?.map(|scope| scope.id);
        let mut facts = self.fact_history(sender, Some(key), u32::MAX).await?;
        facts.retain(|fact| fact.is_seen_in(scope));
        Ok(facts)
    }

    /// The values that a sender's facts have had, by key, oldest first; at most `limit`. With a key
    /// only its values, the latest of them.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn fact_history(
        &self,
        sender: &str,
        key: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Fact>> {
        let sender = sender.to_owned();
        let key = key.map(|key| self.secrets().masked_name(key.to_owned()));
        self.read(async move |tx| {
            let (of_key, order) = match key {
                Some(_) => (" AND key = $4", "since DESC, version DESC"),
                None => ("", "key, since, version"),
            };
            // A drawn value without a duration only repeated the one that held, so it is no value
            // of its own.
            let sql = format!(
                "SELECT {COLUMNS} FROM fact WHERE tenant = $1 AND sender = $3{of_key} AND drawn < 2 \
                 AND (drawn = 0 OR until IS NULL OR until > since) ORDER BY {order} LIMIT $2"
            );
            let key: Vec<Value> = key.into_iter().map(Value::from).collect();
            let mut facts: Vec<Fact> = tx.query(&sql, (limit, sender, key)).await?;
            // Sorted again: for one key the query returns the latest first, because of its limit.
            facts.sort_by(|a, b| (&a.key, a.since, a.version).cmp(&(&b.key, b.since, b.version)));
            Ok(facts)
        })
        .await
    }
}

/// The columns of a [`Fact`]. In `drawn`, 0 is a told value, 1 a drawn one, and 2 a retraction.
pub(crate) const COLUMNS: &str = "key, value, version, since, until, source_scope, source_conversation, source_seq, drawn, speaker";

impl FromRow for Fact {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (key, value, version) = row.read()?;
        let (since, until) = row.read()?;
        let (source, drawn): (_, u32) = row.read()?;
        Ok(Self {
            key,
            value,
            version,
            since,
            until,
            source,
            drawn: drawn > 0,
            speaker: row.read()?,
            is_retraction: drawn == 2,
        })
    }
}

impl FromRow for Option<MessageId> {
    fn from_row(row: &mut Row) -> Result<Self> {
        // A source that cannot be read costs only the source, not the fact.
        Ok(match row.read()? {
            (LenientU32(Some(scope)), LenientU32(Some(number)), LenientU32(Some(seq))) => {
                Some(ConversationId { scope, number }.message(seq))
            }
            _ => None,
        })
    }
}

/// The scopes whose drawn facts are visible.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DrawnFrom {
    /// From messages on any channel.
    Anywhere,
    /// From messages of one scope, if it exists: words from elsewhere stay where they were said.
    Scope(Option<u32>),
}

/// The facts that hold, the latest `limit` of them, sorted by key. Told facts hold everywhere
/// unless a later drawn one is visible here too.
pub(crate) async fn current(
    tx: &mut Tx<'_>,
    sender: &str,
    from: DrawnFrom,
    limit: u32,
) -> Result<Vec<Fact>> {
    let told = (" AND drawn < 2", Vec::new());
    let mut facts = latest_with(tx, sender, from, told, limit).await?;
    facts.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(facts)
}

/// The latest visible entry of each key, a value or a retraction. A value that was taken back on one
/// channel still holds on others that stated it.
pub(crate) async fn latest(
    tx: &mut Tx<'_>,
    sender: &str,
    from: DrawnFrom,
    limit: u32,
) -> Result<Vec<Fact>> {
    latest_with(tx, sender, from, ("", Vec::new()), limit).await
}

/// The same of some keys alone, with those that begin with one of them and a `/`.
pub(crate) async fn latest_of(
    tx: &mut Tx<'_>,
    sender: &str,
    from: DrawnFrom,
    keys: &[String],
    limit: u32,
) -> Result<Vec<Fact>> {
    let mut facts = Vec::new();
    for key in keys {
        // The character behind `/` is `0`: a range, which the primary key serves.
        let values = [key.clone(), format!("{key}/"), format!("{key}0")];
        let values = values.map(Value::from).into();
        let condition = " AND (fact.key = $4 OR fact.key >= $5 AND fact.key < $6)";
        facts.extend(latest_with(tx, sender, from, (condition, values), limit).await?);
    }
    Ok(facts)
}

/// The latest visible entries that meet a condition, with its values from the fourth on.
async fn latest_with(
    tx: &mut Tx<'_>,
    sender: &str,
    from: DrawnFrom,
    (condition, mut values): (&str, Vec<Value>),
    limit: u32,
) -> Result<Vec<Fact>> {
    let last = values.len() + 4;
    let is_seen = |fact: &str| match from {
        DrawnFrom::Anywhere => String::new(),
        DrawnFrom::Scope(None) => format!(" AND {fact}.drawn = 0"),
        DrawnFrom::Scope(Some(_)) => {
            format!(" AND ({fact}.drawn = 0 OR {fact}.source_scope = ${last})")
        }
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM fact WHERE tenant = $1 AND sender = $2 AND until IS NULL{}{condition} \
         AND NOT EXISTS (SELECT 1 FROM fact AS later WHERE later.tenant = $1 \
         AND later.sender = $2 AND later.key = fact.key AND later.until IS NULL{} \
         AND (later.drawn < 2 OR fact.drawn = 0 OR later.source_scope = fact.source_scope) \
         AND (later.since > fact.since \
         OR later.since = fact.since AND later.version > fact.version)) \
         ORDER BY since DESC, key LIMIT $3",
        is_seen("fact"),
        is_seen("later"),
    );
    if let DrawnFrom::Scope(Some(scope)) = from {
        values.push(scope.into());
    }
    tx.query(&sql, (sender, limit, values)).await
}

/// The place in which a fact is visible, as SQL. One value of a key holds in each place.
pub(crate) fn seen_in(fact: &str) -> String {
    format!("CASE WHEN {fact}.drawn = 0 THEN -1 ELSE coalesce({fact}.source_scope, 0) END")
}

/// Locks all facts about a sender. Locks for single facts would be taken in whatever order the
/// facts come in, and two transactions could wait for each other forever.
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
    let mut timeline = Timeline::read(tx, sender, &fact.key).await?;
    if timeline.is_told(&fact.value) {
        return Ok(());
    }
    // A told fact should hold from now on, even if an earlier statement came from a clock that was
    // ahead.
    let since = timeline.latest().map_or(now, |latest| latest.max(now));
    timeline.add(fact, since);
    timeline.save(tx).await
}

/// Keeps a fact that was told at some time in the past, perhaps before others. Returns true if it
/// is new. The caller holds the [`lock`].
pub(crate) async fn set_at(
    tx: &mut Tx<'_>,
    sender: &str,
    fact: &NewFact,
    since: Timestamp,
) -> Result<bool> {
    fact.check()?;
    let mut timeline = Timeline::read(tx, sender, &fact.key).await?;
    if timeline.knows(fact, since) {
        return Ok(false);
    }
    timeline.add(fact, since);
    timeline.save(tx).await?;
    Ok(true)
}

/// Ends the values that hold. The caller holds the [`lock`].
pub(crate) async fn end(tx: &mut Tx<'_>, sender: &str, key: &str, now: Timestamp) -> Result<bool> {
    // A value from a clock that was ahead begins in the future; it ends a microsecond after that.
    let sql = "UPDATE fact SET until = CASE WHEN since < $2 THEN $2 ELSE since + 1 END \
               WHERE tenant = $1 AND sender = $3 AND key = $4 AND until IS NULL";
    Ok(tx.execute(sql, (now, sender, key)).await? > 0)
}
