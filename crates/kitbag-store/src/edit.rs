//! Changes the content of a message. The older content is kept as a version.
//!
//! Recall finds only the new text. Everything derived from the older one is removed: facts,
//! summaries, and its traces in the layers of the conversation. Archived prompts stay as they were
//! sent; forgetting the message empties them too.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kitbag_core::content::Content;
use kitbag_core::message::Message;
use kitbag_core::recall::analyse;
use kitbag_core::role::Visibility;

use crate::append::Analysed;
use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::fact::{self, Drawn};
use crate::forget::{self, Forgotten};
use crate::history;
use crate::id::MessageId;
use crate::index;
use crate::message::{self, NewMessage};
use crate::scope::{Scope, Share};
use crate::store::{FactsFromTalk, Store};
use crate::transaction::Tx;
use crate::value::{Row, Value};

/// An older content of a message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MessageVersion {
    /// Counts the contents of the message, from 1.
    pub number: u32,
    /// The time when the next content replaced it.
    pub replaced: Timestamp,
    /// The message as it was until then.
    pub message: Message,
}

impl Store {
    /// Replaces the content of a message, and returns `false` if it has that content already. Its
    /// role, time, reference, tool calls and visibility stay.
    ///
    /// # Errors
    /// When there is no such message, the content has no text, or the store fails.
    pub async fn edit_message(
        &self,
        id: MessageId,
        content: impl Into<Content>,
        now: Timestamp,
    ) -> Result<bool> {
        let content = content.into();
        if content.is_blank() {
            let problem = "is empty; to remove the message, forget it";
            return Err(StoreError::invalid("the new text", problem));
        }
        let (secrets, facts_from_talk) = (self.secrets(), self.facts_from_talk());
        self.write(async move |tx| {
            let scope = Scope::lock_by_number(tx, id.conversation.scope).await?;
            let mut scope = scope.ok_or_else(|| StoreError::missing("message", id))?;
            Conversation::lock(tx, id.conversation).await?;
            let stored = history::get(tx, id).await?;
            let stored = stored.ok_or_else(|| StoreError::missing("message", id))?;
            let mut message = NewMessage::from(stored.message.clone());
            message.message.content = content;
            // Masked before the comparison: the stored content is masked, and typing the same
            // secret again is no change.
            if let Some(mut mask) = secrets.mask() {
                mask.message(&mut message.message);
            }
            if stored.message.content == message.message.content {
                return Ok(false);
            }
            message.recallable = stored.recallable;
            message.at = stored.at;
            let message = Analysed::new(message, secrets, analyse)?.with_statements();
            let drawn = replace(tx, &mut scope, vec![(id, message)], now).await?;
            scope.save(tx).await?;
            if facts_from_talk == FactsFromTalk::Draw {
                let sender = Scope::sender(tx, id.conversation).await?;
                fact::draw(tx, &sender, drawn, now).await?;
            }
            Ok(true)
        })
        .await
    }

    /// The older contents of a message, oldest first; empty for a message that was never changed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn message_versions(&self, id: MessageId) -> Result<Vec<MessageVersion>> {
        self.read(async move |tx| {
            let sql = "SELECT version, replaced, role, speaker, body, json FROM message_version \
                       WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq = $4 \
                       ORDER BY version";
            let rows = tx.query::<Row>(sql, id).await?;
            rows.into_iter().map(|row| version(id, row)).collect()
        })
        .await
    }
}

fn version(id: MessageId, mut row: Row) -> Result<MessageVersion> {
    let (number, replaced) = row.read()?;
    let (role, speaker, body, json): (String, _, _, Option<String>) = row.read()?;
    let damaged = |reason: String| {
        let reason = format!("version {number} of message {id} {reason}");
        StoreError::damaged("message_version", reason)
    };
    let role = history::role(&role).ok_or_else(|| damaged("has an unknown role".to_owned()))?;
    let message =
        message::from_columns(role, speaker, body, json.as_deref(), Visibility::default());
    Ok(MessageVersion {
        number,
        replaced,
        message: message.map_err(|error| damaged(format!("is not readable: {error}")))?,
    })
}

/// Replaces messages of one scope, and returns the facts they state now. The caller has locked the
/// scope and the conversations, and saves the scope.
pub(crate) async fn replace(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    messages: Vec<(MessageId, Analysed)>,
    now: Timestamp,
) -> Result<Vec<Drawn>> {
    let (mut arrivals, mut drawn) = (BTreeSet::new(), Vec::new());
    if messages.is_empty() {
        return Ok(drawn);
    }
    for (id, mut message) in messages {
        drawn.extend(message.take_drawn(id));
        let (arrival, text) = replace_row(tx, scope, id, message, now).await?;
        arrivals.insert(arrival);
        forget::forget_derived(tx, id, &text, &mut Forgotten::default()).await?;
    }
    // Once for all messages: those of one block would otherwise rebuild it again and again.
    index::rebuild(tx, scope, &arrivals).await?;
    let siblings = Scope::siblings(tx, scope.id).await?;
    // An epoch holds texts that the next prompt would show again, and other conversations of the
    // sender may have recalled this message.
    forget::forget_epochs(tx, &siblings).await?;
    Ok(drawn)
}

/// Overwrites a row with the new content and keeps the older one as a version. Returns the
/// message's arrival and its older text.
async fn replace_row(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    id: MessageId,
    message: Analysed,
    now: Timestamp,
) -> Result<(u32, String)> {
    let sql = "SELECT arrival, recallable, internal, role, speaker, body, json FROM message \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq = $4";
    let mut row: Row = tx
        .query_one(sql, id)
        .await?
        .ok_or_else(|| StoreError::missing("message", id))?;
    let (arrival, recallable, internal): (u32, bool, bool) = row.read()?;
    let (role, speaker): (String, Option<String>) = row.read()?;
    let (body, json): (String, Option<String>) = row.read()?;
    let sql = "SELECT count(*) FROM message_version \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq = $4";
    // A count is enough: versions are removed all at once, with their message or by forgetting.
    let before: u32 = tx.query_row(sql, id).await?;
    let content = (Value::Body(body.clone()), json.map(Value::Body));
    let row = (id, before.saturating_add(1), now, (role, speaker), content);
    let into = "message_version (tenant, scope, conversation, seq, version, replaced, role, \
                speaker, body, json)";
    tx.insert(into, [row]).await?;
    if recallable {
        scope.take_off(Share::of(&analyse(&body)));
    }
    let more = i64::from(message.is_for_user()) - i64::from(!internal);
    Conversation::add_kept(tx, id.conversation, more).await?;
    message.write_over(tx, scope, id).await?;
    Ok((arrival, body))
}

/// Removes the older contents of a message, and returns their texts.
pub(crate) async fn forget_versions(tx: &mut Tx<'_>, id: MessageId) -> Result<Vec<String>> {
    let sql = "DELETE FROM message_version \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq = $4 RETURNING body";
    tx.query(sql, id).await
}
