//! Lines of the ledger for context messages. They are not chosen, but they take their share of the
//! budget like everything else, and one that is held back has a reason.

use alloc::format;

use super::ledger::{Ledger, LedgerEntry, Reason};
use crate::chunk::{ChunkId, ChunkType, ContextPriority, Detail, Relevance};
use crate::inject::{ContextMessage, Held};
use crate::rank::Score;
use crate::tokens::{TokenCounter, Tokens};

impl Ledger {
    /// Adds a line for each context message that is in the prompt, under the key of its base prompt, and for each
    /// that was held back.
    pub fn add_context_messages<'m>(
        &mut self,
        injected: impl Iterator<Item = &'m ContextMessage>,
        key: Option<&str>,
        held: &[Held],
        counter: &dyn TokenCounter,
    ) {
        let shown = injected.map(|message| {
            let tokens = counter.count(&message.under(key).content);
            line(&message.key, Some(Detail::Full), tokens, Reason::Injected)
        });
        let held = held
            .iter()
            .map(|held| line(&held.key, None, Tokens::ZERO, held.reason));
        self.entries.extend(shown.chain(held));
    }
}

fn line(key: &str, level: Option<Detail>, tokens: Tokens, reason: Reason) -> LedgerEntry {
    let source = format!("reminder/{key}");
    LedgerEntry {
        id: ChunkId::new(&ChunkType::Reminder, &source),
        source,
        chunk_type: ChunkType::Reminder,
        // Like a critical chunk it is in without being weighed against others.
        priority: ContextPriority::Critical,
        relevance: Relevance::CERTAIN,
        score: Score::default(),
        level,
        worth: 0,
        tokens,
        reason,
    }
}
