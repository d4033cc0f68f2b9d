//! One turn of a conversation: memory and agent are asked, joined with what other sources brought,
//! and composed.
//!
//! Reads only. Whoever sends the prompt tells the store with [`TurnPrompt::sent`] or
//! [`TurnPrompt::sent_as`].

mod agent;
mod conversation;
mod material;
#[cfg(feature = "store")]
mod memory;
#[cfg(feature = "store")]
mod recollections;

#[cfg(feature = "store")]
use std::borrow::Cow;

#[cfg(feature = "store")]
use jiff::Timestamp;
use kitbag_core::assembly::{AssembleError, OutputForm};
use kitbag_core::context::Context;
use kitbag_core::inject::ContextMessage;
use kitbag_core::record::RouteRecord;
use kitbag_core::tokens::TokenCounter;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::tokens::Tokens;
use kitbag_core::view::{TurnState, View};
use kitbag_layout::PlatformError;
#[cfg(feature = "store")]
use kitbag_store::{ConversationId, MemoryRequest, Store, StoreError};

use super::{AgentError, AgentPart, AgentRequest};
use super::{Composed, Contribution, PromptRequest};
pub(crate) use material::Material;

use crate::project::Project;
use crate::skill::ActiveSkill;
#[cfg(all(feature = "providers", feature = "store"))]
use crate::tool::Tools;
#[cfg(feature = "store")]
use crate::wire::Request;

/// A turn to make a prompt for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TurnRequest {
    /// Whose turn it is, and how much to remember. A turn without it has no conversation but the one
    /// that its channel hands in.
    #[cfg(feature = "store")]
    pub memory: Option<MemoryRequest>,
    /// The budget and the form. The message is the one that came in, unless an agent wraps it.
    pub prompt: PromptRequest,
    /// The node that the prompt is for. Without one it is that of a plain conversation.
    pub node: Option<View>,
    /// The turn as its earlier nodes have left it. Without it, the layers are as they were stored, and
    /// nothing has been done yet.
    pub state: Option<TurnState>,
    /// Context messages for this turn, besides those that the conversation keeps.
    pub injected: Vec<ContextMessage>,
    /// The agent that answers, of the sources' project. Without one, the built-in persona does. Its
    /// query is the message of the turn where it is empty; its messages and its key are those of
    /// memory, where there is one.
    pub agent: Option<AgentRequest>,
    /// The number of files whose texts the channel has put into the message, besides those that it holds as
    /// blocks.
    pub attachments: usize,
    /// True for a new selection, instead of keeping that of the conversation's latest prompt.
    pub anew: bool,
    /// Contributions that were made already: of a workspace, of gatherers.
    pub contributions: Vec<Contribution>,
    /// True if several nodes are asked: their views are added to the part that all of them see.
    pub(crate) is_for_nodes: bool,
}

impl TurnRequest {
    /// A turn of a remembered conversation, without an agent.
    #[cfg(feature = "store")]
    #[must_use]
    pub fn new(memory: MemoryRequest, mut prompt: PromptRequest) -> Self {
        // The message of memory is the one that was stored, and so the one that counts.
        prompt.current = memory.incoming.message.message.clone();
        prompt.current.id = memory.answering.map(|id| id.to_string());
        Self {
            memory: Some(memory),
            ..Self::without_memory(prompt)
        }
    }

    /// A turn of which nothing is remembered.
    #[must_use]
    pub fn without_memory(prompt: PromptRequest) -> Self {
        Self {
            #[cfg(feature = "store")]
            memory: None,
            prompt,
            node: None,
            state: None,
            injected: Vec::new(),
            agent: None,
            attachments: 0,
            anew: false,
            contributions: Vec::new(),
            is_for_nodes: false,
        }
    }

    /// The same turn as one of its nodes sees it. `state` is the turn as earlier nodes have left it.
    #[must_use]
    pub fn for_node(mut self, node: View, state: TurnState) -> Self {
        self.prompt.settings.form = OutputForm::Node;
        self.node = Some(node);
        self.state = Some(state);
        self
    }
}

