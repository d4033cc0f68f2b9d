//! A project: its agents, layouts, documents, nodes and settings, as its file describes them.
//!
//! Only the text is read here. The caller finds and opens the files that it names.

mod channels;
mod document;
mod hooks;
mod memory;
mod nodes;
mod pack;
mod pattern;
mod provider;
mod read;
mod routing;
mod rules;
mod server;
mod skills;

use indexmap::IndexMap;
use kitbag_core::view::View;

use crate::agent::Agent;
use crate::layouts::OnUnknown;
use crate::manifest::Layout;
use crate::props::merge;
use crate::value::Map;

pub use channels::Channels;
pub use document::{DocumentEntry, DocumentSource};
pub use hooks::{HookScope, HookSettings};
pub use memory::{Learning, MemorySettings, StatedFacts, StoredSecrets};
pub use pack::PackSettings;
pub use pattern::{NamePattern, Pattern};
pub use provider::{
    Declared, HeaderSource, KeySource, ProviderEntry, ProviderKind, ProviderTimeouts,
};
pub use routing::{RouteClass, RouteClassifier, RouteRule, Routing};
pub use rules::{CallStatus, ContextRule};
pub use server::{ProxyMemory, ServerSettings, SlackSettings};
pub use skills::{SkillPath, SkillSettings};

/// The contents of a project file, or of several merged ones.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Config {
    /// The agents, each id once.
    pub agents: Vec<Agent>,
    /// The layouts, each id once.
    pub layouts: IndexMap<String, Layout>,
    pub documents: IndexMap<String, DocumentEntry>,
    /// The views of nodes by name, including invalid ones as none; see [`node`](Self::node).
    pub nodes: IndexMap<String, Option<View>>,
    /// The folders of skills, and their selection.
    pub skills: SkillSettings,
    /// Variables that templates see.
    pub vars: Map,
    /// The environment variables that templates may see, if the file says so.
    pub env_allow: Option<Vec<String>>,
    /// The settings for reading and rendering the project.
    pub settings: Settings,
    /// The settings for memory: retention, secrets, facts, learning.
    pub memory: MemorySettings,
    /// The settings for hooks of coding agents.
    pub hooks: HookSettings,
    /// The habits of the project's packs.
    pub pack: PackSettings,
    /// The settings of a server.
    pub server: ServerSettings,
    /// The providers of models by name.
    pub providers: IndexMap<String, ProviderEntry>,
    /// The choice of the model for each message, if routing is configured.
    pub routing: Option<Routing>,
    /// The texts that a model gets after certain results of tools.
    pub rules: Vec<ContextRule>,
    /// The senders who may send messages on each channel.
    pub channels: Channels,
    /// Entries under unknown keys, as written.
    pub extra: Map,
}

/// The settings for reading and rendering a project. A setting that the file omits is missing.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The reaction to an agent that asks for a layout that does not exist.
    pub unknown_layout: Option<OnUnknown>,
    /// The layout of agents that ask for none.
    pub layout_default: Option<String>,
    /// The language of agents that have none.
    pub language: Option<String>,
    /// The model that answers if neither the request nor the agent names one.
    pub model: Option<String>,
    /// The model that summarises and finds facts. If missing, the answering model does.
    pub learning_model: Option<String>,
    /// The model named by a file that was merely found in a folder. Where such a file may be
    /// followed, it wins over [`model`](Self::model).
    pub folder_model: Option<String>,
    /// The learning model named by such a file.
    pub folder_learning_model: Option<String>,
    /// Folders with files of layouts.
    pub layouts_dirs: Vec<String>,
    /// The folder of documents.
    pub documents_root: Option<String>,
    /// Settings of other programs, as written.
    pub extra: Map,
    /// The reaction to unknown layouts if the file has no setting for it.
    unknown_layout_default: OnUnknown,
}

