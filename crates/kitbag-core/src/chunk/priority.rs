//! The importance of a chunk before the task is known.

use alloc::string::{String, ToString};
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The five priorities. JSON has the name in any case, or the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE", try_from = "Value")]
pub enum ContextPriority {
    /// 100: filler, such as indirect dependencies.
    Minimal,
    /// 200: nice to have, such as documentation and examples.
    Low,
    /// 500: useful, such as configuration.
    Medium,
    /// 800: strongly related, such as recent changes.
    High,
    /// 1000: it must be in, such as the open file.
    Critical,
}

names!(ContextPriority {
    Minimal = "MINIMAL",
    Low = "LOW",
    Medium = "MEDIUM",
    High = "HIGH",
    Critical = "CRITICAL",
});

impl ContextPriority {
    /// Returns the base score for ranking.
    #[must_use]
    pub const fn score(self) -> i64 {
        match self {
            Self::Minimal => 100,
            Self::Low => 200,
            Self::Medium => 500,
            Self::High => 800,
            Self::Critical => 1000,
        }
    }

    /// Returns the factor on a chunk's worth. Critical is a constraint, not a worth: such a chunk
    /// is in anyway, and beyond that weighs as much as a high one.
    #[must_use]
    pub const fn weight(self) -> u64 {
        match self {
            // The base scores divided by a hundred.
            Self::Minimal => 1,
            Self::Low => 2,
            Self::Medium => 5,
            Self::High | Self::Critical => 8,
        }
    }
}

impl FromStr for ContextPriority {
    type Err = PriorityError;

    fn from_str(text: &str) -> Result<Self, PriorityError> {
        // Programs may write the number in place of the name.
        let score: Option<i64> = text.parse().ok();
        Self::ALL
            .into_iter()
            .find(|one| one.as_str().eq_ignore_ascii_case(text) || Some(one.score()) == score)
            .ok_or_else(|| PriorityError { value: text.into() })
    }
}

/// A priority that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown priority `{value}`; expected CRITICAL (1000), HIGH (800), MEDIUM (500), LOW (200) or MINIMAL (100)"
)]
pub struct PriorityError {
    /// The rejected value.
    pub value: String,
}

impl TryFrom<Value> for ContextPriority {
    type Error = PriorityError;

    fn try_from(value: Value) -> Result<Self, PriorityError> {
        match value {
            Value::String(text) => text.parse(),
            other => other.to_string().parse(),
        }
    }
}
