//! The audit log: key, action and subject of everything that was done. Entries are added and never updated in place,
//! and hold nothing of what anybody said.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use serde::Serialize;

use crate::error::Result;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Parameters as _, Value, from_row};

/// Something that was done, or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// A key was made.
    CreateKey,
    /// A key was revoked.
    RevokeKey,
    /// A model was asked.
    Ask,
    /// Messages or facts were kept.
    Remember,
    /// Something was forgotten.
    Forget,
    /// Conversations were read as a whole.
    Export,
    /// A request was refused that its key does not allow.
    Deny,
}

impl Action {
    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateKey => "create_key",
            Self::RevokeKey => "revoke_key",
            Self::Ask => "ask",
            Self::Remember => "remember",
            Self::Forget => "forget",
            Self::Export => "export",
            Self::Deny => "deny",
        }
    }
}

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditEntry {
    /// Counts the entries, from 1.
    pub id: u64,
    /// The time.
    pub at: Timestamp,
    /// The id of the key; none for whoever has the store itself.
    pub actor: Option<String>,
    /// The name of the action.
    pub action: String,
    /// The id of what it was done with, such as a key, a conversation or a turn.
    pub subject: Option<String>,
}

/// An entry that is waiting for its operation.
#[derive(Debug)]
pub(crate) struct Note {
    actor: Option<String>,
    action: Action,
    subject: Option<String>,
    at: Timestamp,
    is_added: AtomicBool,
}

impl Note {
    /// Adds the entry within the transaction of the operation, unless an earlier one had it.
    pub(crate) async fn add(&self, tx: &mut Tx<'_>) -> Result<()> {
        if self.is_added.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (actor, subject) = (self.actor.as_deref(), self.subject.as_deref());
        add(tx, actor, self.action, subject, self.at).await
    }

    /// Notes that the transaction was committed.
    pub(crate) fn added(&self) {
        self.is_added.store(true, Ordering::Relaxed);
    }
}

from_row!(AuditEntry: id, at, actor, action, subject);

impl Store {
    /// Adds an entry to the audit log. `subject` is an id, never somebody's words.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn audit(
        &self,
        actor: Option<&str>,
        action: Action,
        subject: Option<&str>,
        now: Timestamp,
    ) -> Result<()> {
        let (actor, subject) = (actor.map(str::to_owned), subject.map(str::to_owned));
        self.write(async move |tx| add(tx, actor.as_deref(), action, subject.as_deref(), now).await)
            .await
    }

    /// The same store, whose next operation that changes something adds an entry to the audit log: both are kept, or
    /// neither. `subject` is an id, never somebody's words. Of an operation of several transactions the first has it.
    #[must_use]
    pub fn audited(
        &self,
        actor: Option<&str>,
        action: Action,
        subject: Option<&str>,
        now: Timestamp,
    ) -> Self {
        self.with_note(Note {
            actor: actor.map(str::to_owned),
            action,
            subject: subject.map(str::to_owned),
            at: now,
            is_added: AtomicBool::new(false),
        })
    }

    /// The audit log, the latest first and at most `limit`, of one key if it is given.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn audit_log(&self, actor: Option<&str>, limit: u32) -> Result<Vec<AuditEntry>> {
        let of_actor = actor.map_or("", |_| " AND actor = $3");
        let sql = format!(
            "SELECT id, at, actor, action, subject FROM audit \
             WHERE tenant = $1{of_actor} ORDER BY id DESC LIMIT $2"
        );
        let mut values: Vec<Value> = Vec::new();
        limit.add_to(&mut values);
        values.extend(actor.map(Value::from));
        self.read(async move |tx| tx.query(&sql, values).await)
            .await
    }
}

/// Adds an entry within a transaction.
pub(crate) async fn add(
    tx: &mut Tx<'_>,
    actor: Option<&str>,
    action: Action,
    subject: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    tx.lock_exclusive("audit").await?;
    let sql = "SELECT max(id) FROM audit WHERE tenant = $1";
    let last: Option<i64> = tx.query_one(sql, ()).await?.flatten();
    let row = (last.unwrap_or(0) + 1, now, actor, action.as_str(), subject);
    tx.insert("audit (tenant, id, at, actor, action, subject)", [row])
        .await
}
