//! A turn that the store keeps.

use std::sync::Arc;

use jiff::Timestamp;
use kitbag_core::message::{Message, MessageMetadata};
use kitbag_core::record::TurnRecord;
use kitbag_core::stored::ConversationContext;
use kitbag_core::tokens::TokenCounter;
use kitbag_core::view::TurnState;
use kitbag_store::{Learned, Lease, NewMessage, Store, StoreError, StoredTurn};
use serde_json::json;

use super::AnswerError;
use crate::extension::ExtensionHost;
use crate::learn::{ClosedLayers, layers_after};
use crate::provider::Reply;

pub(super) struct Kept<'a> {
    pub(super) store: &'a Store,
    pub(super) lease: Lease,
    pub(super) clock: fn() -> Timestamp,
    pub(super) counter: &'a (dyn TokenCounter + Sync),
    /// The user's words.
    pub(super) user: String,
    /// The layers as the turn has them, where somebody works with them.
    pub(super) state: Option<TurnState>,
    /// True where the steps of the turn are in them already.
    pub(super) has_traced: bool,
    /// The layers as the turn left them, once it has ended.
    pub(super) closed: Option<Arc<ClosedLayers>>,
}

impl Kept<'_> {
    pub(super) async fn fail(
        &self,
        problem: &str,
        record: TurnRecord,
    ) -> Result<StoredTurn, StoreError> {
        let now = (self.clock)();
        self.store.failed(&self.lease, problem, record, now).await
    }

    /// Keeps the steps and the answer, or the part that arrived.
    pub(super) async fn end(
        &mut self,
        steps: &[Message],
        reply: &Reply,
        record: TurnRecord,
        problem: Option<&AnswerError>,
        host: &mut ExtensionHost,
    ) -> Result<StoredTurn, StoreError> {
        // A turn that failed leaves nothing of what extensions keep.
        let is_done = matches!(problem, None | Some(AnswerError::Ended { .. }));
        let problem = problem.map(ToString::to_string);
        if !reply.says_something() && steps.is_empty() {
            let problem = problem.unwrap_or_else(|| "the answer is empty".to_owned());
            return self.fail(&problem, record).await;
        }
        let now = (self.clock)();
        let mut learned = Learned::default();
        learned.steps = steps.to_vec();
        if is_done {
            (learned.extensions, learned.entries) = host.kept();
        }
        self.closed = self.layers(steps, reply, now).await?.map(Arc::new);
        let closed = self.closed.as_ref();
        learned.layers = closed.map(|closed| closed.by_rules.clone());
        if reply.says_something() {
            let message = Self::message(reply, &record, problem);
            learned.reply = Some(NewMessage::from(message).at(now));
        }
        learned.record = record;
        self.store.learned(&self.lease, learned, now).await
    }

    /// The message that is kept of an answer.
    fn message(reply: &Reply, record: &TurnRecord, problem: Option<String>) -> Message {
        let mut message = Message::assistant(reply.content());
        let mut metadata = MessageMetadata::default();
        let sent = record.inferences.last();
        let model = sent.and_then(|sent| sent.model.as_deref());
        let stop = reply.stop.as_ref();
        let told = [
            ("model", model.map(|model| json!(model))),
            ("stop", stop.map(|stop| json!(stop.as_str()))),
            ("incomplete", problem.map(|problem| json!(problem))),
        ];
        let told = told.into_iter();
        let told = told.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        metadata.extra.extend(told);
        message.metadata = Some(metadata);
        message
    }

    /// The layers after the turn, where the conversation has any.
    async fn layers(
        &self,
        steps: &[Message],
        reply: &Reply,
        now: Timestamp,
    ) -> Result<Option<ClosedLayers>, StoreError> {
        let state = match &self.state {
            Some(state) => state.clone(),
            None => {
                let turn = self.lease.turn;
                let layers = self.store.layers(turn.conversation()).await?;
                if layers == ConversationContext::default() {
                    return Ok(None);
                }
                TurnState::new(layers, turn.number())
            }
        };
        let now = now.to_string();
        let steps = match self.has_traced {
            true => &[],
            false => steps,
        };
        let layers = layers_after(state, &self.user, (steps, reply), now, self.counter);
        Ok(Some(layers))
    }
}
