//! Learning after a reply.

use std::sync::Arc;

use kitbag_core::history::{HistoryRoom, message_cost};
use kitbag_core::message::Message;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_store::{CloseOutcome, IDLE, TurnId};

use super::{ClosedLayers, Learning, Lessons, SUMMARY};
use crate::answer::Answer;
use crate::engine::{Composed, Engine};

/// All that learning needs to know of a turn that has ended.
#[derive(Debug, Clone)]
pub struct AfterTurn {
    turn: TurnId,
    /// The room of the history, where the next prompt would leave messages out.
    full: Option<HistoryRoom>,
    /// The layers, where the conversation has any.
    layers: Option<Arc<ClosedLayers>>,
}

impl Engine {
    /// Returns what a turn leaves to learn from; none where nothing is remembered.
    pub async fn after(&self, answer: &Answer) -> Option<AfterTurn> {
        let turn = answer.turn.as_ref()?.id;
        let reply = Message::assistant(answer.reply.content());
        // As the room was counted. A store that cannot tell is a problem of what comes next.
        let counter = self.calibrated_counter().await;
        let counter = counter.as_deref().unwrap_or(self.counter());
        let full = full(&answer.prompt.composed, &reply, counter);
        let layers = answer.layers.clone();
        Some(AfterTurn { turn, full, layers })
    }

    /// Learns after a turn: summarises the conversation before, if it ended by silence and nobody has
    /// learned from it, makes the summaries that the layers of this one need, and compacts the one at hand, if the next prompt would leave messages out. Comes
    /// back when that is done; the reply waits for none of it.
    pub async fn learn_after(&self, after: AfterTurn) -> Lessons {
        let mut lessons = Lessons::default();
        if self.learning == Learning::Off {
            return lessons;
        }
        Box::pin(self.close_silent(after.turn, &mut lessons)).await;
        if let Some(layers) = &after.layers {
            Box::pin(self.summarise_layers(after.turn, layers, &mut lessons)).await;
        }
        if let Some(room) = after.full {
            Box::pin(self.compact(after.turn, room, &mut lessons)).await;
        }
        lessons
    }

    async fn close_silent(&self, turn: TurnId, lessons: &mut Lessons) {
        let Some(store) = &self.store else {
            return;
        };
        let now = (self.clock)();
        let silent = store.silent_before(turn.conversation(), IDLE, now).await;
        let Some(Some(id)) = lessons.or_tell(silent) else {
            return;
        };
        let Some(closing) = lessons.or_tell(store.closing(id).await) else {
            return;
        };
        let closed = store.close(closing, SUMMARY, self.counter(), now).await;
        if let Some(CloseOutcome::Closed(_)) = lessons.or_tell(closed) {
            let learned = self.learn_from(id).await;
            *lessons = Lessons {
                closed: Some(id),
                ..learned
            };
        }
    }
}

/// The room of a prompt's history, if the next exchange would not have its place there.
fn full(composed: &Composed, reply: &Message, counter: &dyn TokenCounter) -> Option<HistoryRoom> {
    let room = composed.history_room;
    let draft = &composed.draft;
    // A node shows no history.
    if room.messages == 0 {
        return None;
    }
    let cost = |message: &Message| message_cost(message, counter);
    let history: Tokens = draft.history.iter().map(cost).sum();
    let exchange = cost(&draft.current).saturating_add(cost(reply));
    let next = exchange.max(Tokens(room.tokens.0 / 16));
    let tokens = history.saturating_add(exchange).saturating_add(next);
    let messages = draft.history.len().saturating_add(4);
    let left_out =
        |problem: &Problem| problem.source == "history" && problem.kind == ProblemKind::LeftOut;
    let is_full = tokens > room.tokens
        || messages > room.messages
        || composed.assembly.ledger.problems.iter().any(left_out);
    is_full.then_some(room)
}
