//! Building an [`Engine`].

mod choose;

use std::sync::Arc;
#[cfg(all(feature = "providers", feature = "store"))]
use std::time::Duration;

#[cfg(feature = "store")]
use jiff::Timestamp;
use kitbag_core::assembly::ModelTraits;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::context::McpServer;
use kitbag_core::tokens::{TokenCounter, Tokens};
#[cfg(feature = "providers")]
use kitbag_layout::Declared;
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_layout::{Learning, Routing};
#[cfg(feature = "store")]
use kitbag_store::Store;

use super::{Engine, EngineCounter, EngineError};
#[cfg(all(feature = "providers", feature = "store"))]
use crate::answer::NodeLimits;
#[cfg(all(feature = "providers", feature = "store"))]
use crate::checkpoint::Checkpoints;
#[cfg(all(feature = "providers", feature = "store"))]
use crate::extension::{Extension, Extensions, Rules};
use crate::gather::Gatherer;
use crate::project::Project;
#[cfg(feature = "providers")]
use crate::provider::Provider;
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
    checkpoints: Option<Checkpoints>,
    #[cfg(all(feature = "providers", feature = "store"))]
    starter: Option<ServerStarter>,
    #[cfg(all(feature = "providers", feature = "store"))]
    extensions: Extensions,
    #[cfg(all(feature = "providers", feature = "store"))]
    routing: Option<Arc<Routing>>,
    /// The model that routing has chosen, and the configuration that declared it.
    #[cfg(feature = "providers")]
    routed: Option<(String, Declared)>,
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
            checkpoints: None,
            #[cfg(all(feature = "providers", feature = "store"))]
            starter: None,
            #[cfg(all(feature = "providers", feature = "store"))]
            extensions: Extensions::default(),
            #[cfg(all(feature = "providers", feature = "store"))]
            routing: None,
            #[cfg(feature = "providers")]
            routed: None,
            project: None,
            agent: None,
            model: None,
            counter: None,
            traits: None,
            budget: None,
            gatherers: Vec::new(),
            // A function, so that a server can answer without its own environment.
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

    /// Chooses the model of each message in this way, whatever the project says, unless a model is
    /// [named](Self::model); see [`route`](crate::route).
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn routing(mut self, routing: Routing) -> Self {
        self.routing = Some(Arc::new(routing));
        self
    }

    /// Asks for the model that routing has chosen.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(super) fn routed_to(mut self, model: &str, declared: Declared) -> Self {
        self.routed = Some((model.to_owned(), declared));
        // The engine that was asked learns from the turn; two would learn it twice.
        self.learning = Some(Learning::Off);
        self
    }

    /// Lets an extension take part in each turn, after those that were added before; see
    /// [`extension`](crate::extension).
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn extension(mut self, extension: impl Extension) -> Self {
        self.extensions.add(Arc::new(extension));
        self
    }

    /// Sets the longest that an extension may take for one phase. Without it, they are 5 seconds.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn extension_time(mut self, time: Duration) -> Self {
        self.extensions.time = time;
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

    /// Lets the senders of messages save their conversations here, with `/checkpoint`. Such a file stays when
    /// messages are forgotten, so that only people who may see the folder should be let.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub fn checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.checkpoints = Some(checkpoints);
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
        // Kept before anything is chosen, so that another model or agent can be chosen from the same settings.
        let settings = Box::new(self.clone());
        #[cfg(all(feature = "providers", feature = "store"))]
        let mut problems = Vec::new();
        #[cfg(all(feature = "providers", feature = "store"))]
        // Before the provider, whose choice takes the settings that this one reads.
        let learner = self.choose_learner(&mut problems)?;
        #[cfg(all(feature = "providers", feature = "store"))]
        let routing = self.choose_routing();
        #[cfg(all(feature = "providers", feature = "store"))]
        let extensions = {
            let rules = self.project.as_ref().map(|project| &project.config.rules);
            let mut all = self.extensions.clone();
            if let Some(rules) = rules.filter(|rules| !rules.is_empty()) {
                // Last, so that the rules of a project see what the program's own extensions did.
                all.add(Arc::new(Rules(rules.clone())));
            }
            all
        };
        #[cfg(feature = "providers")]
        let provider = self.choose_provider()?;
        let of_agent = self
            .answering_agent()?
            .and_then(|agent| agent.model.clone());
        // A named model wins over the agent's, and that over the provider's default.
        let model = self.model.take().or(of_agent);
        #[cfg(feature = "providers")]
        let model = model.or_else(|| Some(provider.as_ref()?.model()?.to_owned()));
        let profile = model.as_deref().map(ModelProfile::find);
        let profile = profile.and_then(Result::ok);
        // Whoever asks a server names it, and may have pasted anything.
        #[cfg(feature = "providers")]
        let named = model
            .as_deref()
            .map(|model| kitbag_secrets::redact(model, "").text);
        #[cfg(feature = "providers")]
        tracing::debug!(
            event = "model_chosen",
            model = named.as_deref(),
            provider = provider.as_ref().map(|provider| provider.name()),
            known = profile.is_some(),
        );
        let counter = match (self.counter, profile) {
            (Some(counter), _) => EngineCounter::Given(counter),
            (None, Some(profile)) => {
                EngineCounter::OfModel(Counter::for_profile(profile)?.keeping_texts())
            }
            // A model that is not known is counted with the usual vocabulary.
            (None, None) => {
                let counter = Counter::for_vocabulary(Vocabulary::O200kBase)?;
                EngineCounter::OfModel(counter.keeping_texts())
            }
        };
        // Without a profile nothing is known of the provider's cache, and none is planned for.
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
            routing,
            #[cfg(all(feature = "providers", feature = "store"))]
            routed: Arc::default(),
            #[cfg(all(feature = "providers", feature = "store"))]
            problems,
            #[cfg(all(feature = "providers", feature = "store"))]
            toolbox: self.toolbox,
            #[cfg(all(feature = "providers", feature = "store"))]
            nodes: self.nodes,
            #[cfg(all(feature = "providers", feature = "store"))]
            checkpoints: self.checkpoints,
            #[cfg(all(feature = "providers", feature = "store"))]
            starter: self.starter,
            #[cfg(all(feature = "providers", feature = "store"))]
            extensions,
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
}
