//! One turn of a conversation: memory is read, joined with what other sources brought, and composed.
//!
//! Reads only. Whoever sends the prompt tells the store with [`TurnPrompt::sent`].

use jiff::Timestamp;
use kitbag_core::assembly::AssembleError;
use kitbag_core::context::Context;
use kitbag_core::conversation::ConversationTurn;
use kitbag_core::history::{self, HistoryRoom};
use kitbag_core::inject::{ContextMessage, CooldownReading, plan};
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use kitbag_core::tokens::TokenCounter;
use kitbag_core::view::{TurnState, View, node_chunks};
use kitbag_store::{
    ConversationId, ConversationMemory, MemoryRequest, MessageId, SentPrompt, Store, StoreError,
    StoredMessage,
};

use super::{Composed, Contribution, PromptRequest, compose, history_room, memory};

/// A turn to make a prompt for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TurnRequest {
    /// Whose turn it is, and how much to remember.
    pub memory: MemoryRequest,
    /// The message as the prompt holds it, the budget and the form.
    pub prompt: PromptRequest,
    /// The node that the prompt is for. Without one it is that of a plain conversation.
    pub node: Option<View>,
    /// Context messages for this turn, besides those that the conversation keeps.
    pub injected: Vec<ContextMessage>,
}

impl TurnRequest {
    /// A turn of a plain conversation.
    #[must_use]
    pub fn new(memory: MemoryRequest, prompt: PromptRequest) -> Self {
        Self {
            memory,
            prompt,
            node: None,
            injected: Vec::new(),
        }
    }
}

/// The prompt of a turn.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TurnPrompt {
    /// The conversation, where there is one already.
    pub conversation: Option<ConversationId>,
    /// The prompt.
    pub composed: Composed,
}

impl TurnPrompt {
    /// The prompt as the store keeps it once the first byte of the answer has arrived.
    #[must_use]
    pub fn sent(&self) -> SentPrompt {
        let Composed {
            draft,
            settings,
            assembly,
            ..
        } = self.composed.clone();
        SentPrompt::new(draft, settings, assembly)
    }

    /// The prompt for a provider that takes a system prompt, a history and a message.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_assembly(&self.composed.draft, &self.composed.assembly)
    }
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The conversation cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What must be in does not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

/// Makes the prompt of a turn: memory, joined with what other sources brought.
///
/// Nothing is changed: a prompt that is only looked at leaves no trace.
///
/// # Errors
/// When the conversation cannot be read, or when what must be in does not fit.
pub async fn turn(
    store: Option<&Store>,
    request: &TurnRequest,
    mut contributions: Vec<Contribution>,
    counter: &(dyn TokenCounter + Sync),
) -> Result<TurnPrompt, TurnError> {
    let Some(store) = store else {
        let composed = compose(&request.prompt, contributions, counter, None)?;
        return Ok(TurnPrompt {
            conversation: None,
            composed,
        });
    };
    let mut prompt = request.prompt.clone();
    prompt.history_messages = usize::try_from(request.memory.messages).unwrap_or(usize::MAX);
    let mut asked = request.memory.clone();
    // Those before the history that are told in short.
    let in_short = u32::try_from(history::TOLD_IN_SHORT).unwrap_or(u32::MAX);
    asked.messages = asked.messages.saturating_add(in_short);
    let conversation = store.read_conversation(&asked).await?;
    let (id, epoch) = conversation.as_ref().map_or((None, None), |memory| {
        (Some(memory.id), memory.state.epoch.clone())
    });
    let said = match conversation {
        Some(memory) => conversation_parts(memory, request),
        None => Contribution {
            draft: injected(request, &[], &Default::default()),
            ..Contribution::default()
        },
    };
    contributions.push(said);
    let shown = shown(&contributions, &prompt, epoch.as_ref(), counter);
    let known = store.recollect(&request.memory, id, shown).await;
    contributions.push(memory::recollections(&known, epoch.as_ref(), counter));
    Ok(TurnPrompt {
        conversation: id,
        composed: compose(&prompt, contributions, counter, epoch.as_ref())?,
    })
}

/// The conversation as parts of a draft, and its layers as chunks.
fn conversation_parts(memory: ConversationMemory, request: &TurnRequest) -> Contribution {
    let ConversationMemory {
        messages,
        unread,
        turn,
        state,
        ..
    } = memory;
    let mut contribution = Contribution {
        problems: state.problems,
        draft: injected(request, state.entries.as_slice(), &state.throttle),
        ..Contribution::default()
    };
    let mut layers = TurnState::new(state.layers, turn);
    let view = match &request.node {
        Some(node) => {
            // A node sees the conversation in its own section.
            if layers.conversation.recent_turns.is_empty() {
                layers.conversation.recent_turns = exchanges(&messages);
            }
            Some(node)
        }
        None => {
            contribution.draft.unread = usize::try_from(unread).unwrap_or(usize::MAX);
            let history = messages.into_iter().map(StoredMessage::into_history);
            contribution.draft.history = history.collect();
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
