//! The choices of an [`EngineBuilder`]: the agent, the provider, the routing and the model that learns.

#[cfg(feature = "providers")]
use std::sync::Arc;

#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_layout::Agent;
#[cfg(feature = "providers")]
use kitbag_layout::{Config, Declared};
#[cfg(all(feature = "providers", feature = "store"))]
use kitbag_layout::{Learning, Routing};

use super::EngineBuilder;
#[cfg(feature = "providers")]
use super::{EngineError, ProviderChoice};
use crate::engine::AgentError;
#[cfg(feature = "providers")]
use crate::provider::{ChosenProvider, Provider, ProviderError, Providers};

impl EngineBuilder {
    /// The agent that was named, or the project's only one.
    pub(super) fn answering_agent(&self) -> Result<Option<&Agent>, AgentError> {
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
    pub(super) fn choose_provider(&mut self) -> Result<Option<Arc<dyn Provider>>, EngineError> {
        match std::mem::replace(&mut self.provider, ProviderChoice::Nobody) {
            ProviderChoice::Nobody => Ok(None),
            ProviderChoice::Given(provider) => {
                if let Some((model, _)) = self.routed.take() {
                    self.model = Some(model);
                }
                Ok(Some(provider))
            }
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
    pub(super) fn choose_learner(
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

    /// The routing that the program or the project sets, unless somebody has named the model.
    #[cfg(all(feature = "providers", feature = "store"))]
    pub(super) fn choose_routing(&mut self) -> Option<Arc<Routing>> {
        if self.routed.is_some() || self.named().is_some() {
            return None;
        }
        let of_project = || {
            let routing = self.project.as_ref()?.config.routing.clone();
            routing.map(Arc::new)
        };
        self.routing.clone().or_else(of_project)
    }

    #[cfg(feature = "providers")]
    fn configured(&self) -> Result<ChosenProvider, EngineError> {
        let agent = self.answering_agent()?;
        let of_agent = agent.and_then(|agent| Some((agent.model.as_deref()?, agent.declared)));
        if let Some((model, declared)) = &self.routed {
            return self.providers(|providers| match declared {
                Declared::ByUser => providers.choose(Some(model)),
                _ => providers.choose_for_folder(model, None),
            });
        }
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
