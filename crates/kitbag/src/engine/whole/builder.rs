//! Building an [`Engine`].

use std::sync::Arc;

#[cfg(feature = "store")]
use jiff::Timestamp;
use kitbag_core::assembly::ModelTraits;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::context::McpServer;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_layout::Agent;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_layout::Learning;
#[cfg(feature = "providers")]
use kitbag_layout::{Config, Declared};
#[cfg(feature = "store")]
use kitbag_store::Store;

use super::super::AgentError;
use super::{Engine, EngineCounter, EngineError};
#[cfg(all(feature = "providers", feature = "store"))]
use crate::answer::NodeLimits;
use crate::gather::Gatherer;
use crate::project::Project;
#[cfg(feature = "providers")]
use crate::provider::{ChosenProvider, Provider, ProviderError, Providers};
#[cfg(all(feature = "providers", feature = "store"))]
use crate::skill::{ServerStarter, StartedServers};
use crate::tokens::{Counter, ModelProfile, Vocabulary};
#[cfg(all(feature = "providers", feature = "store"))]
use crate::tool::{Approval, ApprovalRequest, ToolLimits, Toolbox, Tools};

/// Builds an [`Engine`].
#[derive(Clone)]
#[must_use]
pub struct EngineBuilder {
    #[cfg(feature = "store")]
    store: Option<Store>,
    #[cfg(feature = "providers")]
    provider: ProviderChoice,
    #[cfg(all(feature = "providers", feature = "store"))]
    learning: Option<Learning>,
    #[cfg(all(feature = "providers", feature = "store"))]
    learning_model: Option<String>,
    #[cfg(all(feature = "providers", feature = "store"))]
    toolbox: Toolbox,
    #[cfg(all(feature = "providers", feature = "store"))]
    nodes: Option<NodeLimits>,
    #[cfg(all(feature = "providers", feature = "store"))]
    starter: Option<ServerStarter>,
    project: Option<Arc<Project>>,
    agent: Option<String>,
    model: Option<String>,
    counter: Option<Arc<dyn TokenCounter>>,
    traits: Option<ModelTraits>,
    budget: Option<Tokens>,
    gatherers: Vec<Arc<dyn Gatherer>>,
    variable: fn(&str) -> Option<String>,
    #[cfg(feature = "store")]
    clock: fn() -> Timestamp,
}

#[cfg(feature = "providers")]
#[derive(Clone)]
enum ProviderChoice {
    Nobody,
    Given(Arc<dyn Provider>),
    Configured,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            #[cfg(feature = "store")]
            store: None,
            #[cfg(feature = "providers")]
            provider: ProviderChoice::Nobody,
            #[cfg(all(feature = "providers", feature = "store"))]
            learning: None,
            #[cfg(all(feature = "providers", feature = "store"))]
            learning_model: None,
            #[cfg(all(feature = "providers", feature = "store"))]
            toolbox: Toolbox::default(),
            #[cfg(all(feature = "providers", feature = "store"))]
            nodes: None,
            #[cfg(all(feature = "providers", feature = "store"))]
            starter: None,
            project: None,
            agent: None,
            model: None,
            counter: None,
            traits: None,
            budget: None,
            gatherers: Vec::new(),
            variable: |name| std::env::var(name).ok(),
            #[cfg(feature = "store")]
            clock: Timestamp::now,
        }
    }
}

impl EngineBuilder {
    /// Remembers conversations in this store.
    #[cfg(feature = "store")]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// Asks this provider, for its own model unless another is named.
    #[cfg(feature = "providers")]
    pub fn provider(mut self, provider: impl Provider + 'static) -> Self {
        self.provider = ProviderChoice::Given(Arc::new(provider));
        self
    }

    /// Asks the provider that serves the model: one that the project configures, or a usual one whose
    /// key is in the environment.
    #[cfg(feature = "providers")]
    pub fn configured_provider(mut self) -> Self {
        self.provider = ProviderChoice::Configured;
        self
    }

    /// Learns from conversations in this way, whatever the project says; see [`learn`](crate::learn).
    /// With [`Learning::Model`] a learning model that may not be asked is an error, and else one of the
    /// [`problems`](Engine::problems).
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn learning(mut self, learning: Learning) -> Self {
        self.learning = Some(learning);
        self
    }

