//! One turn of a conversation: memory and agent are asked, joined with what other sources brought,
//! and composed.
//!
//! Reads only. Whoever sends the prompt tells the store with [`TurnPrompt::sent`] or
//! [`TurnPrompt::sent_as`].

mod agent;
mod conversation;
#[cfg(feature = "store")]
mod memory;
#[cfg(feature = "store")]
mod recollections;

#[cfg(feature = "store")]
use jiff::Timestamp;
use kitbag_core::assembly::{AssembleError, OutputForm};
use kitbag_core::context::{Context, DEFAULT_SYSTEM_PROMPT};
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
use super::{Composed, Contribution, PromptRequest, compose};
use agent::AgentSource;
use conversation::Conversation;
#[cfg(feature = "store")]
use kitbag_layout::ShownBy;

use crate::project::Project;
use crate::skill::{ActiveSkill, SkillPart, servers, skill_part};

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
    /// Contributions that were made already: of a workspace, of gatherers.
    pub contributions: Vec<Contribution>,
}

impl TurnRequest {
    /// A turn of a remembered conversation, without an agent.
    #[cfg(feature = "store")]
    #[must_use]
    pub fn new(memory: MemoryRequest, mut prompt: PromptRequest) -> Self {
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
            contributions: Vec::new(),
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
    /// The prompt.
    pub composed: Composed,
    /// The agent's part, where an agent answers. Its contribution is in the prompt.
    pub agent: Option<AgentPart>,
    /// The skills that are active in the turn, each with the reason.
    pub skills: Vec<ActiveSkill>,
    /// The choice of its model, where there was one to make.
    pub route: Option<RouteRecord>,
    /// Context messages that stand among the steps of the prompt for the first time.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) told: Vec<ContextMessage>,
    /// The tokens that the budget of the prompt leaves to the steps of the turn.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) room_for_steps: Tokens,
}

impl TurnPrompt {
    /// The prompt for a provider that takes a system prompt, a history and a message; none where its
    /// form is not the flat one.
    #[must_use]
    pub fn context(&self) -> Option<Context> {
        let mut context = Context::from_prompt_string(&self.composed.assembly.body).ok()?;
        context.model.clone_from(&self.composed.draft.model);
        context.mcp_servers.clone_from(&self.composed.mcp_servers);
        Some(context)
    }
}

/// Why there is no prompt.
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
    /// What to do about it.
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
    mut request: TurnRequest,
    counter: &(dyn TokenCounter + Sync),
) -> Result<TurnPrompt, TurnError> {
    let mut contributions = std::mem::take(&mut request.contributions);
    let agent = request.agent.take();
    let agent = agent.map(|agent| AgentSource::new(sources, agent));
    let agent = agent.transpose()?;
    let request = &request;
    let mut prompt = request.prompt.clone();
    #[cfg(feature = "store")]
    let memory = sources.store.zip(request.memory.as_ref());
    #[cfg(feature = "store")]
    let mut conversation = match memory {
        Some((store, memory)) => {
            let for_layout = agent.is_some();
            memory::read(store, memory, request, &mut prompt, for_layout).await?
        }
        None => Conversation::new(request, &[]),
    };
    #[cfg(not(feature = "store"))]
    let mut conversation = Conversation::new(request, &[]);
    let skills = sources.project.map(|project| {
        let message = prompt.current.content.text();
        let epoch = conversation.epoch.as_ref();
        let budget = prompt.settings.budget;
        skill_part(&project.skills, &message, epoch, budget, counter)
    });
    let SkillPart {
        contribution,
        active: skills,
    } = skills.unwrap_or_default();
    contributions.push(contribution);
    contributions.push(std::mem::take(&mut conversation.contribution));
    let agent = match &agent {
        Some(source) => {
            let mut part = source.part(&conversation, &prompt, &contributions)?;
            #[cfg(feature = "store")]
            if part.system.history == ShownBy::Layout
                && let Some(remembered) = contributions.last_mut()
                && conversation.leave_to_layout(&mut remembered.draft, &prompt, counter)
            {
                part = source.part(&conversation, &prompt, &contributions)?;
            }
            agent::guard(&mut contributions, &part, &conversation);
            let content = agent::wrapped(&prompt.current.content, &part.current);
            prompt.current.content = content;
            // Where a name matters, it stands in the wrapper.
            prompt.current.name = None;
            prompt.model = prompt.model.or_else(|| part.model.clone());
            contributions.push(std::mem::take(&mut part.contribution));
            Some(part)
        }
        None => {
            contributions.push(persona());
            None
        }
    };
    // The prompts of nodes take turns: none of them continues the one before it.
    let epoch = conversation.epoch.as_ref();
    let epoch = epoch.filter(|_| request.node.is_none());
    let all = Contribution::join(contributions);
    #[cfg(feature = "store")]
    let all = match memory {
        Some((store, memory)) => {
            let shown = memory::shown(&conversation, &all.draft, &prompt, epoch, counter);
            let mut known = store.recollect(memory, conversation.id, shown).await;
            tracing::debug!(
                event = "recalled",
                facts = known.facts.len(),
                summaries = known.summaries.len(),
                messages = known.recalled.len(),
                problems = known.problems.len(),
            );
            // What the message itself states stands in it already, and is not from earlier.
            let is_earlier = |source| memory.answering != Some(source);
            known
                .facts
                .retain(|fact| fact.source.is_none_or(is_earlier));
            let mut known = recollections::recollections(&known, epoch, counter);
            if let Some(part) = &agent {
                agent::guard(std::slice::from_mut(&mut known), part, &conversation);
            }
            Contribution::join(vec![all, known])
        }
        None => all,
    };
    let mut composed = compose(&prompt, vec![all], counter, epoch)?;
    composed.mcp_servers = servers(&skills);
    Ok(TurnPrompt {
        #[cfg(feature = "store")]
        conversation: conversation.id,
        #[cfg(feature = "store")]
        previous_at: conversation.latest,
        composed,
        agent,
        skills,
        route: None,
        #[cfg(all(feature = "providers", feature = "store"))]
        told: Vec::new(),
        #[cfg(all(feature = "providers", feature = "store"))]
        room_for_steps: Tokens::ZERO,
    })
}

/// The built-in persona, where no agent answers.
fn persona() -> Contribution {
    let mut contribution = Contribution::default();
    contribution.draft.identity = Some(DEFAULT_SYSTEM_PROMPT.to_owned());
    contribution
}
