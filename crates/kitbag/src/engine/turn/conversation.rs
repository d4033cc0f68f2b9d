//! A conversation as a source: its history, its layers as a view shows them, and the context
//! messages that are due.

use kitbag_core::conversation::ConversationTurn;
use kitbag_core::inject::{ContextMessage, CooldownReading, ThrottleState, plan};
use kitbag_core::role::Role;
use kitbag_core::view::{TurnState, View, node_chunks};
use kitbag_store::{ConversationMemory, StoredMessage};

use super::TurnRequest;
use crate::engine::Contribution;

/// The part of a turn's prompt that its conversation brings.
pub(super) fn contribution(
    memory: Option<&ConversationMemory>,
    request: &TurnRequest,
) -> Contribution {
    let mut contribution = Contribution::default();
    let (mut entries, mut throttle) = (&[][..], &ThrottleState::default());
    let mut layers = request.state.clone();
    if let Some(memory) = memory {
        let stored = &memory.state;
        contribution.problems.clone_from(&stored.problems);
        (entries, throttle) = (stored.entries.as_slice(), &stored.throttle);
        layers.get_or_insert_with(|| TurnState::new(stored.layers.clone(), memory.turn));
    }
    add_context_messages(&mut contribution, request, entries, throttle);
    let mut layers = layers.unwrap_or_default();
    let messages = memory.map_or(&[][..], |memory| memory.messages.as_slice());
    let view = match &request.node {
        Some(node) => {
            // A node sees the conversation in a section of its own. Where nobody has summarised any
            // turn yet, the messages themselves are its recent turns.
            if layers.conversation.recent_turns.is_empty() {
                layers.conversation.recent_turns = exchanges(messages);
            }
            Some(node)
        }
        None => {
            let history = messages.iter().cloned();
            contribution.draft.history = history.map(StoredMessage::into_history).collect();
            let unread = memory.map_or(0, |memory| memory.unread);
            contribution.draft.unread = usize::try_from(unread).unwrap_or(usize::MAX);
            View::builtin("turn")
        }
    };
    for chunk in view
        .map(|view| node_chunks(view, &layers))
        .unwrap_or_default()
    {
        contribution.add(chunk);
    }
    contribution
}

/// Adds the context messages that are due, those of the conversation first.
fn add_context_messages(
    contribution: &mut Contribution,
    request: &TurnRequest,
    entries: &[ContextMessage],
    throttle: &ThrottleState,
) {
    let all: Vec<ContextMessage> = entries.iter().chain(&request.injected).cloned().collect();
    let plan = plan(&all, throttle, CooldownReading::default());
    contribution.draft.injected = plan.emitted;
    contribution.draft.held = plan.held;
}

/// Messages as turns: a user's message and the answer to it.
fn exchanges(messages: &[StoredMessage]) -> Vec<ConversationTurn> {
    let mut turns: Vec<ConversationTurn> = Vec::new();
    for stored in messages {
        let text = stored.text();
        match stored.message.role {
            Role::User => {
                let mut turn = ConversationTurn::new(text, "");
                turn.timestamp = stored.at.map(|at| at.to_string()).unwrap_or_default();
                turns.push(turn);
            }
            Role::Assistant => {
                if let Some(turn) = turns.last_mut() {
                    turn.assistant_summary.push_str(&text);
                }
            }
            Role::System | Role::Tool => {}
        }
    }
    turns
}