    /// Learns with this model, whatever the project names. Without a name, the model that answers learns
    /// too. A provider that is given is asked for it; a configured one is chosen by it, and asked for its
    /// own model where the name is that of a provider alone.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn learning_model(mut self, model: impl Into<String>) -> Self {
        self.learning_model = Some(model.into());
        self
    }

    /// Offers these tools to the model. Those that it asks for are called, and it is asked again with
    /// their results, until it answers or one of the [limits](Self::tool_limits) is reached.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn tools(mut self, tools: Tools) -> Self {
        self.toolbox.tools = tools;
        self
    }

    /// Sets the most that a turn may do with tools.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn tool_limits(mut self, limits: ToolLimits) -> Self {
        self.toolbox.limits = limits;
        self
    }

    /// Answers each message with the loop of [four nodes](crate::answer#the-loop), within these limits and
    /// those of tools.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn nodes(mut self, limits: NodeLimits) -> Self {
        self.nodes = Some(limits);
        self
    }

    /// Starts the MCP servers of skills with this function when they are active, and offers their tools in the
    /// turn. Skills that were merely found in a folder have none. Without it, only a provider that is a
    /// program starts them.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn skill_servers<F>(
        mut self,
        start: impl Fn(Vec<McpServer>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = StartedServers> + Send + 'static,
    {
        self.starter = Some(ServerStarter::new(start));
        self
    }

    /// Asks this function before a tool is called that writes or destroys something, one call after the
    /// other. Without it, no such tool is called.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn approve<F>(
        mut self,
        approve: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Approval> + Send + 'static,
    {
        self.toolbox.set_approval(approve);
        self
    }

    /// Asks for this model, whatever the agent and the project name. Prompts are counted for it.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Takes agents, layouts and providers from a project.
    pub fn project(mut self, project: impl Into<Arc<Project>>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Lets this agent of the project answer. A project with one agent needs none to be named.
    pub fn agent(mut self, id: impl Into<String>) -> Self {
        self.agent = Some(id.into());
        self
    }

    /// Sets the most tokens that a prompt may have. Without it, they are 32,000, or as many as the model
    /// takes at its usual price.
    pub fn budget(mut self, budget: Tokens) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Counts with this counter instead of the model's.
    pub fn counter(mut self, counter: impl TokenCounter + 'static) -> Self {
        self.counter = Some(Arc::new(counter));
        self
    }

    /// Lays prompts out for a provider that can do this, whatever the catalogue says of the model.
    pub fn traits(mut self, traits: ModelTraits) -> Self {
        self.traits = Some(traits);
        self
    }

    /// Adds a source of chunks that is asked in every turn.
    pub fn gatherer(mut self, gatherer: impl Gatherer + 'static) -> Self {
        self.gatherers.push(Arc::new(gatherer));
        self
    }

    /// Reads variables with this function instead of from the environment of the process: keys of
    /// providers, and what a project allows its layouts to see.
    pub fn variables(mut self, variable: fn(&str) -> Option<String>) -> Self {
        self.variable = variable;
        self
    }

    /// Tells the time with this function.
    #[cfg(feature = "store")]
    pub fn clock(mut self, clock: fn() -> Timestamp) -> Self {
        self.clock = clock;
        self
    }

    /// Builds the engine. No key is read, and nothing is sent.
    ///
    /// # Errors
    /// When the project has no such agent, or when there is no provider for the model.
    pub fn build(mut self) -> Result<Engine, EngineError> {
        let settings = Box::new(self.clone());
        #[cfg(all(feature = "providers", feature = "store"))]
        let mut problems = Vec::new();
        #[cfg(all(feature = "providers", feature = "store"))]
        let learner = self.choose_learner(&mut problems)?;
        #[cfg(feature = "providers")]
        let provider = self.choose_provider()?;
        let of_agent = self
            .answering_agent()?
            .and_then(|agent| agent.model.clone());
        let model = self.model.take().or(of_agent);
        #[cfg(feature = "providers")]
        let model = model.or_else(|| Some(provider.as_ref()?.model()?.to_owned()));
        let profile = model.as_deref().map(ModelProfile::find);
        let profile = profile.and_then(Result::ok);
        #[cfg(feature = "providers")]
        tracing::debug!(
            event = "model_chosen",
            model,
            provider = provider.as_ref().map(|provider| provider.name()),
            known = profile.is_some(),
        );
        let counter = match (self.counter, profile) {
            (Some(counter), _) => EngineCounter::Given(counter),
            (None, Some(profile)) => EngineCounter::OfModel(Counter::for_profile(profile)?),
            // A model that is not known is counted with the usual vocabulary.
            (None, None) => EngineCounter::OfModel(Counter::for_vocabulary(Vocabulary::O200kBase)?),
        };
        let traits = self.traits.or_else(|| profile.map(ModelTraits::from));
        Ok(Engine {
            #[cfg(feature = "store")]
            store: self.store,
            #[cfg(feature = "providers")]
            provider,
            #[cfg(all(feature = "providers", feature = "store"))]
            learner,
            #[cfg(all(feature = "providers", feature = "store"))]
            learning: self.learning.unwrap_or_default(),
            #[cfg(all(feature = "providers", feature = "store"))]
            learning_model: self.learning_model,
            #[cfg(all(feature = "providers", feature = "store"))]
            problems,
            #[cfg(all(feature = "providers", feature = "store"))]
            toolbox: self.toolbox,
            #[cfg(all(feature = "providers", feature = "store"))]
            nodes: self.nodes,
            #[cfg(all(feature = "providers", feature = "store"))]
            starter: self.starter,
            project: self.project,
            agent: self.agent,
            model,
            counter,
            traits: traits.unwrap_or_default(),
            budget: self
                .budget
                .unwrap_or_else(|| ModelProfile::default_budget(profile)),
            gatherers: self.gatherers,
            variable: self.variable,
            #[cfg(feature = "store")]
            clock: self.clock,
            settings,
        })
    }

    /// The agent that was named, or the project's only one.
    fn answering_agent(&self) -> Result<Option<&Agent>, AgentError> {
        let Some(project) = &self.project else {
            return Ok(None);
        };
        let agents = project.config.agents.as_slice();
        match (&self.agent, agents) {
            (Some(id), _) => {
                // A mention is how agents are called elsewhere.
                let id = id.strip_prefix('@').unwrap_or(id);
                let known = || agents.iter().map(|agent| agent.id.clone()).collect();
                let agent = project.config.agent(id);
                let agent = agent.ok_or_else(|| AgentError::UnknownAgent {
                    id: id.to_owned(),
                    known: known(),
                });
                agent.map(Some)
            }
            (None, [only]) => Ok(Some(only)),
            (None, _) => Ok(None),
        }
    }

    /// The provider, and with it the model as it names it.
    #[cfg(feature = "providers")]
    fn choose_provider(&mut self) -> Result<Option<Arc<dyn Provider>>, EngineError> {
        match std::mem::replace(&mut self.provider, ProviderChoice::Nobody) {
            ProviderChoice::Nobody => Ok(None),
            ProviderChoice::Given(provider) => Ok(Some(provider)),
            ProviderChoice::Configured => {
                let ChosenProvider { provider, model } = self.configured()?;
                self.model = model;
                Ok(Some(Arc::from(provider)))
            }
        }
    }

    /// The provider that learns, where it is chosen by the name of its model. A model that a file of the
    /// folder names and that cannot be used is a problem, and rules learn instead, unless the program
    /// itself asks for a model.
    #[cfg(all(feature = "providers", feature = "store"))]
    fn choose_learner(
        &mut self,
        problems: &mut Vec<Problem>,
    ) -> Result<Option<Arc<dyn Provider>>, EngineError> {
        let is_asked_for = self.learning == Some(Learning::Model);
        let mut of_folder = None;
        if let Some(project) = &self.project {
            let config = &project.config;
            self.learning = self.learning.or(config.memory.learning);
            if self.learning_model.is_none() {
                of_folder.clone_from(&config.settings.folder_learning_model);
                self.learning_model
                    .clone_from(&config.settings.learning_model);
            }
        }
        let learns = self.learning.unwrap_or_default() == Learning::Model;
        let is_configured = matches!(self.provider, ProviderChoice::Configured);
        let model = of_folder.as_ref().or(self.learning_model.as_ref());
        let Some(model) = model.filter(|_| learns).cloned() else {
            return Ok(None);
        };
        if !is_configured {
            self.learning_model = Some(model);
            return Ok(None);
        }
        let chosen = self.providers(|all| match &of_folder {
            Some(model) => all.choose_for_folder(model, self.named()),
            None => all.choose(Some(&model)),
        });
        let ChosenProvider { provider, model } = match chosen {
            Err(EngineError::Provider(error)) if of_folder.is_some() && !is_asked_for => {
                let problem = format!("`learning_model` is ignored, and rules learn: {error}");
                let problem = Problem::new("configuration", ProblemKind::Ignored, problem);
                problems.push(match error.hint() {
                    Some(hint) => problem.with_hint(hint),
                    None => problem,
                });
                self.learning = Some(Learning::Rules);
                return Ok(None);
            }
            chosen => chosen?,
        };
        self.learning_model = model;
        Ok(Some(Arc::from(provider)))
    }

    #[cfg(feature = "providers")]
    fn configured(&self) -> Result<ChosenProvider, EngineError> {
        let agent = self.answering_agent()?;
        let of_agent = agent.and_then(|agent| Some((agent.model.as_deref()?, agent.declared)));
        self.providers(|providers| {
            let chosen = match (self.named(), of_agent) {
                (None, None) => return providers.choose(None),
                (Some(model), _) => return providers.choose(Some(model)),
                (None, Some((model, Declared::ByUser))) => providers.choose(Some(model)),
                (None, Some((model, _))) => providers.choose_for_folder(model, None),
            };
            match chosen {
                // The models of agents are also written for other programs, which know other names.
                Err(ProviderError::UnknownModel { .. }) => providers.choose(None),
                chosen => chosen,
            }
        })
    }

    /// The model that was asked for, if any was.
    #[cfg(feature = "providers")]
    fn named(&self) -> Option<&str> {
        self.model.as_deref().filter(|name| !name.is_empty())
    }

    /// Asks the providers that the project configures, and the usual ones.
    #[cfg(feature = "providers")]
    fn providers(
        &self,
        choose: impl FnOnce(&Providers<'_>) -> Result<ChosenProvider, ProviderError>,
    ) -> Result<ChosenProvider, EngineError> {
        let no_config = Config::default();
        let project = self.project.as_deref();
        let (config, root) = match project {
            Some(project) => (&project.config, project.root.as_path()),
            None => (&no_config, std::path::Path::new(".")),
        };
        Ok(choose(&Providers::new(config, root, &self.variable))?)
    }
}
