//! A project: its agents, layouts, documents, nodes and settings, as its file describes them.
//!
//! Only the text is read here. The files that it names are the caller's to find and to open.

mod channels;
mod document;
mod hooks;
mod memory;
mod nodes;
mod provider;
mod read;
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
pub use provider::{
    Declared, HeaderSource, KeySource, ProviderEntry, ProviderKind, ProviderTimeouts,
};
pub use server::{ProxyMemory, ServerSettings, SlackSettings};
pub use skills::{SkillPath, SkillSettings};

/// What a project file says, or several of them laid over each other.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Config {
    /// The agents, each id once.
    pub agents: Vec<Agent>,
    /// The layouts, each id once.
    pub layouts: IndexMap<String, Layout>,
    /// The documents by name.
    pub documents: IndexMap<String, DocumentEntry>,
    /// The views of nodes by name, those that cannot be used among them; see [`node`](Self::node).
    pub nodes: IndexMap<String, Option<View>>,
    /// Where skills are, and which count.
    pub skills: SkillSettings,
    /// Variables that templates see.
    pub vars: Map,
    /// The variables of the environment that templates may see, if that is said.
    pub env_allow: Option<Vec<String>>,
    /// How the project is read and rendered.
    pub settings: Settings,
    /// The settings for memory: retention, secrets, facts, learning.
    pub memory: MemorySettings,
    /// The settings for hooks of coding agents.
    pub hooks: HookSettings,
    /// The settings of a server.
    pub server: ServerSettings,
    /// The providers of models by name.
    pub providers: IndexMap<String, ProviderEntry>,
    /// Who may send messages on which channels.
    pub channels: Channels,
    /// All else that is not read here, as it is written.
    pub extra: Map,
}

/// How a project is read and rendered. What is not said is missing.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// What to do when an agent asks for a layout that is not there.
    pub unknown_layout: Option<OnUnknown>,
    /// The layout of agents that ask for none.
    pub layout_default: Option<String>,
    /// The language of agents that have none.
    pub language: Option<String>,
    /// The model that answers where neither a request nor an agent names one.
    pub model: Option<String>,
    /// The model that summarises and finds facts; the one that answers if it is missing.
    pub learning_model: Option<String>,
    /// The model of a file that was merely found, which counts before [`model`](Self::model) where it
    /// may be followed.
    pub folder_model: Option<String>,
    /// The same of [`learning_model`](Self::learning_model).
    pub folder_learning_model: Option<String>,
    /// Folders with files of layouts.
    pub layouts_dirs: Vec<String>,
    /// The folder that documents are in.
    pub documents_root: Option<String>,
    /// Settings of other programs, as they are written.
    pub extra: Map,
    /// What is done with unknown layouts where nothing is said of it.
    unknown_layout_unsaid: OnUnknown,
}

impl Config {
    /// The agent of that id.
    #[must_use]
    pub fn agent(&self, id: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    /// Stands for a file that cannot be read: it says nothing, and nobody knows whom it admits.
    #[must_use]
    pub fn unreadable() -> Self {
        Self {
            channels: Channels::unknown(),
            ..Self::default()
        }
    }

    /// Lays a project over what its user has everywhere: the project's value counts, maps are
    /// merged by key, and agents by id. Of senders only those are admitted whom both admit.
    #[must_use]
    pub fn merge(user: Self, project: Self) -> Self {
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
            server: ServerSettings::merge(user.server, project.server),
            providers: over(user.providers, project.providers),
            channels: user.channels.merge(project.channels),
            extra: merge(&user.extra, Some(&project.extra)),
        }
    }

    /// Notes that the file was found in a folder, and not named by its user: it may be anybody's. Of
    /// memory and hooks it only restricts what the user allows, it replaces no provider of the user's, the
    /// models that it names are known as a folder's, it makes no skill the user's own, and says nothing of servers.
    pub fn found_in_folder(&mut self, user: &Self) {
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
            agent.declared = Declared::InFolder;
        }
        let settings = &mut self.settings;
        settings.folder_model = settings.model.take();
        settings.folder_learning_model = settings.learning_model.take();
    }
}

impl Settings {
    /// What to do when an agent asks for a layout that is not there: what is said, else refuse
    /// it, but fall back in projects named `crewx.yaml`, which were written to count on that.
    #[must_use]
    pub fn on_unknown_layout(&self) -> OnUnknown {
        self.unknown_layout.unwrap_or(self.unknown_layout_unsaid)
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
            unknown_layout_unsaid: project.unknown_layout_unsaid,
            extra: merge(&user.extra, Some(&project.extra)),
        }
    }
}

fn over<T>(mut base: IndexMap<String, T>, over: IndexMap<String, T>) -> IndexMap<String, T> {
    base.extend(over);
    base
}

#[cfg(test)]
mod tests;
