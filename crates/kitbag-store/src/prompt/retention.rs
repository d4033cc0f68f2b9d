//! Removes old prompts from the archive.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{Hash, TEXTS, let_go};
use crate::error::Result;
use crate::id::ConversationId;
use crate::store::Store;
use crate::transaction::{Tx, placeholders};
use crate::value::{Parameters, Value};

/// The counts of what was removed from the archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Prompts.
    pub prompts: u64,
    /// Texts that no prompt uses any more.
    pub texts: u64,
}

impl Store {
    /// Removes prompts that were sent before `older_than`, then the oldest ones until the rest has
    /// at most `max_bytes`, as sent. Turns stay, but replaying their prompts is refused.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn prune_prompts(
        &self,
        older_than: Option<Timestamp>,
        max_bytes: Option<u64>,
    ) -> Result<Pruned> {
        self.write(async move |tx| {
            tx.lock_exclusive(TEXTS).await?;
            let mut pruned = Pruned::default();
            if let Some(before) = older_than {
                pruned.prompts += remove_before(tx, before.as_microsecond()).await?;
            }
            if let Some(most) = max_bytes {
                let oldest = oldest_within(tx, most).await?;
                pruned.prompts += remove_before(tx, oldest).await?;
            }
            pruned.texts = drop_unused_texts(tx).await?;
            Ok(pruned)
        })
        .await
    }
}

/// The time before which prompts must go so that the rest has at most `most` bytes.
async fn oldest_within(tx: &mut Tx<'_>, most: u64) -> Result<i64> {
    let sql = "SELECT sent, bytes FROM prompt WHERE tenant = $1 ORDER BY sent DESC";
    let mut left = i64::try_from(most).unwrap_or(i64::MAX);
    let mut oldest = i64::MAX;
    for (sent, bytes) in tx.query::<(i64, i64)>(sql, ()).await? {
        left = left.saturating_sub(bytes);
        if left < 0 {
            // Prompts of one moment go together, since the time alone selects them.
            return Ok(if oldest == sent { sent + 1 } else { oldest });
        }
        oldest = sent;
    }
    Ok(i64::MIN)
}

/// Removes the prompts that were sent before a time. Their texts that are in later prompts too stay.
async fn remove_before(tx: &mut Tx<'_>, sent: i64) -> Result<u64> {
    let sql = "SELECT DISTINCT scope, conversation FROM prompt WHERE tenant = $1 AND sent < $2";
    let conversations = tx.query::<ConversationId>(sql, sent).await?;
    let sql = "DELETE FROM prompt WHERE tenant = $1 AND sent < $2";
    let removed = tx.execute(sql, sent).await?;
    for conversation in conversations {
        // Texts that nobody holds any more are looked for at the end.
        let_go(tx, conversation, &mut BTreeSet::new()).await?;
    }
    Ok(removed)
}

/// Detaches the texts of whole conversations, and adds their hashes to `taken`.
pub(crate) async fn take_texts(
    tx: &mut Tx<'_>,
    which: &str,
    parameters: impl Parameters,
    taken: &mut BTreeSet<Hash>,
) -> Result<()> {
    let sql = format!("DELETE FROM prompt_text WHERE tenant = $1 AND {which} RETURNING hash");
    taken.extend(tx.query::<Hash>(&sql, parameters).await?);
    Ok(())
}

/// Removes those detached texts that no other prompt uses. The caller holds [`TEXTS`] exclusively.
pub(crate) async fn drop_taken_texts(tx: &mut Tx<'_>, taken: BTreeSet<Hash>) -> Result<()> {
    let taken: Vec<Value> = taken.into_iter().map(Value::from).collect();
    for some in taken.chunks(500) {
        let sql = format!(
            "DELETE FROM text WHERE tenant = $1 AND hash IN ({}) AND NOT EXISTS \
             (SELECT 1 FROM prompt_text WHERE prompt_text.tenant = $1 \
             AND prompt_text.hash = text.hash)",
            placeholders(2, some.len())
        );
        tx.execute(&sql, some.to_vec()).await?;
    }
    Ok(())
}

/// Removes all texts that no prompt uses. The caller holds [`TEXTS`] exclusively.
async fn drop_unused_texts(tx: &mut Tx<'_>) -> Result<u64> {
    let sql = "DELETE FROM text WHERE tenant = $1 AND NOT EXISTS (SELECT 1 FROM prompt_text \
               WHERE prompt_text.tenant = text.tenant AND prompt_text.hash = text.hash)";
    tx.execute(sql, ()).await
}
