//! [`Engine`]: everything that the turns of a program have in common, in one value.
//!
//! It makes prompts. With the features `store` and `providers` it also answers, in
//! [`answer`](crate::answer).

mod builder;
mod calibrated;
mod error;
#[cfg(all(feature = "providers", feature = "store"))]
mod offered;

#[cfg(all(feature = "providers", feature = "store"))]
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
#[cfg(all(feature = "providers", feature = "store"))]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "store")]
use jiff::Timestamp;
use kitbag_core::assembly::{AssemblySettings, ModelTraits, OutputForm};
use kitbag_core::content::Content;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::problem::Problem;
use kitbag_core::tokens::{TokenCounter, Tokens};
#[cfg(feature = "store")]
use kitbag_layout::{ChannelTurn, Platform};
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_layout::{Declared, Learning, Routing};
#[cfg(feature = "store")]
use kitbag_store::{Incoming, MemoryRequest, Store};

#[cfg(feature = "store")]
use super::AgentRequest;
#[cfg(all(feature = "providers", feature = "store"))]
use super::Material;
#[cfg(not(all(feature = "providers", feature = "store")))]
use super::turn;
use super::{PromptRequest, Sources, TurnError, TurnPrompt, TurnRequest};
#[cfg(all(feature = "providers", feature = "store"))]
use crate::answer::NodeLimits;
#[cfg(all(feature = "providers", feature = "store"))]
use crate::checkpoint::Checkpoints;
#[cfg(all(feature = "providers", feature = "store"))]
use crate::extension::Extensions;
use crate::gather::{GatherTask, Gatherer, gather};
use crate::project::Project;
#[cfg(feature = "providers")]
use crate::provider::Provider;
use crate::receive::Findings;
#[cfg(all(feature = "providers", feature = "store"))]
use crate::skill::ServerStarter;
#[cfg(all(feature = "providers", feature = "store"))]
use crate::tool::{Toolbox, Tools};

pub use builder::EngineBuilder;
pub(crate) use calibrated::EngineCounter;
pub use error::EngineError;

/// Engines by the names of their models, and by whether their user declared the choice.
#[cfg(all(feature = "providers", feature = "store"))]
pub(super) type RoutedEngines = BTreeMap<(String, bool), Engine>;

/// A context engine: what it remembers, who answers, and how much a prompt may hold.
///
/// ```
/// use kitbag::Engine;
/// use kitbag::core::tokens::Tokens;
///
/// let engine = Engine::builder().budget(Tokens(2_000)).build()?;
/// let request = engine.task("How do I proof dough overnight?");
/// let prompt = pollster::block_on(engine.prompt(request))?;
/// assert!(prompt.composed.body().ends_with("How do I proof dough overnight?"));
/// assert!(prompt.composed.assembly.tokens <= Tokens(2_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    #[cfg(feature = "store")]
    pub(crate) store: Option<Store>,
    #[cfg(feature = "providers")]
    pub(crate) provider: Option<Arc<dyn Provider>>,
    /// The provider that learns, if it is not the one that answers.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) learner: Option<Arc<dyn Provider>>,
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) learning: Learning,
    /// The model that learns, if it is not the one that answers.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) learning_model: Option<String>,
    /// The choice of the model for each message; none where the model was named.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) routing: Option<Arc<Routing>>,
    /// The engines that were routed to, each with the connections of its provider.
    #[cfg(all(feature = "providers", feature = "store"))]
    routed: Arc<Mutex<RoutedEngines>>,
    #[cfg(all(feature = "providers", feature = "store"))]
    problems: Vec<Problem>,
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) toolbox: Toolbox,
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) nodes: Option<NodeLimits>,
    /// The folder of the tasks that `/checkpoint` saves.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) checkpoints: Option<Checkpoints>,
    #[cfg(all(feature = "providers", feature = "store"))]
    starter: Option<ServerStarter>,
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) extensions: Extensions,
    pub(crate) project: Option<Arc<Project>>,
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) counter: EngineCounter,
    pub(crate) traits: ModelTraits,
    pub(crate) budget: Tokens,
    pub(crate) gatherers: Vec<Arc<dyn Gatherer>>,
    pub(crate) variable: fn(&str) -> Option<String>,
    #[cfg(feature = "store")]
    pub(crate) clock: fn() -> Timestamp,
    /// The settings that it was built with.
    settings: Box<EngineBuilder>,
}

