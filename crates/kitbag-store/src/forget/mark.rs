//! Marks of forgotten messages and facts, by which an import recognises what must not come back.
//!
//! A mark is a keyed hash. For a message with a reference it covers its place and the reference;
//! for one without, its place, role, time and text. For a fact it covers sender, key and value. The
//! key is random and belongs to the tenant, so marks of two tenants or two stores cannot be
//! compared. It is kept in the same store: whoever has that can test a guess of the exact text of a
//! message without a reference, but cannot read anything from the marks.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::error::{Result, StoreError};
use crate::transaction::{Tx, placeholders};
use crate::value::{Parameters, Row, Value};

/// The number of messages that are read at a time.
const PAGE: u32 = 2_000;

/// A hash that stands for something forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark([u8; 16]);

impl From<Mark> for Value {
    fn from(mark: Mark) -> Self {
        Self::Blob(mark.0.to_vec())
    }
}

/// The parts of a message that its mark covers.
#[derive(Debug, Clone)]
pub(crate) struct MarkedMessage<'a> {
    pub(crate) channel: &'a str,
    pub(crate) sender: &'a str,
    pub(crate) conversation: Option<&'a str>,
    pub(crate) reference: Option<&'a str>,
    pub(crate) role: &'a str,
    /// Microseconds since 1970.
    pub(crate) at: Option<i64>,
    pub(crate) text: Cow<'a, str>,
}

/// The key of a tenant's marks.
pub(crate) struct MarkKey([u8; 32]);

impl MarkKey {
    /// The key, if anything was ever forgotten.
    pub(crate) async fn find(tx: &mut Tx<'_>) -> Result<Option<Self>> {
        let sql = "SELECT key FROM mark_key WHERE tenant = $1";
        let Some(bytes) = tx.query_one::<Vec<u8>>(sql, ()).await? else {
            return Ok(None);
        };
        let key = bytes.try_into().map_err(|_| {
            StoreError::damaged("mark_key", "the key does not have 32 bytes".to_owned())
        })?;
        Ok(Some(Self(key)))
    }

    async fn find_or_make(tx: &mut Tx<'_>) -> Result<Self> {
        // Without the lock two nodes would each make a key.
        tx.lock_exclusive("mark key").await?;
        if let Some(found) = Self::find(tx).await? {
            return Ok(found);
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| {
            StoreError::failed(format!("the system gives no random numbers: {error}"))
        })?;
        tx.insert("mark_key (tenant, key)", [key.to_vec()]).await?;
        Ok(Self(key))
    }

    pub(crate) fn of_message(&self, message: MarkedMessage<'_>) -> Mark {
        let place = [
            Some("message"),
            Some(message.channel),
            Some(message.sender),
            message.conversation,
            message.reference,
        ];
        let at = message.at.map(|at| at.to_string());
        let said = [Some(message.role), at.as_deref(), Some(&*message.text)];
        // With a reference, a text that was edited elsewhere is still the same message.
        let said = said.into_iter().filter(|_| message.reference.is_none());
        self.mark(place.into_iter().chain(said))
    }

    pub(crate) fn of_fact(&self, sender: &str, key: &str, value: &str) -> Mark {
        self.mark(["fact", sender, key, value].into_iter().map(Some))
    }

    fn mark<'a>(&self, fields: impl Iterator<Item = Option<&'a str>>) -> Mark {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for field in fields {
            // Each field follows its length, so no two lists of fields give the same bytes. A
            // missing field has a length that no text has.
            let length = field.map_or(u64::MAX, |field| field.len() as u64);
            hasher.update(&length.to_le_bytes());
            hasher.update(field.unwrap_or_default().as_bytes());
        }
        // 16 bytes are enough against collisions and halve the size of the table.
        let mut mark = [0; 16];
        hasher.finalize_xof().fill(&mut mark);
        Mark(mark)
    }
}

/// Those of some marks that are in the store.
pub(crate) async fn left(tx: &mut Tx<'_>, marks: &[Mark]) -> Result<BTreeSet<Mark>> {
    let mut found = BTreeSet::new();
    for some in marks.chunks(500) {
        let sql = format!(
            "SELECT mark FROM forgotten WHERE tenant = $1 AND mark IN ({})",
            placeholders(2, some.len())
        );
        let parameters: Vec<Value> = some.iter().map(|mark| Value::from(*mark)).collect();
        for bytes in tx.query::<Vec<u8>>(&sql, parameters).await? {
            found.extend(bytes.try_into().map(Mark));
        }
    }
    Ok(found)
}

