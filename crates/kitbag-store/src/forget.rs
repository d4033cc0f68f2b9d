//! Forgets messages and everything derived from them: rows, index, prompts.

mod derived;
mod mark;
mod messages;
mod prompts;

use std::collections::BTreeSet;

use jiff::Timestamp;
use kitbag_core::recall::analyse;
use serde::Serialize;

use crate::conversation::Conversation;
use crate::edit;
use crate::error::{Result, StoreError};
use crate::export::ExportFilter;
use crate::fact::{self, Fact, Timeline};
use crate::id::{ConversationId, MessageId};
use crate::index;
use crate::refusal;
use crate::schema;
use crate::scope::{Scope, Share};
use crate::store::Store;
use crate::transaction::Tx;

pub(crate) use derived::forget_from_message as forget_derived;
pub(crate) use mark::{Mark, MarkKey, MarkedMessage, left as left_marks, remove as remove_marks};
pub(crate) use prompts::forget_epochs;

/// The things to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forget {
    /// One message, and what was learned from it.
    Message(MessageId),
    /// A fact about a sender, with its history.
    Fact {
        /// The sender it is about.
        sender: String,
        /// The key of the fact.
        key: String,
    },
    /// The part of a fact that one channel sees: the told values, and those drawn from messages
    /// there.
    FactOn {
        /// The channel.
        channel: String,
        /// The sender it is about.
        sender: String,
        /// The key of the fact.
        key: String,
    },
    /// A conversation.
    Conversation(ConversationId),
    /// The messages that a filter admits, in as many transactions as they need. Conversations that
    /// become empty go too.
    Messages(ExportFilter),
    /// The refusals on a channel that are older than a time.
    Refusals {
        /// The channel that the messages came in by.
        channel: String,
        /// Later ones stay.
        before: Timestamp,
    },
    /// Everything about a sender.
    Sender(String),
    /// Everything that the tenant has.
    Tenant,
}

/// The counts of what was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Forgotten {
    /// Messages.
    pub messages: u64,
    /// Values of facts.
    pub facts: u64,
    /// Conversations.
    pub conversations: u64,
    /// Summaries.
    pub summaries: u64,
    /// Prompts that can no longer be rebuilt.
    pub prompts: u64,
    /// Refusals of messages.
    pub refusals: u64,
    /// True if SQLite's log was emptied too. While another process reads the file, the log may keep
    /// forgotten text until [`Store::vacuum`] empties it.
    pub is_log_clear: bool,
    /// True if pages of PostgreSQL may still hold forgotten text, until [`Store::vacuum_full`]
    /// rewrites the tables or the server reuses the space.
    pub in_pages: bool,
}

impl Forgotten {
    fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.facts += other.facts;
        self.conversations += other.conversations;
        self.summaries += other.summaries;
        self.prompts += other.prompts;
        self.refusals += other.refusals;
    }
}

impl Store {
    /// Forgets something: rows, index and archived prompts lose it, and everything derived from it.
    /// SQLite also overwrites it in the file and its log.
    ///
    /// # Errors
    /// When there is no such thing, or the store fails.
    pub async fn forget(&self, what: Forget) -> Result<Forgotten> {
        let mut forgotten = match what {
            Forget::Messages(filter) => self.forget_messages(&filter).await?,
            Forget::Fact { sender, key } => {
                // Keys are stored with their secrets masked, so the given one must be masked to be
                // found.
                let key = self.secrets().masked_name(key);
                let fact = Forget::Fact { sender, key };
                self.write(async move |tx| forget(tx, fact).await).await?
            }
            Forget::FactOn {
                channel,
                sender,
                key,
            } => {
                let key = self.secrets().masked_name(key);
                let fact = Forget::FactOn {
                    channel,
                    sender,
                    key,
                };
                self.write(async move |tx| forget(tx, fact).await).await?
            }
            one => self.write(async move |tx| forget(tx, one).await).await?,
        };
        // What was forgotten is gone from the tables even if the log cannot be emptied now: a
        // field, and no error.
        forgotten.is_log_clear = self.clear_log().await.is_ok();
        #[cfg(feature = "postgres")]
        {
            forgotten.in_pages = self.server().is_some();
        }
        Ok(forgotten)
    }
}

async fn forget(tx: &mut Tx<'_>, what: Forget) -> Result<Forgotten> {
    // Texts of prompts are shared: of two transactions that drop the last uses of one, neither would
    // see that the other does so too.
    tx.lock_exclusive(crate::prompt::TEXTS).await?;
    match what {
        Forget::Message(id) => forget_message(tx, id).await,
        Forget::Fact { sender, key } => forget_fact(tx, None, &sender, &key).await,
        Forget::FactOn {
            channel,
            sender,
            key,
        } => forget_fact(tx, Some(&channel), &sender, &key).await,
        Forget::Conversation(id) => forget_conversation(tx, id).await,
        Forget::Refusals { channel, before } => Ok(Forgotten {
            refusals: refusal::forget_older(tx, channel, before).await?,
            ..Forgotten::default()
        }),
        Forget::Sender(sender) => forget_sender(tx, &sender).await,
        Forget::Tenant => forget_tenant(tx).await,
        // `forget_messages` runs these in transactions of its own.
        Forget::Messages(_) => Ok(Forgotten::default()),
    }
}