impl Engine {
    /// An engine that remembers nothing, asks nobody, and has the usual budget, unless the builder
    /// says otherwise.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The store, where the engine remembers.
    #[cfg(feature = "store")]
    #[must_use]
    pub const fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// The same engine with another store, or with none.
    #[cfg(feature = "store")]
    #[must_use]
    pub fn with_store(mut self, store: Option<Store>) -> Self {
        self.store = store;
        self
    }

    /// The same engine with other tools, such as those of its store.
    #[cfg(all(feature = "providers", feature = "store"))]
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.toolbox.tools = tools;
        self
    }

    /// The same engine with another model, and with its provider where that is configured.
    ///
    /// # Errors
    /// When there is no provider for the model.
    pub fn with_model(&self, model: impl Into<String>) -> Result<Self, EngineError> {
        self.rebuilt(self.settings.as_ref().clone().model(model))
    }

    /// The same engine with another agent of the project, and with its model unless one was chosen.
    ///
    /// # Errors
    /// When the project has no such agent, or when there is no provider for its model.
    pub fn with_agent(&self, id: impl Into<String>) -> Result<Self, EngineError> {
        self.rebuilt(self.settings.as_ref().clone().agent(id))
    }

    /// The same engine for one turn, with the model that routing or an extension has chosen. It learns
    /// nothing: the engine that was asked does.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) fn routed_to(&self, model: &str, declared: Declared) -> Result<Self, EngineError> {
        // The same name means another thing in a folder's file, which may not choose every provider.
        let key = (model.to_owned(), declared == Declared::ByUser);
        let known = || self.routed.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out of the lock at once: building an engine may read files.
        let found = known().get(&key).cloned();
        let engine = match found {
            Some(engine) => engine,
            None => {
                let settings = self.settings.as_ref().clone();
                let engine = settings.routed_to(model, declared).build()?;
                known().insert(key, engine.clone());
                engine
            }
        };
        // The stored engine may be older than the store or the tools of this one.
        let engine = engine.with_store(self.store.clone());
        Ok(engine.with_tools(self.toolbox.tools.clone()))
    }

    fn rebuilt(&self, settings: EngineBuilder) -> Result<Self, EngineError> {
        let engine = settings.build()?;
        #[cfg(feature = "store")]
        let engine = engine.with_store(self.store.clone());
        #[cfg(all(feature = "providers", feature = "store"))]
        let engine = engine.with_tools(self.toolbox.tools.clone());
        Ok(engine)
    }

    /// The settings that are ignored, each with the reason: a learning model that a file of the folder
    /// names and that may not be asked.
    #[cfg(all(feature = "providers", feature = "store"))]
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The names of the extensions that take part in turns; `rules` are those of the project.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn extensions(&self) -> impl Iterator<Item = &str> {
        self.extensions.names()
    }

    /// The project, where the engine has one.
    #[must_use]
    pub fn project(&self) -> Option<&Project> {
        self.project.as_deref()
    }

    /// The model that is asked, as its provider names it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The most tokens that a prompt may have.
    #[must_use]
    pub const fn budget(&self) -> Tokens {
        self.budget
    }

    /// Counts the tokens of prompts, before anything is known of the model's bills.
    #[must_use]
    pub fn counter(&self) -> &dyn TokenCounter {
        self.counter.usual()
    }

    /// The turn of a message, with the budget, the model and the agent of this engine. Its fields are
    /// there to be changed.
    ///
    /// # Errors
    /// When an agent answers and the channel's name is no plain word, since layouts show it.
    #[cfg(feature = "store")]
    pub fn turn(&self, incoming: Incoming) -> Result<TurnRequest, TurnError> {
        let agent = self.agent_on(&incoming.channel)?;
        let message = incoming.message.message.content.clone();
        let memory = MemoryRequest::new(incoming, (self.clock)());
        let mut request = TurnRequest::new(memory, self.prompt_request(message));
        request.agent = agent;
        Ok(request)
    }

    /// A turn without memory and without an agent, with the budget and the model of this engine.
    #[must_use]
    pub fn task(&self, message: impl Into<Content>) -> TurnRequest {
        TurnRequest::without_memory(self.prompt_request(message))
    }

    /// Makes the prompt of a turn. Nothing is sent, and nothing changes.
    ///
    /// # Errors
    /// When the conversation cannot be read, when the agent has no prompt, or when the parts that must
    /// be in do not fit.
    pub async fn prompt(&self, mut request: TurnRequest) -> Result<TurnPrompt, TurnError> {
        Findings::of_turn(&request).sanitise(&mut request);
        self.prompt_of_sanitised(request).await
    }

    /// The same for a turn whose message was sanitised.
    pub(crate) async fn prompt_of_sanitised(
        &self,
        mut request: TurnRequest,
    ) -> Result<TurnPrompt, TurnError> {
        let counter = self.gathered(&mut request).await;
        #[cfg(all(feature = "providers", feature = "store"))]
        return Box::pin(self.prompt_with_tools(request, counter)).await;
        #[cfg(not(all(feature = "providers", feature = "store")))]
        turn(self.sources(), request, counter.as_ref()).await
    }

    /// The material of a sanitised turn whose nodes are asked one after the other, the counter of their
    /// prompts, and the room that each leaves for tool steps.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(crate) async fn material(
        &self,
        mut request: TurnRequest,
    ) -> Result<(Material, Arc<dyn TokenCounter>, Tokens), TurnError> {
        // Set first, because material for nodes is gathered without a form of its own.
        request.is_for_nodes = true;
        let counter = self.gathered(&mut request).await;
        let form = request.prompt.settings.form;
        let budget = request.prompt.settings.budget;
        let sender = offered::sender_of(&request);
        let material = Material::gather(self.sources(), request, counter.as_ref());
        let mut material = Box::pin(material).await?;
        // Servers of skills start only now, when it is known which skills are active.
        let mut started = self.started(form, &material.servers()).await;
        self.add_reader(&mut started, sender.as_deref(), &counter);
        let offered = self.offered(form, budget, &started.tools);
        let room = offered.room();
        material.add(offered.contribution, started);
        Ok((material, counter, room))
    }

    /// Asks the gatherers, and gives the counter of the prompt.
    async fn gathered(&self, request: &mut TurnRequest) -> Arc<dyn TokenCounter> {
        if !self.gatherers.is_empty() {
            // Gatherers search with the words alone, not with pictures or results of tools.
            let message = request.prompt.current.content.text();
            let task = GatherTask::without_workspace(message, request.prompt.settings.budget);
            let gathered = gather(&self.gatherers, &task).await;
            request.contributions.push(gathered);
        }
        #[cfg(feature = "store")]
        return self.counter_of(request).await;
        #[cfg(not(feature = "store"))]
        self.counter.shared()
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            #[cfg(feature = "store")]
            store: self.store.as_ref(),
            project: self.project.as_deref(),
            variable: &self.variable,
        }
    }

    fn prompt_request(&self, message: impl Into<Content>) -> PromptRequest {
        let settings = AssemblySettings::new(self.form(), self.budget);
        let settings = settings.with_traits(self.traits.clone());
        let mut prompt = PromptRequest::new(message, settings);
        prompt.model.clone_from(&self.model);
        #[cfg(all(feature = "providers", feature = "store"))]
        {
            prompt.compacts = self.learning != Learning::Off;
        }
        prompt
    }

    #[cfg(feature = "providers")]
    fn form(&self) -> OutputForm {
        let provider = self.provider.as_ref();
        // Without a provider the prompt is for people or for a program that takes any text.
        provider.map_or(OutputForm::Flat, |provider| provider.dialect().form())
    }

    #[cfg(not(feature = "providers"))]
    fn form(&self) -> OutputForm {
        OutputForm::Flat
    }

    /// The agent that answers on a channel; none where the project has no agents.
    #[cfg(feature = "store")]
    fn agent_on(&self, channel: &str) -> Result<Option<AgentRequest>, TurnError> {
        let Some(project) = &self.project else {
            return Ok(None);
        };
        if self.agent.is_none() && project.config.agents.is_empty() {
            return Ok(None);
        }
        let mut turn = ChannelTurn::default();
        // Layouts show the name, so it must be a plain word that can close no element.
        turn.platform = channel.parse::<Platform>()?;
        let mut request = AgentRequest::new(turn);
        request.agent.clone_from(&self.agent);
        Ok(Some(request))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Engine");
        shown.field("model", &self.model);
        shown.field("agent", &self.agent);
        shown.field("budget", &self.budget);
        shown.field("counter", &self.counter().name());
        // The provider is left out: it may hold keys, and the store a password.
        shown.finish_non_exhaustive()
    }
}
