//! Skills: folders with a SKILL.md file, in the published format.
//!
//! Their names and descriptions stand in every prompt, and the text of a skill in those that ask for it:
//! by one of its triggers, by its name, or with `/skill NAME`. Once it was asked for it stays in the
//! conversation.
//!
//! A skill of the user's own folders speaks with the user's authority and may start MCP servers. One that
//! was merely found in the project's folder is the project's material: it is shown as such, and starts
//! nothing, until the user allows its folder.

mod active;
mod catalogue;
mod find;
mod part;
mod servers;
#[cfg(all(feature = "providers", feature = "store"))]
mod starter;
mod trigger;

use std::path::PathBuf;

use kitbag_core::context::McpServer;
use kitbag_layout::{FileProblem, SkillText};

#[cfg(all(feature = "providers", feature = "store", feature = "workspace"))]
use crate::project::{Root, RootError, read_text};

pub use active::{Activation, ActiveSkill, servers};
pub(crate) use find::{SkillPlace, SkillPlaces};
pub(crate) use part::{SkillPart, skill_part};
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) use part::{is_standing, why};
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) use starter::ServerStarter;
#[cfg(all(feature = "providers", feature = "store"))]
pub use starter::{StartedServers, not_started};
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) use trigger::Words;

/// A skill that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skill {
    /// Its file as it was read.
    pub text: SkillText,
    pub folder: PathBuf,
    /// Its file as prompts and people name it: below the project's folder, or absolute.
    pub location: String,
    /// Its origin, which decides how far it is trusted.
    pub origin: SkillOrigin,
    /// The MCP servers of its `.mcp.json`.
    pub servers: Vec<McpServer>,
}

impl Skill {
    /// The text of a file in the skill's folder, which neither `..` nor a link may lead out of.
    ///
    /// # Errors
    /// When the path leads elsewhere, or the file cannot be read as text.
    #[cfg(all(feature = "providers", feature = "store", feature = "workspace"))]
    pub(crate) fn file(&self, path: &str) -> Result<String, RootError> {
        let file = Root::open(&self.folder)?.resolve(path)?;
        read_text(&file).map_err(RootError::unreadable(path))
    }
}

/// The origin of a skill, which decides how far it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillOrigin {
    /// The user: it is in one of the user's folders.
    User,
    /// The user: it is in a folder that the user's configuration allows.
    Allowed,
    /// Whoever wrote the project.
    Project,
}

impl SkillOrigin {
    /// The origin as lists show it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Allowed => "allowed",
            Self::Project => "project",
        }
    }

    /// True if the user trusts it, so that it may instruct and start programs.
    #[must_use]
    pub const fn is_trusted(self) -> bool {
        match self {
            Self::User | Self::Allowed => true,
            Self::Project => false,
        }
    }
}

/// The skills of a project and its user, each name once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skills {
    /// The skills that can be used, by name.
    pub skills: Vec<Skill>,
    /// All that is wrong with those that were found. A skill with an error is not among the skills.
    pub problems: Vec<FileProblem>,
    /// The most tokens of their list in a prompt.
    pub budget: u32,
}

impl Skills {
    /// The skill of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.text.name == name)
    }
}