/// Deletes a message with its older contents, leaves a mark of it and subtracts it from the totals
/// of its scope. Returns its arrival and its texts, the latest first; none if it does not exist.
/// The caller has locked scope and conversation, rebuilds the index, and saves the scope.
async fn delete_message(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    id: MessageId,
) -> Result<Option<(u32, Vec<String>)>> {
    // Before the row goes: the mark is a hash over it.
    let it = " AND message.conversation = $5 AND message.seq = $6";
    mark::leave(tx, scope.id, it, (id.conversation.number, id.seq)).await?;
    let sql = "DELETE FROM message \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq = $4 \
               RETURNING arrival, recallable, internal, body";
    let found: Option<(u32, bool, bool, String)> = tx.query_one(sql, id).await?;
    let Some((arrival, recallable, internal, text)) = found else {
        return Ok(None);
    };
    if !internal {
        Conversation::add_kept(tx, id.conversation, -1).await?;
    }
    // The next message repeats traits of this one, which are derived from its text.
    let sql = "UPDATE message SET previous_traits = NULL \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq = $4";
    let next = id.conversation.message(id.seq.saturating_add(1));
    tx.execute(sql, next).await?;
    // An error may quote the request, and so may those of later turns, which sent the message
    // again.
    let sql = "UPDATE turn SET problem = NULL, record = NULL WHERE tenant = $1 AND scope = $2 \
               AND conversation = $3 AND (message >= $4 OR reply >= $4) \
               AND (problem IS NOT NULL OR record IS NOT NULL)";
    tx.execute(sql, id).await?;
    if recallable {
        scope.take_off(Share::of(&analyse(&text)));
    }
    let mut texts = vec![text];
    texts.extend(edit::forget_versions(tx, id).await?);
    Ok(Some((arrival, texts)))
}

async fn forget_message(tx: &mut Tx<'_>, id: MessageId) -> Result<Forgotten> {
    let missing = || StoreError::missing("message", id);
    let scope = Scope::lock_by_number(tx, id.conversation.scope).await?;
    let mut scope = scope.ok_or_else(missing)?;
    let conversation = Conversation::lock(tx, id.conversation).await?;
    let found = delete_message(tx, &mut scope, id).await?;
    let (arrival, texts) = found.ok_or_else(missing)?;
    index::rebuild(tx, &mut scope, &BTreeSet::from([arrival])).await?;
    scope.save(tx).await?;

    let mut forgotten = Forgotten {
        messages: 1,
        ..Forgotten::default()
    };
    let mut origins = vec![format!("message/{id}")];
    for text in &texts {
        origins.extend(derived::forget_from_message(tx, id, text, &mut forgotten).await?);
    }
    let gone: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    derived::forget_title(tx, &conversation, &gone).await?;
    let name = format!("message {id}");
    let scopes = Scope::siblings(tx, scope.id).await?;
    let message = Some((id, texts.as_slice()));
    forgotten.prompts = prompts::forget(tx, &scopes, &origins, message, &name).await?;
    Ok(forgotten)
}

/// Forgets the values of a fact, or only those that a channel sees.
async fn forget_fact(
    tx: &mut Tx<'_>,
    channel: Option<&str>,
    sender: &str,
    key: &str,
) -> Result<Forgotten> {
    fact::lock(tx, sender).await?;
    let scope = match channel {
        Some(channel) => Scope::find(tx, channel, sender).await?,
        None => None,
    };
    let scope = scope.map(|scope| scope.id);
    let is_gone = |fact: &Fact| channel.is_none() || fact.is_seen_in(scope);
    let timeline = Timeline::read(tx, sender, key).await?;
    let gone: Vec<Fact> = timeline
        .values()
        .iter()
        .filter(|fact| is_gone(fact))
        .cloned()
        .collect();
    if gone.is_empty() {
        return Err(StoreError::missing("fact", key));
    }
    let sql = "DELETE FROM fact WHERE tenant = $1 AND sender = $2 AND key = $3 AND version = $4";
    for fact in &gone {
        tx.execute(sql, (sender, key, fact.version)).await?;
    }
    timeline.save_without(tx, is_gone).await?;
    let facts: Vec<(String, String)> = gone
        .iter()
        .map(|fact| (key.to_owned(), fact.value.clone()))
        .collect();
    mark::leave_facts(tx, sender, &facts).await?;
    // A told value may be in prompts of any channel.
    let is_told = gone.iter().any(|fact| !fact.drawn);
    let scopes = Scope::all_of(tx, sender)
        .await?
        .into_iter()
        .map(|scope| scope.id);
    let scopes = scopes.filter(|one| channel.is_none() || is_told || Some(*one) == scope);
    let scopes: Vec<u32> = scopes.collect();
    let origins = [format!("fact/{key}")];
    let prompts = prompts::forget(tx, &scopes, &origins, None, &format!("fact {key}")).await?;
    Ok(Forgotten {
        facts: facts.len() as u64,
        prompts,
        ..Forgotten::default()
    })
}

