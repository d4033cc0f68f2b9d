//! The settings of an import: the format of the file, and defaults for its records.

use std::str::FromStr;

use kitbag_core::role::Role;
use serde::{Deserialize, Serialize};

use super::ImportLine;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportFormat {
    /// An [`ImportLine`] a line, or a message as chat APIs have it.
    Lines,
    /// The conversations of a ChatGPT export.
    ChatGpt,
    /// The conversations of a Claude export.
    Claude,
}

impl ImportFormat {
    const ALL: [Self; 3] = [Self::Lines, Self::ChatGpt, Self::Claude];

    /// Its name, which is also the channel of an export.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
        }
    }
}

impl FromStr for ImportFormat {
    type Err = UnknownImportFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| UnknownImportFormat(name.to_owned()))
    }
}

/// There is no such format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown import format `{0}`, expected lines, chatgpt or claude")]
pub struct UnknownImportFormat(String);

/// Defaults for records without a channel or a sender.
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
    /// A line of nothing but these.
    pub(in crate::memory) fn line(&self, channel: &str, role: Role, text: String) -> ImportLine {
        let mut line = ImportLine::new(role, text);
        line.channel = self.channel.clone().unwrap_or_else(|| channel.to_owned());
        line.sender = self.sender.clone().unwrap_or(line.sender);
        line
    }
}
