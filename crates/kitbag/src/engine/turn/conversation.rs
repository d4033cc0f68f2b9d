//! A conversation as a source. One that begins holds only context messages.

use std::collections::BTreeSet;

#[cfg(feature = "store")]
use jiff::Timestamp;
use kitbag_core::assembly::Epoch;
use kitbag_core::inject::{ContextMessage, CooldownReading, ThrottleState, plan};
use kitbag_core::view::{TurnState, View, node_chunks};
use kitbag_layout::PastMessage;
#[cfg(feature = "store")]
use kitbag_store::{ConversationId, MessageId};

use super::TurnRequest;
use crate::engine::Contribution;

/// A conversation up to the turn at hand.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    #[cfg(feature = "store")]
    pub(super) id: Option<ConversationId>,
    /// Its messages, where something else than the history shows them: a layout all of these, a node
    /// what its view says.
    #[cfg(feature = "store")]
    pub(super) shown_elsewhere: Option<Vec<MessageId>>,
    /// Its history, its layers as a view shows them, and the context messages that are due.
    pub(super) contribution: Contribution,
    /// The time of its latest message.
    #[cfg(feature = "store")]
    pub(super) latest: Option<Timestamp>,
    /// The epoch of its latest prompt.
    pub(super) epoch: Option<Epoch>,
    /// The key of that epoch.
    pub(super) key: Option<String>,
    /// The layers, where several nodes are asked.
    pub(super) layers: Option<TurnState>,
    /// Its messages as templates see them; none where only the channel knows them.
    pub(super) past: Option<Vec<PastMessage>>,
    /// The ids of the messages that stand in the history as they were sent.
    pub(super) sent: BTreeSet<String>,
}

impl Conversation {
    /// A conversation that begins with this turn, or that nobody remembers. `entries` are those that
    /// it takes over from an earlier one.
    pub(super) fn new(request: &TurnRequest, entries: &[ContextMessage]) -> Self {
        let mut conversation = Self::default();
        conversation.add_context_messages(request, entries, &ThrottleState::default());
        if let Some(state) = &request.state {
            conversation.add_layers(request, state.clone());
        }
        conversation
    }

    /// Adds what a node sees of the layers; without a node, what an ordinary turn does. Where several nodes
    /// are asked, each adds its own.
    pub(super) fn add_layers(&mut self, request: &TurnRequest, layers: TurnState) {
        if request.is_for_nodes {
            self.layers = Some(layers);
            return;
        }
        let view = request.node.as_ref().or_else(|| View::builtin("turn"));
        let chunks = view.map(|view| node_chunks(view, &layers));
        for chunk in chunks.unwrap_or_default() {
            self.contribution.add(chunk);
        }
    }

    /// Adds the context messages that are due, those of the conversation first.
    pub(super) fn add_context_messages(
        &mut self,
        request: &TurnRequest,
        entries: &[ContextMessage],
        throttle: &ThrottleState,
    ) {
        let all: Vec<ContextMessage> = entries.iter().chain(&request.injected).cloned().collect();
        let plan = plan(&all, throttle, CooldownReading::default());
        self.contribution.draft.injected = plan.emitted;
        self.contribution.draft.held = plan.held;
    }
}
