//! A conversation that has ended: its summary by a model in the place of the one by rules, and facts.

use std::time::Instant;

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::Tokens;
use kitbag_store::{Closing, ConversationId, FactsFromTalk, Store, StoreError};

use super::model::Model;
use super::summary::summarise;
use super::{Lessons, SUMMARY, facts};
use crate::engine::Engine;

impl Engine {
    /// Learns from a conversation that is closed. A model summarises it, unless it is no longer than a
    /// summary, and finds facts about the sender. What cannot be used leaves the summary by rules as it
    /// is. If the conversation has gone on by then, nothing is kept.
    pub async fn learn_from(&self, id: ConversationId) -> Lessons {
        let mut lessons = Lessons::default();
        let (Some(store), Some(model)) = (&self.store, Model::of(self, self.counter())) else {
            return lessons;
        };
        let begun = Instant::now();
        let turn = lessons.or_tell(store.last_turn(id).await).flatten();
        let learned = self.study(store, &model, id, &mut lessons).await;
        lessons.or_tell(learned);
        if let Some(turn) = turn.filter(|_| !lessons.is_empty()) {
            let noted = store.add_to_record(turn.id, lessons.record(begun)).await;
            lessons.or_tell(noted);
        }
        lessons
    }

    async fn study(
        &self,
        store: &Store,
        model: &Model<'_>,
        id: ConversationId,
        lessons: &mut Lessons,
    ) -> Result<(), StoreError> {
        let mut closing = store.closing(id).await?;
        closing.summary = self.summary(model, &closing, lessons).await;
        if store.facts_from_talk() == FactsFromTalk::Draw {
            let Closing {
                channel, sender, ..
            } = &closing;
            let known = store.facts_on(channel, sender, u32::MAX).await?;
            closing.facts = facts::find(model, &closing, &known, lessons).await;
        }
        if closing.summary.is_none() && closing.facts.is_empty() {
            return Ok(());
        }
        let (summary, found) = (closing.summary.clone(), closing.facts.clone());
        match store.learn_closed(closing, (self.clock)()).await? {
            true => {
                lessons.summary = summary;
                lessons.facts = found;
            }
            false => {
                let message = format!("conversation {id} has gone on: nothing was kept");
                let problem = Problem::new("learning", ProblemKind::Ignored, message);
                lessons.problems.push(problem);
            }
        }
        Ok(())
    }

    async fn summary(
        &self,
        model: &Model<'_>,
        closing: &Closing,
        lessons: &mut Lessons,
    ) -> Option<String> {
        let said = closing.utterances();
        let texts = said.iter().map(|one| self.counter().count(&one.text));
        // Rules keep next to all of what is this short.
        if texts.sum::<Tokens>() <= SUMMARY {
            return None;
        }
        summarise(model, "summary", "", said, SUMMARY, lessons).await
    }
}
