//! Empties archived prompts that cannot be rebuilt.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::id::TurnId;
use crate::prompt::{drop_taken_texts, let_go};
use crate::transaction::Tx;

/// The note in a prompt that was emptied.
const REASON: &str = "a damaged row";

/// Empties the prompts that lack a text. The caller holds the lock on texts exclusively.
pub(super) async fn without_texts(tx: &mut Tx<'_>) -> Result<()> {
    let sql = "SELECT DISTINCT scope, conversation, turn, inference FROM prompt_text \
               WHERE tenant = $1 AND NOT EXISTS (SELECT 1 FROM text \
               WHERE text.tenant = $1 AND text.hash = prompt_text.hash)";
    loop {
        let lacking = tx.query::<(TurnId, u32)>(sql, ()).await?;
        if lacking.is_empty() {
            return Ok(());
        }
        // The next prompts that held the text come up then.
        for (turn, inference) in lacking {
            give_up(tx, turn, inference).await?;
        }
    }
}

/// The prompts that should rebuild to what was sent.
pub(super) async fn archived(tx: &mut Tx<'_>) -> Result<Vec<(TurnId, u32)>> {
    let sql = "SELECT scope, conversation, turn, inference FROM prompt WHERE tenant = $1 \
               AND forgotten IS NULL ORDER BY scope, conversation, turn, inference";
    tx.query(sql, ()).await
}

/// Empties a prompt. Its row still says that it was sent, and when.
pub(super) async fn give_up(tx: &mut Tx<'_>, turn: TurnId, inference: u32) -> Result<()> {
    tx.lock_exclusive(crate::prompt::TEXTS).await?;
    let sql = "UPDATE prompt SET recipe = NULL, forgotten = $2 WHERE tenant = $1 AND scope = $3 \
               AND conversation = $4 AND turn = $5 AND inference = $6";
    tx.execute(sql, (REASON, turn, inference)).await?;
    let mut taken = BTreeSet::new();
    let_go(tx, turn.conversation(), &mut taken).await?;
    drop_taken_texts(tx, taken).await
}