impl Config {
    /// Returns the agent with this id.
    #[must_use]
    pub fn agent(&self, id: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    /// Stands for a file that cannot be read. It sets nothing and admits nobody, since it may
    /// restrict who is admitted.
    #[must_use]
    pub fn unreadable() -> Self {
        Self {
            channels: Channels::unknown(),
            ..Self::default()
        }
    }

    /// Merges a project's file over its user's: the project's value wins, maps are merged by key,
    /// and agents by id. A sender is admitted only if both files admit it.
    #[must_use]
    pub fn merge(user: Self, project: Self) -> Self {
        // The later of two agents with one id wins, so the project's come last.
        let agents = user.agents.into_iter().chain(project.agents);
        let agents: IndexMap<String, Agent> =
            agents.map(|agent| (agent.id.clone(), agent)).collect();
        Self {
            agents: agents.into_values().collect(),
            layouts: over(user.layouts, project.layouts),
            documents: over(user.documents, project.documents),
            nodes: over(user.nodes, project.nodes),
            skills: SkillSettings::merge(user.skills, project.skills),
            vars: merge(&user.vars, Some(&project.vars)),
            env_allow: project.env_allow.or(user.env_allow),
            settings: Settings::merge(user.settings, project.settings),
            memory: MemorySettings::merge(user.memory, project.memory),
            hooks: HookSettings::merge(user.hooks, project.hooks),
            pack: PackSettings::merge(user.pack, project.pack),
            server: ServerSettings::merge(user.server, project.server),
            providers: over(user.providers, project.providers),
            routing: project.routing.or(user.routing),
            rules: rules_over(user.rules, project.rules),
            channels: user.channels.merge(project.channels),
            extra: merge(&user.extra, Some(&project.extra)),
        }
    }

    /// Notes that the file was found in a folder, and not named by its user: it may be anybody's. Of
    /// memory and hooks it only restricts what the user allows, it replaces no provider of the user's, the
    /// models that it names are known as a folder's, it makes no skill the user's own, and says nothing of servers.
    pub fn found_in_folder(&mut self, user: &Self) {
        // What a visitor types in a folder must not be kept or analysed in ways that they did not allow.
        self.memory.restrict(&user.memory);
        self.hooks.restrict(&user.hooks);
        self.skills.restrict(&user.skills);
        self.server.found_in_folder();
        self.providers
            .retain(|name, _| !user.providers.contains_key(name));
        for provider in self.providers.values_mut() {
            provider.declared = Declared::InFolder;
        }
        for agent in &mut self.agents {
            // The agent's model is checked against this when it is chosen.
            agent.declared = Declared::InFolder;
        }
        if let Some(routing) = &mut self.routing {
            routing.declared = Declared::InFolder;
        }
        let settings = &mut self.settings;
        // Taken out of its place, so that code which knows nothing of folders cannot follow it.
        settings.folder_model = settings.model.take();
        settings.folder_learning_model = settings.learning_model.take();
    }
}

impl Settings {
    /// The reaction to an unknown layout: the setting, or else refusal, except in projects named
    /// `crewx.yaml`, which were written with a fall-back in mind.
    #[must_use]
    pub fn on_unknown_layout(&self) -> OnUnknown {
        self.unknown_layout.unwrap_or(self.unknown_layout_default)
    }

    fn merge(user: Self, project: Self) -> Self {
        let layouts_dirs = match project.layouts_dirs.is_empty() {
            true => user.layouts_dirs,
            false => project.layouts_dirs,
        };
        Self {
            unknown_layout: project.unknown_layout.or(user.unknown_layout),
            layout_default: project.layout_default.or(user.layout_default),
            language: project.language.or(user.language),
            model: project.model.or(user.model),
            learning_model: project.learning_model.or(user.learning_model),
            folder_model: project.folder_model.or(user.folder_model),
            folder_learning_model: project.folder_learning_model.or(user.folder_learning_model),
            layouts_dirs,
            documents_root: project.documents_root.or(user.documents_root),
            // Depends on the name of the project's file, which the user's file does not have.
            unknown_layout_default: project.unknown_layout_default,
            extra: merge(&user.extra, Some(&project.extra)),
        }
    }
}

/// The rules of two files; the project's counts where both have one of a name.
fn rules_over(mut user: Vec<ContextRule>, project: Vec<ContextRule>) -> Vec<ContextRule> {
    let is_other = |rule: &ContextRule| {
        let mut others = project.iter();
        others.all(|other| other.message.key != rule.message.key)
    };
    // The project's rules come last, in the order of their file.
    user.retain(is_other);
    user.extend(project);
    user
}

fn over<T>(mut base: IndexMap<String, T>, over: IndexMap<String, T>) -> IndexMap<String, T> {
    base.extend(over);
    base
}

#[cfg(test)]
mod tests;
