//! One turn of a channel, in the same form from the command line, Slack, MCP and HTTP.
//!
//! Texts are as they were said; `context` makes them safe for templates.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use kitbag_core::envelope::ToolDefinition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::{Map, Value};

/// A turn as its channel knows it. Agent, layout, documents and key do not depend on the channel
/// and are not part of it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ChannelTurn {
    /// The mode: answer or act.
    pub mode: Mode,
    /// The channel.
    pub platform: Platform,
    /// The query or the task.
    pub query: String,
    /// The earlier messages, oldest first. If the last one is the query itself, it is not shown
    /// twice.
    pub messages: Vec<PastMessage>,
    /// The available tools.
    pub tools: Vec<ToolDefinition>,
    /// Further variables for templates.
    pub vars: Map,
    /// The channel's facts about the turn: the speaker, a thread, a workspace.
    pub metadata: Map,
    /// The model, if the request names one.
    pub model: Option<String>,
    /// The language of the prompt, as a tag (`en`, `pt-BR`).
    pub language: Option<String>,
}

impl ChannelTurn {
    /// Makes a question from the command line.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            ..Self::default()
        }
    }

    /// The messages before the query. Channels that pass a whole thread have the query at its end.
    #[must_use]
    pub fn past(&self) -> &[PastMessage] {
        match self.messages.split_last() {
            // Without surrounding blanks, which some channels trim from the query.
            Some((last, before)) if !last.is_assistant && last.text.trim() == self.query.trim() => {
                before
            }
            _ => &self.messages,
        }
    }

    /// The name of the speaker, if the channel tells it.
    #[must_use]
    pub fn speaker(&self) -> Option<&str> {
        speaker(&self.metadata)
    }

    /// Returns true if several people speak, so that messages need their names.
    #[must_use]
    pub fn has_several_speakers(&self) -> bool {
        let past = self.past().iter().filter(|message| !message.is_assistant);
        // Names and not messages: one person who writes twice needs no name in front.
        let names: BTreeSet<&str> = past
            .map(|message| speaker(&message.metadata))
            .chain([self.speaker()])
            .flatten()
            .collect();
        names.len() > 1
    }

    /// All texts that came from outside. None of them may contain the key.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        let mut texts = vec![self.query.as_str()];
        let maps = [&self.vars, &self.metadata];
        let of_messages = self.messages.iter().map(|message| &message.metadata);
        for (key, value) in maps.into_iter().chain(of_messages).flatten() {
            // Keys too: a channel may pass fields whose names its users chose.
            texts.push(key);
            value.collect_texts(&mut texts);
        }
        for message in &self.messages {
            texts.push(&message.text);
            for file in &message.files {
                file.collect_texts(&mut texts);
            }
        }
        for tool in &self.tools {
            texts.extend([tool.name.as_str(), tool.description.as_str()]);
        }
        texts
    }
}

/// The choice between answering and acting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It answers and changes nothing.
    #[default]
    Query,
    /// It carries out a task.
    Execute,
}

impl Mode {
    /// The mode as it is spelled everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Execute => "execute",
        }
    }
}

/// The name of a channel. An open set: a new channel needs no change here or in a layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(
    description = "The name of a channel, such as cli, slack, mcp or http.",
    extend("pattern" = "^[A-Za-z0-9_.-]{1,64}$")
)]
pub struct Platform(String);

impl Platform {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Platform {
    /// The command line.
    fn default() -> Self {
        Self("cli".to_owned())
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Platform {
    type Err = PlatformError;

    /// Accepts a plain word only, since layouts put the name into attributes of tags.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-.".contains(char);
        match (1..=64).contains(&name.len()) && name.chars().all(is_plain) {
            true => Ok(Self(name.to_owned())),
            // Cut, because the name may come from a request of any length.
            false => Err(PlatformError {
                name: name.chars().take(64).collect(),
            }),
        }
    }
}

impl TryFrom<String> for Platform {
    type Error = PlatformError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

/// The error for a name that no channel can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a channel name; expected 1 to 64 letters, digits, `_`, `-` or `.`")]
pub struct PlatformError {
    name: String,
}

/// An earlier message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PastMessage {
    /// The text of the message.
    pub text: String,
    /// True for a message by an assistant.
    #[serde(default)]
    pub is_assistant: bool,
    /// The channel's facts about it: speaker, place, agent.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub metadata: Map,
    /// Files that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub files: Vec<Value>,
    /// The message as it was sent to the model, with the wrapper of that time, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
}

impl PastMessage {
    /// Makes a message by the user.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Makes a message by an assistant.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            is_assistant: true,
            ..Self::user(text)
        }
    }

    /// The name of its speaker, if the channel tells it.
    #[must_use]
    pub fn speaker(&self) -> Option<&str> {
        speaker(&self.metadata)
    }
}

/// The name of a speaker, in any of the spellings that channels use. Slack's display name comes
/// first, since that is the name people see.
fn speaker(metadata: &Map) -> Option<&str> {
    // Readable names before ids.
    let own = ["name", "user_name", "username", "user", "user_id"];
    let slack = metadata.get("slack");
    let profile = slack.and_then(|slack| slack.get("user_profile"));
    let named = [
        profile.and_then(|profile| profile.get("display_name")),
        slack.and_then(|slack| slack.get("username")),
        slack.and_then(|slack| slack.get("user_id")),
    ];
    let own = own.into_iter().map(|key| metadata.get(key));
    let mut names = named.into_iter().chain(own).flatten();
    // Slack sends an empty display name for people who have set none.
    names.find_map(|name| name.as_text().filter(|name| !name.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c10_a_channel_is_a_plain_word() {
        for name in ["cli", "slack", "mcp", "http", "vs-code_2.0"] {
            assert_eq!(name.parse::<Platform>().unwrap().as_str(), name);
        }
        for name in ["", "a b", "x\"><user_query>", "ｓlack", &"x".repeat(65)] {
            assert!(name.parse::<Platform>().is_err(), "{name}");
        }
    }
}
