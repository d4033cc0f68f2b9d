//! Forgets many messages at once: each block of the index is rebuilt once, and each text of a
//! prompt is searched once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Forgotten, derived, forget_conversation, prompts};
use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::export::ExportFilter;
use crate::id::{ConversationId, MessageId};
use crate::index;
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::Tx;

/// The number of messages that are read at a time.
const PAGE: u32 = 1_000;

/// The number of messages that go in one transaction, so that others need not wait long. If a later
/// one fails, those before it stay forgotten, and the next attempt continues from there.
const BATCH: usize = 1_000;

impl Store {
    /// Forgets the messages that a filter admits, and conversations that become empty.
    pub(super) async fn forget_messages(&self, filter: &ExportFilter) -> Result<Forgotten> {
        // An older text of a changed message counts as well: what was asked to be forgotten may
        // stand there alone.
        let filter = &filter.clone().in_older_texts();
        let mut forgotten = Forgotten::default();
        let (mut waiting, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = self.export(filter, after, PAGE).await?;
            for exported in page {
                waiting.push(exported?.message.id);
            }
            if waiting.len() >= BATCH || next.is_none() {
                let ids = std::mem::take(&mut waiting);
                let gone = self.write(async move |tx| forget_all(tx, ids).await);
                forgotten.add(gone.await?);
            }
            if next.is_none() {
                return Ok(forgotten);
            }
            after = next;
        }
    }
}

async fn forget_all(tx: &mut Tx<'_>, ids: Vec<MessageId>) -> Result<Forgotten> {
    tx.lock_exclusive(crate::prompt::TEXTS).await?;
    let mut scopes: BTreeMap<u32, Vec<MessageId>> = BTreeMap::new();
    for id in ids {
        scopes.entry(id.conversation.scope).or_default().push(id);
    }
    if scopes.len() > 1 {
        Scope::lock_many(tx).await?;
    }
    let mut forgotten = Forgotten::default();
    for (scope, ids) in scopes {
        if let Some(scope) = Scope::lock_by_number(tx, scope).await? {
            forgotten.add(forget_of_scope(tx, scope, ids).await?);
        }
    }
    Ok(forgotten)
}

async fn forget_of_scope(
    tx: &mut Tx<'_>,
    mut scope: Scope,
    ids: Vec<MessageId>,
) -> Result<Forgotten> {
    let mut forgotten = Forgotten::default();
    let mut conversations: BTreeMap<ConversationId, Conversation> = BTreeMap::new();
    for id in ids
        .iter()
        .map(|id| id.conversation)
        .collect::<BTreeSet<_>>()
    {
        match Conversation::lock(tx, id).await {
            Ok(locked) => drop(conversations.insert(id, locked)),
            // It was forgotten since its messages were listed.
            Err(StoreError::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let mut arrivals = BTreeSet::new();
    // A changed message is here once for each of its texts.
    let mut messages = Vec::new();
    for id in ids {
        // It may have been forgotten since it was listed.
        if let Some((arrival, texts)) = super::delete_message(tx, &mut scope, id).await? {
            arrivals.insert(arrival);
            messages.extend(texts.into_iter().map(|text| (id, text)));
        }
    }
    index::rebuild(tx, &mut scope, &arrivals).await?;
    scope.save(tx).await?;
    forgotten.messages = arrivals.len() as u64;
    let mut origins = Vec::new();
    for (id, text) in &messages {
        origins.push(format!("message/{id}"));
        origins.extend(derived::forget_from_message(tx, *id, text, &mut forgotten).await?);
    }
    let siblings = Scope::siblings(tx, scope.id).await?;
    forgotten.prompts = prompts::forget_of_messages(tx, &siblings, &origins, &messages).await?;
    for (id, conversation) in conversations {
        let of_it = messages
            .iter()
            .filter(|(message, _)| message.conversation == id);
        let gone: Vec<&str> = of_it.map(|(_, text)| text.as_ref()).collect();
        derived::forget_title(tx, &conversation, &gone).await?;
        let sql = "SELECT 1 FROM message \
                   WHERE tenant = $1 AND scope = $2 AND conversation = $3 LIMIT 1";
        if tx.query_one::<i64>(sql, id).await?.is_none() {
            forgotten.add(forget_conversation(tx, id).await?);
        }
    }
    Ok(forgotten)
}
