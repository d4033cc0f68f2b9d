//! One turn of a conversation: memory and agent are asked, joined with what other sources brought,
//! and composed.
//!
//! Reads only. Whoever sends the prompt tells the store with [`TurnPrompt::sent`].

#[cfg(feature = "layouts")]
mod agent;
mod conversation;
mod recollections;

use kitbag_core::assembly::{AssembleError, Draft, Epoch};
use kitbag_core::context::{Context, DEFAULT_SYSTEM_PROMPT};
use kitbag_core::history::{TOLD_IN_SHORT, start};
use kitbag_core::inject::ContextMessage;
use kitbag_core::tokens::TokenCounter;
use kitbag_core::view::{TurnState, View};
use kitbag_store::{
    ConversationId, ConversationMemory, MemoryRequest, MessageId, SentPrompt, Store, StoreError,
};

#[cfg(feature = "layouts")]
use super::AgentError;
use super::{Composed, Contribution, PromptRequest, compose, history};
#[cfg(feature = "layouts")]
pub use agent::AgentSource;
#[cfg(feature = "layouts")]
use agent::guard;
#[cfg(feature = "layouts")]
use kitbag_layout::ShownBy;
use recollections::recollections;

/// A turn to make a prompt for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TurnRequest {
    /// Whose turn it is, and how much to remember.
    pub memory: MemoryRequest,
    /// The budget and the form. The message is the one that came in, unless an agent wraps it.
    pub prompt: PromptRequest,
    /// The node that the prompt is for. Without one it is that of a plain conversation.
    pub node: Option<View>,
    /// The turn as its earlier nodes have left it. Without it, the layers are as they were stored, and
    /// nothing has been done yet.
    pub state: Option<TurnState>,
    /// Context messages for this turn, besides those that the conversation keeps.
    pub injected: Vec<ContextMessage>,
}

impl TurnRequest {
    /// A turn of a plain conversation, without an agent.
    #[must_use]
    pub fn new(memory: MemoryRequest, mut prompt: PromptRequest) -> Self {
        prompt.current = memory.incoming.message.message.clone();
        prompt.current.id = memory.answering.map(|id| id.to_string());
        Self {
            memory,
            prompt,
            node: None,
            state: None,
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
    /// The security key of its queries, where an agent answers.
    pub key: Option<String>,
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
        let sent = SentPrompt::new(draft, settings, assembly);
        match &self.key {
            Some(key) => sent.with_key(key),
            None => sent,
        }
    }

    /// The prompt for a provider that takes a system prompt, a history and a message; none where its
    /// form is not the flat one.
    #[must_use]
    pub fn context(&self) -> Option<Context> {
        let mut context = Context::from_prompt_string(&self.composed.assembly.body).ok()?;
        context.model.clone_from(&self.composed.draft.model);
        Some(context)
    }
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The conversation cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The agent has no prompt.
    #[cfg(feature = "layouts")]
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The parts that must be in do not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

impl TurnError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint().map(str::to_owned),
            #[cfg(feature = "layouts")]
            Self::Agent(error) => error.hint(),
            Self::Assemble(error) => Some(error.hint().to_owned()),
        }
    }
}

/// The sources of a turn's prompt. Any of them may be missing.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Sources<'a> {
    /// Remembers the conversation and everything else.
    pub store: Option<&'a Store>,
    /// The agent that answers. Without one, the built-in persona does.
    #[cfg(feature = "layouts")]
    pub agent: Option<AgentSource<'a>>,
    /// Contributions that were made already: of a workspace, of gatherers.
    pub contributions: Vec<Contribution>,
}

/// Makes the prompt of a turn: memory and agent, joined with what other sources brought.
///
/// Nothing is changed: a prompt that is only looked at leaves no trace.
///
/// # Errors
/// When the conversation cannot be read, when the agent has no prompt, or when the parts that must
/// be in do not fit.
pub async fn turn(
    sources: Sources<'_>,
    request: &TurnRequest,
    counter: &(dyn TokenCounter + Sync),
) -> Result<TurnPrompt, TurnError> {
    let mut prompt = request.prompt.clone();
    prompt.history_messages = usize::try_from(request.memory.messages).unwrap_or(usize::MAX);
    let memory = match sources.store {
        Some(store) => read(store, &request.memory).await?,
        None => None,
    };
    let memory = memory.as_ref();
    // The prompts of nodes take turns: none of them continues the one before it.
    let epoch = memory.and_then(|memory| memory.state.epoch.as_ref());
    let epoch = epoch.filter(|_| request.node.is_none());

    let mut contributions = sources.contributions;
    contributions.push(conversation::contribution(memory, request));
    let mut identity = persona();
    let mut key = None;
    #[cfg(feature = "layouts")]
    if let Some(agent) = &sources.agent {
        let part = agent.part(memory, &prompt, &contributions)?;
        guard(&mut contributions, memory, part.history);
        let received = std::mem::replace(&mut prompt.current, part.current);
        prompt.current.id = received.id;
        prompt.current.name = received.name;
        prompt.model = prompt.model.or(part.model);
        key = Some(part.key.to_string());
        identity = part.contribution;
    }
    contributions.push(identity);
    if let Some(store) = sources.store {
        let shown = match (&request.node, memory) {
            // How much of its own conversation a node sees is for its view to say.
            (Some(_), Some(memory)) => memory.messages.iter().map(|message| message.id).collect(),
            _ => shown(&contributions, &prompt, epoch, counter),
        };
        let known = store.recollect(&request.memory, memory.map(|memory| memory.id), shown);
        let mut known = recollections(&known.await, epoch, counter);
        #[cfg(feature = "layouts")]
        if key.is_some() {
            guard(std::slice::from_mut(&mut known), None, ShownBy::Engine);
        }
        contributions.push(known);
    }
    Ok(TurnPrompt {
        conversation: memory.map(|memory| memory.id),
        composed: compose(&prompt, contributions, counter, epoch)?,
        key,
    })
}

/// The conversation, with as many messages as the history and what is told of those before it take.
async fn read(
    store: &Store,
    request: &MemoryRequest,
) -> Result<Option<ConversationMemory>, StoreError> {
    let mut request = request.clone();
    let in_short = u32::try_from(TOLD_IN_SHORT).unwrap_or(u32::MAX);
    request.messages = request.messages.saturating_add(in_short);
    store.read_conversation(&request).await
}

/// The built-in persona, where no agent answers.
fn persona() -> Contribution {
    let mut contribution = Contribution::default();
    contribution.draft.identity = Some(DEFAULT_SYSTEM_PROMPT.to_owned());
    contribution
}

/// The messages that the prompt will show word for word, which need not be recalled. An estimate:
/// where it is wrong, [`compose`] leaves out the second of two.
fn shown(
    contributions: &[Contribution],
    prompt: &PromptRequest,
    epoch: Option<&Epoch>,
    counter: &dyn TokenCounter,
) -> Vec<MessageId> {
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
