//! The skills that a message asks for, with the reason.

use std::fmt;

use kitbag_core::context::McpServer;

use super::Skill;
use super::trigger::Words;

/// A skill that is active in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActiveSkill {
    pub name: String,
    /// The reason.
    pub activation: Activation,
    /// The MCP servers that it may start.
    pub servers: Vec<McpServer>,
}

/// The reason why a skill is active.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// The message begins with `/skill NAME`.
    Named,
    /// The message has a trigger of the skill, or its name.
    Triggered(String),
    /// An earlier message of the conversation asked for it.
    Earlier,
}

impl Activation {
    /// The reason in a word.
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Triggered(_) => "triggered",
            Self::Earlier => "earlier",
        }
    }

    /// The reason in a message itself, if it has one.
    pub(super) fn of(skill: &Skill, message: &Message<'_>) -> Option<Self> {
        if message.named == Some(skill.text.name.as_str()) {
            return Some(Self::Named);
        }
        // Triggers first: they say more about the reason than the name.
        let mut phrases = skill.text.triggers.iter().chain([&skill.text.name]);
        let found = phrases.find(|phrase| message.words.have(&Words::of(phrase)));
        found.cloned().map(Self::Triggered)
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named => f.write_str("the message asks for it with `/skill`"),
            Self::Triggered(trigger) => write!(f, "the message has `{trigger}`"),
            Self::Earlier => f.write_str("an earlier message asked for it"),
        }
    }
}

/// A message, prepared for the search of triggers.
pub(super) struct Message<'a> {
    words: Words,
    /// The name after `/skill` at the beginning of the message.
    pub(super) named: Option<&'a str>,
}

impl<'a> Message<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let named = text.strip_prefix("/skill");
        // `/skills` is another command.
        let named = named.filter(|rest| rest.starts_with(char::is_whitespace));
        Self {
            words: Words::of(text),
            named: named.and_then(|rest| rest.split_whitespace().next()),
        }
    }
}

/// The MCP servers of active skills, each name once: the first counts, in the order of the skills.
#[must_use]
pub fn servers(active: &[ActiveSkill]) -> Vec<McpServer> {
    let mut all: Vec<McpServer> = Vec::new();
    for server in active.iter().flat_map(|skill| &skill.servers) {
        if all.iter().all(|known| known.name != server.name) {
            all.push(server.clone());
        }
    }
    all
}
