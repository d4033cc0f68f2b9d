//! Compacts a running conversation in two steps: its messages are read, a model may summarise them,
//! then the result is kept if the messages are unchanged.
//!
//! Nothing is locked between the steps. Messages that arrive meanwhile stand behind those that the
//! compaction replaces, and do not matter.

use kitbag_core::assembly::Epoch;
use kitbag_core::compact::{Compaction, ShownCompaction};

use crate::conversation::Conversation;
use crate::error::Result;
use crate::history::{self, Readers};
use crate::id::ConversationId;
use crate::message::StoredMessage;
use crate::scope::Scope;
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;

/// A conversation that is about to be compacted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compacting {
    /// The conversation, as it was read.
    pub conversation: Conversation,
    /// The compaction so far.
    pub before: Compaction,
    /// The messages behind those that it replaces, oldest first.
    pub messages: Vec<StoredMessage>,
    /// The number of messages between the two, beyond the limit of the request.
    pub unread: u32,
}

/// The end of an attempt to compact a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompactOutcome {
    /// The compaction is kept.
    Kept,
    /// The messages or the previous compaction have changed: nothing was kept.
    Outdated,
}

impl Store {
    /// First step: reads a conversation that is to be compacted, with at most `limit` messages.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn compacting(&self, id: ConversationId, limit: u32) -> Result<Compacting> {
        self.read(async move |tx| {
            let conversation = Conversation::get(tx, id).await?;
            let before: Compaction = state::load(tx, id).await?.unwrap_or_default();
            let mut messages = history::newest(tx, id.end(), Readers::Model, limit).await?;
            let unread = match messages.first() {
                Some(first) => history::count_before(tx, first.id).await?,
                None => 0,
            };
            messages.retain(|stored| stored.id.seq > before.through);
            Ok(Compacting {
                unread: unread.saturating_sub(before.messages),
                conversation,
                before,
                messages,
            })
        })
        .await
    }

    /// Second step: keeps a compaction, or the record of a refused attempt, unless the conversation
    /// has changed under it.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails; then nothing is changed.
    pub async fn compact(
        &self,
        compacting: Compacting,
        compaction: Compaction,
    ) -> Result<CompactOutcome> {
        let compaction = self.secrets().masked_value(compaction);
        self.write(async move |tx| {
            let id = compacting.conversation.id;
            Scope::lock(tx, id).await?;
            Conversation::lock(tx, id).await?;
            let before: Compaction = state::load(tx, id).await?.unwrap_or_default();
            let end = id.message(compaction.through.saturating_add(1));
            let is_told = |stored: &&StoredMessage| stored.id.seq < end.seq;
            let told = compacting.messages.iter().filter(is_told);
            let told: Vec<_> = told.map(|stored| (stored.id, &stored.message)).collect();
            let count = u32::try_from(told.len()).unwrap_or(u32::MAX);
            // One more than expected, so that a further message shows as well.
            let now = history::newest(tx, end, Readers::Model, count.saturating_add(1)).await?;
            let now = now.iter().filter(|stored| stored.id.seq > before.through);
            let now: Vec<_> = now.map(|stored| (stored.id, &stored.message)).collect();
            if before != compacting.before || told != now {
                return Ok(CompactOutcome::Outdated);
            }
            state::save(tx, id, &compaction).await?;
            Ok(CompactOutcome::Kept)
        })
        .await
    }
}

/// Keeps the compaction that a prompt shows, unless the conversation is another one than the prompt was made of:
/// then the prompt stays the only one that shows it.
pub(crate) async fn keep_shown(
    tx: &mut Tx<'_>,
    id: ConversationId,
    shown: &ShownCompaction,
) -> Result<()> {
    let before: Compaction = state::load(tx, id).await?.unwrap_or_default();
    let epoch: Option<Epoch> = state::load(tx, id).await?;
    // Whatever changes a message removes the epoch, and so the one that was read shows that none has changed.
    if before == shown.before && epoch.as_ref() == Some(&shown.epoch) {
        state::save(tx, id, &shown.compaction).await?;
    }
    Ok(())
}