/// Removes the marks of messages that come back on purpose.
pub(crate) async fn remove(tx: &mut Tx<'_>, marks: BTreeSet<Mark>) -> Result<()> {
    for mark in marks {
        let sql = "DELETE FROM forgotten WHERE tenant = $1 AND mark = $2";
        tx.execute(sql, mark).await?;
    }
    Ok(())
}

/// Leaves marks of messages that are about to be deleted: those of a scope that meet a condition,
/// whose parameters begin with `$5`. Every deletion of messages must call this first.
pub(super) async fn leave(
    tx: &mut Tx<'_>,
    scope: u32,
    condition: &str,
    parameters: impl Parameters + Clone,
) -> Result<()> {
    let key = MarkKey::find_or_make(tx).await?;
    let from = "FROM message JOIN scope ON scope.tenant = message.tenant \
                AND scope.id = message.scope JOIN conversation \
                ON conversation.tenant = message.tenant AND conversation.scope = message.scope \
                AND conversation.id = message.conversation";
    let place = "message.arrival, scope.channel, scope.sender, conversation.name, message.ref";
    let which = format!(
        "WHERE message.tenant = $1 AND message.scope = $2 AND message.arrival > $3{condition}"
    );
    let sql = format!(
        "SELECT {place}, message.role, message.at, \
         CASE WHEN message.ref IS NULL THEN message.body END {from} {which} \
         ORDER BY message.arrival LIMIT $4"
    );
    let mut after: u32 = 0;
    loop {
        let values = (scope, after, PAGE, parameters.clone());
        let rows = tx.query::<Row>(&sql, values).await?;
        let Some(last) = insert(tx, &key, rows).await? else {
            break;
        };
        after = last;
    }
    // A message without a reference is recognised by its text, so each text it ever had gets a
    // mark.
    let sql = format!(
        "SELECT {place}, message_version.role, message.at, message_version.body {from} \
         JOIN message_version ON message_version.tenant = message.tenant \
         AND message_version.scope = message.scope AND message_version.seq = message.seq \
         AND message_version.conversation = message.conversation {which} \
         AND message.ref IS NULL LIMIT $4"
    );
    let values = (scope, 0_u32, u32::MAX, parameters);
    let rows = tx.query::<Row>(&sql, values).await?;
    insert(tx, &key, rows).await.map(drop)
}

/// Inserts the marks of some messages, and returns the arrival of the last one.
async fn insert(tx: &mut Tx<'_>, key: &MarkKey, rows: Vec<Row>) -> Result<Option<u32>> {
    let mut last = None;
    let mut marks = Vec::with_capacity(rows.len());
    for mut row in rows {
        last = Some(row.read()?);
        marks.push(marked(key, row)?);
    }
    insert_marks(tx, marks).await?;
    Ok(last)
}

fn marked(key: &MarkKey, mut row: Row) -> Result<Mark> {
    let (channel, sender): (String, String) = row.read()?;
    let (conversation, reference): (Option<String>, Option<String>) = row.read()?;
    let (role, at, text): (String, _, Option<String>) = row.read()?;
    Ok(key.of_message(MarkedMessage {
        channel: &channel,
        sender: &sender,
        conversation: conversation.as_deref(),
        reference: reference.as_deref(),
        role: &role,
        at,
        // NULL for a message with a reference, whose mark covers no text.
        text: text.unwrap_or_default().into(),
    }))
}

/// Leaves marks of facts about a sender, given as keys with their values.
pub(super) async fn leave_facts(
    tx: &mut Tx<'_>,
    sender: &str,
    facts: &[(String, String)],
) -> Result<()> {
    let key = MarkKey::find_or_make(tx).await?;
    let marks = facts.iter();
    let marks = marks.map(|(name, value)| key.of_fact(sender, name, value));
    insert_marks(tx, marks.collect()).await
}

async fn insert_marks(tx: &mut Tx<'_>, marks: Vec<Mark>) -> Result<()> {
    let into = "forgotten (tenant, mark)";
    tx.insert_or(into, "ON CONFLICT DO NOTHING", marks).await
}
