//! Compaction of a running conversation, after a reply.

use std::time::Instant;

use kitbag_core::compact::{Compaction, CompactionPlan, CompactionRefused, plan};
use kitbag_core::history::HistoryRoom;
use kitbag_core::message::Message;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::TokenCounter;
use kitbag_store::{
    CompactOutcome, Compacting, ConversationId, Store, StoreError, StoredMessage, TurnId,
};

use super::Lessons;
use super::model::Model;
use super::summary::summarise;
use crate::engine::{Engine, said, share};

/// The most messages that are compacted at once.
const MESSAGES: u32 = 2_000;

impl Engine {
    /// Summarises the older part of a conversation from now on, or tells why not.
    pub(super) async fn compact(&self, turn: TurnId, room: HistoryRoom, lessons: &mut Lessons) {
        let Some(store) = &self.store else {
            return;
        };
        // Its own lessons, for the record of this turn.
        let mut own = Lessons::default();
        let begun = Instant::now();
        let compacted = self
            .compact_with(store, turn.conversation(), room, &mut own)
            .await;
        own.or_tell(compacted);
        if !own.is_empty() {
            let noted = store.add_to_record(turn, own.record(begun)).await;
            own.or_tell(noted);
        }
        lessons.compacted = own.compacted;
        lessons.inferences.extend(own.inferences);
        lessons.problems.extend(own.problems);
    }

    async fn compact_with(
        &self,
        store: &Store,
        id: ConversationId,
        mut room: HistoryRoom,
        lessons: &mut Lessons,
    ) -> Result<(), StoreError> {
        let compacting = store.compacting(id, MESSAGES).await?;
        let count = compacting.conversation.messages;
        if !compacting.before.may_try(count) {
            return Ok(());
        }
        // As the room was counted.
        let counter = self.calibrated_counter().await?;
        if compacting.before.messages > 0 {
            // The text that stands there makes place for the new one.
            let standing = counter.count(&compacting.before.text());
            room.tokens = room.tokens.saturating_add(share(standing));
        }
        let made = self.compaction(&compacting, room, counter.as_ref(), lessons);
        let kept = match made.await {
            Ok(compaction) => {
                let told = compaction.messages;
                let outcome = store.compact(compacting, compaction).await?;
                let told = (outcome == CompactOutcome::Kept).then_some(told);
                lessons.compacted = told;
                told.is_some()
            }
            Err(reason) => {
                let message = format!("conversation {id} is not summarised: {reason}");
                let problem = Problem::new("learning", ProblemKind::Ignored, message);
                lessons.problems.push(problem);
                let before = compacting.before.clone();
                let refused = before.refused(count, reason.to_string());
                let outcome = store.compact(compacting, refused).await?;
                outcome == CompactOutcome::Kept
            }
        };
        if !kept {
            let message = format!("conversation {id} was changed meanwhile: nothing was kept");
            let problem = Problem::new("learning", ProblemKind::Ignored, message);
            lessons.problems.push(problem);
        }
        Ok(())
    }

    /// The compaction, with a summary by the model if there is one that can be used.
    async fn compaction(
        &self,
        compacting: &Compacting,
        room: HistoryRoom,
        counter: &dyn TokenCounter,
        lessons: &mut Lessons,
    ) -> Result<Compaction, CompactionRefused> {
        if compacting.unread > 0 {
            return Err(CompactionRefused::TooMany {
                most: usize::try_from(MESSAGES).unwrap_or(usize::MAX),
            });
        }
        let history = compacting.messages.iter().cloned();
        let history: Vec<Message> = history.map(StoredMessage::into_history).collect();
        let plan = plan(&history, &compacting.before, room, &said, counter)?;
        let mut leaving = compacting.messages.iter().take(plan.split);
        let through = leaving.next_back().ok_or(CompactionRefused::NothingOlder)?;
        let through = through.id.number();
        let compact = |summary: &str| plan.compact(&history, through, summary, &said, counter);
        let by_rules = plan.extract(counter);
        // What is refused with a summary by rules need not be paid for.
        let made = compact(&by_rules)?;
        let Some(summary) = self.model_summary(&plan, counter, lessons).await else {
            return Ok(made);
        };
        match compact(&summary) {
            Ok(mut compaction) => {
                compaction.by_model = true;
                Ok(compaction)
            }
            Err(reason) => {
                let problem = format!("the model's compaction cannot be used: {reason}");
                lessons.problems.push(Problem::failed("learning", problem));
                Ok(made)
            }
        }
    }

    async fn model_summary(
        &self,
        plan: &CompactionPlan,
        counter: &dyn TokenCounter,
        lessons: &mut Lessons,
    ) -> Option<String> {
        let model = Model::of(self, counter)?;
        let texts = plan.utterances.clone();
        let before = &plan.before.summary;
        summarise(&model, "compaction", before, texts, plan.limit, lessons).await
    }
}
