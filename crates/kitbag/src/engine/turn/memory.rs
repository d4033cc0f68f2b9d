//! A remembered conversation as a source: its history, its layers as a view shows them, and the
//! context messages that are due.

use kitbag_core::assembly::{Draft, Epoch};
use kitbag_core::conversation::ConversationTurn;
use kitbag_core::history::{TOLD_IN_SHORT, start};
use kitbag_core::role::Role;
use kitbag_core::tokens::TokenCounter;
use kitbag_core::view::TurnState;
use kitbag_store::{
    ConversationMemory, MemoryRequest, MessageId, Store, StoreError, StoredMessage,
};

use super::TurnRequest;
use super::conversation::Conversation;
use crate::engine::{Contribution, PromptRequest, history};

/// Reads the conversation of a turn, with as many messages as the history and what is told of those
/// before it take.
pub(super) async fn read(
    store: &Store,
    memory: &MemoryRequest,
    request: &TurnRequest,
    prompt: &mut PromptRequest,
) -> Result<Conversation, StoreError> {
    prompt.history_messages = usize::try_from(memory.messages).unwrap_or(usize::MAX);
    let mut memory = memory.clone();
    let in_short = u32::try_from(TOLD_IN_SHORT).unwrap_or(u32::MAX);
    memory.messages = memory.messages.saturating_add(in_short);
    let read = store.read_conversation(&memory).await?;
    if read.id.is_none() {
        let mut begun = Conversation::new(request, read.state.entries.as_slice());
        begun.contribution.problems = read.state.problems;
        return Ok(begun);
    }
    Ok(conversation(&read, request))
}

fn conversation(memory: &ConversationMemory, request: &TurnRequest) -> Conversation {
    let state = &memory.state;
    let mut conversation = Conversation {
        id: memory.id,
        epoch: state.epoch.clone(),
        #[cfg(feature = "layouts")]
        key: state.epoch_key.clone(),
        #[cfg(feature = "layouts")]
        past: Some(super::agent::past_messages(&memory.messages)),
        #[cfg(feature = "layouts")]
        sent: memory
            .messages
            .iter()
            .filter(|stored| stored.sent_as.is_some())
            .map(|stored| stored.id.to_string())
            .collect(),
        seen_by_a_node: request
            .node
            .as_ref()
            .map(|_| memory.messages.iter().map(|stored| stored.id).collect()),
        ..Conversation::default()
    };
    conversation.add_context_messages(request, state.entries.as_slice(), &state.throttle);
    let contribution = &mut conversation.contribution;
    contribution.problems.clone_from(&state.problems);
    let under_way = request.state.clone();
    let mut layers = under_way.unwrap_or_else(|| TurnState::new(state.layers.clone(), memory.turn));
    if request.node.is_none() {
        let history = memory.messages.iter().cloned();
        contribution.draft.history = history.map(StoredMessage::into_history).collect();
        contribution.draft.unread = usize::try_from(memory.unread).unwrap_or(usize::MAX);
    } else if layers.conversation.recent_turns.is_empty() {
        // A node sees the conversation in a section of its own. Where nobody has summarised any turn
        // yet, the messages themselves are its recent turns.
        layers.conversation.recent_turns = exchanges(&memory.messages);
    }
    conversation.add_layers(request.node.as_ref(), &layers);
    conversation
}

/// The messages that need not be recalled, since the prompt will show them word for word. An estimate:
/// where it is wrong, [`compose`](crate::engine::compose) leaves out the second of two. For a node it
/// is all of its conversation: how much of that it sees is for its view to say.
pub(super) fn shown(
    conversation: &Conversation,
    contributions: &[Contribution],
    prompt: &PromptRequest,
    epoch: Option<&Epoch>,
    counter: &dyn TokenCounter,
) -> Vec<MessageId> {
    if let Some(messages) = &conversation.seen_by_a_node {
        return messages.clone();
    }
    let mut draft = Draft::new("");
    let mut unread = 0;
    for contribution in contributions {
        unread += contribution.draft.unread;
        contribution.draft.clone().put_into(&mut draft);
    }
    let room = history::room(&draft, prompt, counter);
    let start = start(&draft.history, unread, room, epoch, counter);
    let shown = draft.history.iter().skip(start);
    shown
        .filter_map(|message| message.id.as_deref()?.parse().ok())
        .collect()
}

/// Messages as turns: a user's message and the answer to it, without what no person sees.
fn exchanges(messages: &[StoredMessage]) -> Vec<ConversationTurn> {
    let mut turns: Vec<ConversationTurn> = Vec::new();
    for stored in messages.iter().filter(|one| one.message.is_for_user()) {
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