/// The prompt of a turn.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TurnPrompt {
    /// The conversation, where there is one already.
    #[cfg(feature = "store")]
    pub conversation: Option<ConversationId>,
    /// The time of the conversation's latest message before this one, where it is remembered.
    #[cfg(feature = "store")]
    pub previous_at: Option<Timestamp>,
    pub composed: Composed,
    /// The agent's part, where an agent answers. Its contribution is in the prompt.
    pub agent: Option<AgentPart>,
    /// The skills that are active in the turn, each with the reason.
    pub skills: Vec<ActiveSkill>,
    /// The choice of its model, where there was one to make.
    pub route: Option<RouteRecord>,
    /// The request that was made of the prompt, before its provider prepared it.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) made: Option<Box<Request>>,
    /// Context messages that stand among the steps of the prompt for the first time.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) told: Vec<ContextMessage>,
    /// The tokens that the budget of the prompt leaves to the steps of the turn.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) room_for_steps: Tokens,
    /// The tools that active skills bring, besides the engine's own.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) tools: Tools,
}

impl TurnPrompt {
    /// Makes the request of the prompt, and remembers it: the archive gets the differences of the one that is sent.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) fn make_request(&mut self) -> Option<Request> {
        self.made = self.composed.request().map(Box::new);
        self.made.as_deref().cloned()
    }

    /// The request that was made of the prompt.
    #[cfg(feature = "store")]
    pub(super) fn made_request(&self) -> Option<Cow<'_, Request>> {
        #[cfg(feature = "providers")]
        if let Some(made) = &self.made {
            return Some(Cow::Borrowed(made));
        }
        self.composed.request().map(Cow::Owned)
    }

    /// The prompt for a provider that takes a system prompt, a history and a message; none where its
    /// form is not the flat one.
    #[must_use]
    pub fn context(&self) -> Option<Context> {
        let mut context = Context::from_prompt_string(&self.composed.assembly.body).ok()?;
        // The flat text has no place for a model or for servers, so they are handed over beside it.
        context.model.clone_from(&self.composed.draft.model);
        context.mcp_servers.clone_from(&self.composed.mcp_servers);
        Some(context)
    }
}

/// An error while making a prompt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The conversation cannot be read.
    #[cfg(feature = "store")]
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The agent has no prompt.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// An agent is asked for, and no project has it.
    #[error("the turn asks for an agent, and there is no project to take it from")]
    NoProject,
    /// An agent answers, and layouts could not show the name of the channel.
    #[error(transparent)]
    Channel(#[from] PlatformError),
    /// The parts that must be in do not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

impl TurnError {
    /// The remedy, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            #[cfg(feature = "store")]
            Self::Store(error) => error.hint().map(str::to_owned),
            Self::Agent(error) => error.hint(),
            Self::Assemble(error) => Some(error.hint().to_owned()),
            Self::Channel(_) => None,
            Self::NoProject => {
                Some("give the engine the project that defines the agent".to_owned())
            }
        }
    }
}

/// The sources of a turn's prompt. Any of them may be missing.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Sources<'a> {
    /// Remembers the conversation and everything else.
    #[cfg(feature = "store")]
    pub store: Option<&'a Store>,
    /// The project that has the agent.
    pub project: Option<&'a Project>,
    /// Reads a variable of the environment; a layout sees what its project allows of them.
    pub variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

impl Default for Sources<'_> {
    fn default() -> Self {
        Self {
            #[cfg(feature = "store")]
            store: None,
            project: None,
            // A program that gives no environment shows none to its layouts.
            variable: &|_| None,
        }
    }
}

impl std::fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Sources");
        shown.field("project", &self.project.map(|project| &project.root));
        shown.finish_non_exhaustive()
    }
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
    request: TurnRequest,
    counter: &(dyn TokenCounter + Sync),
) -> Result<TurnPrompt, TurnError> {
    let material = Box::pin(Material::gather(sources, request, counter)).await?;
    material.prompt(counter)
}
