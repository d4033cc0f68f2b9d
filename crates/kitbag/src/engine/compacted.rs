//! A history that is shortened for good in the turn in which the provider's cache is lost.
//!
//! Such a turn writes the whole prompt into the cache. A history that is nearly full would be compacted a few
//! turns later, and most of the prompt would be written once more. Rules make the summary, because a prompt is
//! made without asking anybody; what they make is the same in a dry run.

use kitbag_core::assembly::Epoch;
use kitbag_core::compact::{ShownCompaction, plan};
use kitbag_core::history::message_cost;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_store::MessageId;

use super::history::{room_beside, said, share};
use super::{Contribution, PromptRequest};

/// The part of its room that a history must take, in hundredths. One that is shorter lasts long enough for its
/// compaction to pay later.
const FULL: u64 = 55;

impl Contribution {
    /// Replaces the older part of a history that is nearly full with a summary by rules. `fixed` are the tokens
    /// of everything else that must be in, and `epoch` is that of the conversation's latest prompt.
    pub(super) fn compact_history(
        &mut self,
        request: &PromptRequest,
        fixed: Tokens,
        epoch: &Epoch,
        counter: &dyn TokenCounter,
    ) -> Option<Box<ShownCompaction>> {
        // Messages that were not read cannot be summarised.
        if self.draft.unread > 0 || request.history_messages == 0 {
            return None;
        }
        let before = self.draft.compaction.clone().unwrap_or_default();
        let mut room = room_beside(fixed, self.draft.compaction.as_ref(), request, counter);
        // The instructions of the compaction before stand in front of what was said since.
        let (_, history) = self
            .draft
            .history
            .split_at_checked(before.instructions.len())?;
        let taken = history.iter().map(|one| message_cost(one, counter));
        let taken: Tokens = taken.sum();
        if u64::from(taken.0) * 100 <= u64::from(room.tokens.0) * FULL {
            return None;
        }
        if before.messages > 0 {
            // The text that stands there makes place for the new one.
            let standing = counter.count(&before.text());
            room.tokens = room.tokens.saturating_add(share(standing));
        }
        let plan = plan(history, &before, room, &said, counter).ok()?;
        let last = history.get(..plan.split)?.last()?;
        let through: MessageId = last.id.as_deref()?.parse().ok()?;
        let summary = plan.extract(counter);
        let made = plan.compact(history, through.number(), &summary, &said, counter);
        let compaction = match made {
            Ok(compaction) => compaction,
            Err(reason) => {
                tracing::debug!(event = "not_compacted", %reason);
                return None;
            }
        };
        let stays = history.iter().skip(plan.split).cloned();
        let shown = compaction.instructions.iter().cloned().chain(stays);
        self.draft.history = shown.collect();
        self.draft.compaction = Some(compaction.clone());
        let shown = ShownCompaction::new(before, epoch.clone(), compaction);
        Some(Box::new(shown))
    }
}
