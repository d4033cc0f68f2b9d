//! The material of a turn, gathered once: a prompt is made of it without asking any source again, or one
//! for each of several nodes.

use kitbag_core::assembly::Epoch;
use kitbag_core::context::DEFAULT_SYSTEM_PROMPT;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::context::McpServer;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::inject::ContextMessage;
use kitbag_core::tokens::TokenCounter;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::tokens::Tokens;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::view::{TurnState, View, node_chunks};
use kitbag_layout::ShownBy;

use super::agent::{self, AgentSource};
use super::conversation::Conversation;
use super::{Sources, TurnError, TurnPrompt, TurnRequest};
#[cfg(feature = "store")]
use super::{memory, recollections};
use crate::engine::{AgentPart, Composed, Contribution, PromptRequest, compose};
#[cfg(all(feature = "providers", feature = "store"))]
use crate::skill::StartedServers;
use crate::skill::{ActiveSkill, SkillPart, servers, skill_part};
#[cfg(all(feature = "providers", feature = "store"))]
use crate::tool::Tools;

/// All that the prompts of a turn are made of.
pub(crate) struct Material {
    prompt: PromptRequest,
    all: Contribution,
    conversation: Conversation,
    agent: Option<AgentPart>,
    skills: Vec<ActiveSkill>,
    /// The tools that active skills bring.
    #[cfg(all(feature = "providers", feature = "store"))]
    tools: Tools,
    /// True where a prompt goes on with the selection of the one before it.
    continues: bool,
}

impl Material {
    /// Asks memory, skills and the agent.
    pub(in crate::engine) async fn gather(
        sources: Sources<'_>,
        mut request: TurnRequest,
        counter: &(dyn TokenCounter + Sync),
    ) -> Result<Self, TurnError> {
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
        conversation.contribution.draft.is_for_node = request.node.is_some();
        if request.anew {
            conversation.epoch = None;
        }
        #[cfg(feature = "store")]
        if let (Some((_, memory)), Some(latest)) = (memory, conversation.latest) {
            let idle = memory.now.duration_since(latest).as_secs();
            let life = prompt.settings.traits.cache.life_seconds;
            prompt.is_cache_cold = life.is_some_and(|life| idle > i64::from(life));
        }
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
                // Only a history that stands in the prompt as a whole can be summarised there.
                prompt.compacts &= part.system.history == ShownBy::Engine;
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
        // A node that is asked alone shows something else than the prompt before it.
        let continues = request.node.is_none() || request.is_for_nodes;
        let epoch = conversation.epoch.as_ref();
        let epoch = epoch.filter(|_| continues);
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
        #[cfg(not(feature = "store"))]
        let _ = epoch;
        Ok(Self {
            prompt,
            all,
            conversation,
            agent,
            skills,
            #[cfg(all(feature = "providers", feature = "store"))]
            tools: Tools::default(),
            continues,
        })
    }

    /// The prompt of the turn.
    pub(super) fn prompt(mut self, counter: &dyn TokenCounter) -> Result<TurnPrompt, TurnError> {
        let all = std::mem::take(&mut self.all);
        let epoch = self.epoch().filter(|_| self.continues);
        let composed = compose(&self.prompt, vec![all], counter, epoch)?;
        Ok(self.made(composed))
    }

    /// The epoch of the conversation's latest prompt.
    pub(crate) const fn epoch(&self) -> Option<&Epoch> {
        self.conversation.epoch.as_ref()
    }

    /// The layers as the turn finds them.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) fn take_layers(&mut self) -> Option<TurnState> {
        self.conversation.layers.take()
    }

    /// The MCP servers that active skills bring.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(in crate::engine) fn servers(&self) -> Vec<McpServer> {
        servers(&self.skills)
    }

    /// Adds what is on offer.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(in crate::engine) fn add(&mut self, offered: Contribution, started: StartedServers) {
        let all = std::mem::take(&mut self.all);
        self.all = Contribution::join(vec![all, offered]);
        self.all.problems.extend(started.problems);
        self.tools = started.tools;
    }

    /// Adds context messages to the prompts of all nodes.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) fn inject(&mut self, message: ContextMessage) {
        self.all.draft.injected.push(message);
    }

    /// The prompt of a node that sees this view of the layers, and is asked for something besides what the
    /// message asks for. `room` is left free for its steps where there is so much.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) fn prompt_of_node(
        &self,
        (view, layers): (&View, &TurnState),
        asked: ContextMessage,
        (previous, room): (Option<&Epoch>, Tokens),
        counter: &dyn TokenCounter,
    ) -> Result<TurnPrompt, TurnError> {
        let mut seen = Contribution::default();
        seen.draft.injected.push(asked);
        for chunk in node_chunks(view, layers) {
            seen.add(chunk);
        }
        if let Some(part) = &self.agent {
            agent::guard(std::slice::from_mut(&mut seen), part, &self.conversation);
        }
        let composed = |free: Tokens| {
            let mut prompt = self.prompt.clone();
            let budget = &mut prompt.settings.budget;
            *budget = budget.saturating_sub(free);
            compose(
                &prompt,
                vec![self.all.clone(), seen.clone()],
                counter,
                previous,
            )
        };
        match composed(room) {
            Ok(composed) => Ok(TurnPrompt {
                room_for_steps: room,
                ..self.made(composed)
            }),
            Err(_) => Ok(self.made(composed(Tokens::ZERO)?)),
        }
    }

    fn made(&self, mut composed: Composed) -> TurnPrompt {
        composed.mcp_servers = servers(&self.skills);
        TurnPrompt {
            #[cfg(feature = "store")]
            conversation: self.conversation.id,
            #[cfg(feature = "store")]
            previous_at: self.conversation.latest,
            composed,
            agent: self.agent.clone(),
            skills: self.skills.clone(),
            route: None,
            #[cfg(all(feature = "providers", feature = "store"))]
            made: None,
            #[cfg(all(feature = "providers", feature = "store"))]
            told: Vec::new(),
            #[cfg(all(feature = "providers", feature = "store"))]
            room_for_steps: Tokens::ZERO,
            #[cfg(all(feature = "providers", feature = "store"))]
            tools: self.tools.clone(),
        }
    }
}

/// The built-in persona, where no agent answers.
fn persona() -> Contribution {
    let mut contribution = Contribution::default();
    contribution.draft.identity = Some(DEFAULT_SYSTEM_PROMPT.to_owned());
    contribution
}
