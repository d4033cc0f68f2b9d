//! What an import is told beforehand: the format of the file, and what records lack.

use std::fmt;
use std::str::FromStr;

use kitbag_core::role::Role;
use serde::{Deserialize, Serialize};

use super::ImportLine;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportFormat {
    /// An [`ImportLine`] a line.
    Lines,
    /// The conversations of a ChatGPT export.
    ChatGpt,
    /// The conversations of a Claude export.
    Claude,
}

impl FromStr for ImportFormat {
    type Err = UnknownImportFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "lines" => Ok(Self::Lines),
            "chatgpt" => Ok(Self::ChatGpt),
            "claude" => Ok(Self::Claude),
            _ => Err(UnknownImportFormat {
                value: name.to_owned(),
            }),
        }
    }
}

impl fmt::Display for ImportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines => "lines",
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
        })
    }
}

/// There is no such format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown import format `{value}`, expected lines, chatgpt or claude")]
pub struct UnknownImportFormat {
    /// The format asked for.
    pub value: String,
}

/// What a record without a channel or sender gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ImportDefaults {
    /// The channel; else `import`, `chatgpt` or `claude`, by the format.
    pub channel: Option<String>,
    /// The sender; else `user`.
    pub sender: Option<String>,
}

impl ImportDefaults {
    /// The defaults of the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a channel.
    #[must_use]
    pub fn with_channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// With a sender.
    #[must_use]
    pub fn with_sender(mut self, sender: impl Into<String>) -> Self {
        self.sender = Some(sender.into());
        self
    }

    /// A line of nothing but these.
    pub(in crate::memory) fn line(&self, channel: &str, role: Role, text: String) -> ImportLine {
        let mut line = ImportLine::new(role, text);
        line.channel = self.channel.clone().unwrap_or_else(|| channel.to_owned());
        line.sender = self.sender.clone().unwrap_or(line.sender);
        line
    }
}
