//! A remembered conversation as a source: its history, its layers as a view shows them, and the
//! context messages that are due.

use kitbag_core::assembly::Epoch;
use kitbag_core::conversation::{ConversationPart, ConversationTurn, Depth};
use kitbag_core::history::{SUMMARISED, start};
use kitbag_core::inject::ContextMessage;
use kitbag_core::role::Role;
use kitbag_core::tokens::TokenCounter;
use kitbag_core::view::TurnState;
use kitbag_store::{
    ConversationMemory, MemoryRequest, MessageId, MessageTime, Store, StoreError, StoredMessage,
};

use super::TurnRequest;
use super::conversation::Conversation;
use crate::engine::{DraftParts, PromptRequest, history};

/// Reads the conversation of a turn, with as many messages as the history and the notes about those
/// before it take, and also as a layout shows them where an agent has one.
pub(super) async fn read(
    store: &Store,
    memory: &MemoryRequest,
    request: &TurnRequest,
    prompt: &mut PromptRequest,
    for_layout: bool,
) -> Result<Conversation, StoreError> {
    prompt.history_messages = match request.node {
        Some(_) => 0,
        None => usize::try_from(memory.messages).unwrap_or(usize::MAX),
    };
    let mut memory = memory.clone();
    let summarised = u32::try_from(SUMMARISED).unwrap_or(u32::MAX);
    memory.messages = memory.messages.saturating_add(summarised);
    let read = store.read_conversation(&memory).await?;
    if read.id.is_none() {
        let mut begun = Conversation::new(request, read.state.entries.as_slice());
        begun.contribution.problems = read.state.problems;
        return Ok(begun);
    }
    let past = for_layout.then(|| super::agent::past_messages(&read.messages));
    Ok(Conversation {
        past,
        ..conversation(read, request)
    })
}

fn conversation(memory: ConversationMemory, request: &TurnRequest) -> Conversation {
    let ConversationMemory {
        id,
        messages,
        unread,
        turn,
        state,
        ..
    } = memory;
    let ids = |messages: &[StoredMessage]| messages.iter().map(|stored| stored.id).collect();
    let sent = messages.iter();
    let sent = sent.filter(|stored| stored.sent_as.is_some());
    tracing::debug!(
        event = "conversation_read",
        messages = messages.len(),
        unread,
        turn,
        entries = state.entries.as_slice().len(),
    );
    let latest = messages.last().and_then(|stored| stored.at);
    let mut conversation = Conversation {
        id,
        latest: latest.map(MessageTime::timestamp),
        epoch: state.epoch,
        key: state.epoch_key,
        sent: sent.map(|stored| stored.id.to_string()).collect(),
        shown_elsewhere: request.node.as_ref().map(|_| ids(&messages)),
        ..Conversation::default()
    };
    conversation.add_context_messages(request, state.entries.as_slice(), &state.throttle);
    let contribution = &mut conversation.contribution;
    contribution.problems = state.problems;
    let under_way = request.state.clone();
    let mut layers = under_way.unwrap_or_else(|| TurnState::new(state.layers, turn));
    let unread = usize::try_from(unread).unwrap_or(usize::MAX);
    let compaction = Some(state.compaction).filter(|compaction| compaction.messages > 0);
    let instructions = compaction.iter().flat_map(|one| one.instructions.clone());
    if request.node.is_some() {
        // A node shows no history, and the operator's instructions hold whatever its view shows.
        let said = messages.iter();
        let said = said.filter(|stored| stored.message.role == Role::System);
        let said = said.cloned().map(StoredMessage::into_history);
        let operators = instructions.clone().chain(said);
        let injected = operators
            .map(|message| ContextMessage::conversation_internal_system(message.content.text()));
        contribution.draft.injected.extend(injected);
    }
    match &request.node {
        None => {
            let said = messages.into_iter().map(StoredMessage::into_history);
            contribution.draft.history = instructions.chain(said).collect();
            contribution.draft.compaction = compaction;
            contribution.draft.unread = unread;
        }
        // What was said before there were nodes is theirs, too.
        Some(_) if request.is_for_nodes => {
            if layers.conversation.recent_turns.is_empty() {
                layers.conversation.recent_turns = exchanges(&messages);
            }
        }
        // A node sees the conversation in a section of its own. Where nobody has summarised any turn
        // yet, the latest messages themselves are its recent turns, and those before them are told as
        // those of any history are, or only counted for a node that sees no summary.
        Some(node) if layers.conversation.recent_turns.is_empty() => {
            let view = &node.conversation;
            let (earlier, recent) = split_recent(&messages, view.recent_turns);
            conversation.shown_elsewhere = Some(ids(recent));
            layers.conversation.recent_turns = exchanges(recent);
            if view.shows(ConversationPart::Summary) {
                let earlier = earlier.iter().cloned();
                let said = earlier.map(StoredMessage::into_history);
                contribution.draft.history = said.collect();
                contribution.draft.unread = unread;
                contribution.draft.compaction = compaction;
            } else if view.depth != Depth::Nothing {
                let told = compaction.map_or(0, |one| one.messages);
                let told = usize::try_from(told).unwrap_or(usize::MAX);
                let unread = unread.saturating_add(told);
                contribution.draft.unread = unread.saturating_add(earlier.len());
            }
        }
        Some(_) => {}
    }
    conversation.add_layers(request, layers);
    conversation
}

/// The messages that need not be recalled, since the prompt will show them word for word. An estimate:
/// where it is wrong, [`compose`](crate::engine::compose) leaves out the second of two. For a node it
/// is all of its conversation: how much of that it sees is for its view to say.
pub(super) fn shown(
    conversation: &Conversation,
    parts: &DraftParts,
    prompt: &PromptRequest,
    epoch: Option<&Epoch>,
    counter: &dyn TokenCounter,
) -> Vec<MessageId> {
    if let Some(messages) = &conversation.shown_elsewhere {
        return messages.clone();
    }
    let room = history::room(parts, prompt, counter);
    let start = start(&parts.history, parts.unread, room, epoch, counter);
    let shown = parts.history.iter().skip(start);
    shown
        .filter_map(|message| message.id.as_deref()?.parse().ok())
        .collect()
}

/// The messages before the latest `count` exchanges, and those of these.
fn split_recent(messages: &[StoredMessage], count: usize) -> (&[StoredMessage], &[StoredMessage]) {
    let begins = messages.iter().enumerate().rev();
    let is_said =
        |stored: &StoredMessage| stored.message.role == Role::User && stored.message.is_for_user();
    let begins = begins.filter(|(_, stored)| is_said(stored));
    let start = begins.take(count).last();
    let start = start.map_or(messages.len(), |(at, _)| at);
    messages.split_at_checked(start).unwrap_or((messages, &[]))
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
                    if !turn.assistant_summary.is_empty() {
                        turn.assistant_summary.push_str("\n\n");
                    }
                    turn.assistant_summary.push_str(&text);
                }
            }
            Role::System | Role::Tool => {}
        }
    }
    turns
}