async fn forget_conversation(tx: &mut Tx<'_>, id: ConversationId) -> Result<Forgotten> {
    let mut scope = Scope::lock(tx, id).await?;
    Conversation::lock(tx, id).await?;
    mark::leave(tx, id.scope, " AND message.conversation = $5", id.number).await?;
    let sql = "DELETE FROM message WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
               RETURNING arrival, seq, recallable, body";
    let mut arrivals = BTreeSet::new();
    let mut origins = Vec::new();
    for (arrival, seq, recallable, body) in tx.query::<(u32, u32, bool, String)>(sql, id).await? {
        arrivals.insert(arrival);
        origins.push(format!("message/{}", id.message(seq)));
        if recallable {
            scope.take_off(Share::of(&analyse(&body)));
        }
    }
    let mut forgotten = Forgotten {
        messages: arrivals.len() as u64,
        conversations: 1,
        ..Forgotten::default()
    };
    for (table, column) in [
        ("message_version", "conversation"),
        ("state", "conversation"),
        ("extension_state", "conversation"),
        ("lease", "conversation"),
        ("turn", "conversation"),
        ("conversation", "id"),
    ] {
        let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND scope = $2 AND {column} = $3");
        tx.execute(&sql, id).await?;
    }
    index::rebuild(tx, &mut scope, &arrivals).await?;
    scope.save(tx).await?;
    origins.extend(derived::forget_from_conversation(tx, id, &mut forgotten).await?);
    forgotten.prompts = prompts::remove_of_conversation(tx, id).await?;
    let name = format!("conversation {id}");
    let scopes = Scope::siblings(tx, id.scope).await?;
    forgotten.prompts += prompts::forget(tx, &scopes, &origins, None, &name).await?;
    Ok(forgotten)
}

async fn forget_sender(tx: &mut Tx<'_>, sender: &str) -> Result<Forgotten> {
    // Before any single scope, as everybody who locks several does.
    Scope::lock_many(tx).await?;
    let scopes = Scope::all_of(tx, sender).await?;
    for scope in &scopes {
        Scope::lock_by_number(tx, scope.id).await?;
    }
    fact::lock(tx, sender).await?;
    let sql = "DELETE FROM fact WHERE tenant = $1 AND sender = $2 RETURNING key, value";
    let facts: Vec<(String, String)> = tx.query(sql, sender).await?;
    mark::leave_facts(tx, sender, &facts).await?;
    let mut forgotten = Forgotten {
        facts: facts.len() as u64,
        ..Forgotten::default()
    };
    forgotten.refusals = refusal::forget(tx, sender).await?;
    if scopes.is_empty() && forgotten.facts == 0 && forgotten.refusals == 0 {
        return Err(StoreError::missing("sender", sender));
    }
    let tables = schema::tables();
    // Texts are dropped after all scopes: one text may belong to prompts of several.
    let mut taken = BTreeSet::new();
    for scope in scopes {
        mark::leave(tx, scope.id, "", ()).await?;
        crate::prompt::take_texts(tx, "scope = $2", scope.id, &mut taken).await?;
        for table in tables.iter().filter(|table| table.has("scope")) {
            let table = table.name;
            let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND scope = $2");
            let gone = tx.execute(&sql, scope.id).await?;
            match table {
                "message" => forgotten.messages += gone,
                "conversation" => forgotten.conversations += gone,
                "summary" => forgotten.summaries += gone,
                "prompt" => forgotten.prompts += gone,
                _ => {}
            }
        }
        let sql = "DELETE FROM scope WHERE tenant = $1 AND id = $2";
        tx.execute(sql, scope.id).await?;
    }
    crate::prompt::drop_taken_texts(tx, taken).await?;
    Ok(forgotten)
}

/// Removes everything of a tenant, even the counters of numbers that were given out.
async fn forget_tenant(tx: &mut Tx<'_>) -> Result<Forgotten> {
    Scope::lock_many(tx).await?;
    for scope in Scope::all(tx).await? {
        Scope::lock_by_number(tx, scope.id).await?;
    }
    let mut forgotten = Forgotten::default();
    for table in schema::tables() {
        let sql = format!("DELETE FROM {} WHERE tenant = $1", table.name);
        let gone = tx.execute(&sql, ()).await?;
        match table.name {
            "message" => forgotten.messages = gone,
            "fact" => forgotten.facts = gone,
            "conversation" => forgotten.conversations = gone,
            "summary" => forgotten.summaries = gone,
            "prompt" => forgotten.prompts = gone,
            "refusal" => forgotten.refusals = gone,
            _ => {}
        }
    }
    Ok(forgotten)
}
