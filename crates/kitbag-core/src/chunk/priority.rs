//! How much a chunk matters before anything is known of the task.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The five priorities. In JSON a name in any case, or the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

impl ContextPriority {
    /// All priorities, the lowest first.
    pub const ALL: [Self; 5] = [
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Critical,
    ];

    /// The base score.
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

    /// What multiplies a chunk's worth. Critical is a constraint, not a worth: beyond being in,
    /// such a chunk weighs what a high one does.
    #[must_use]
    pub const fn weight(self) -> u64 {
        match self {
            Self::Minimal => 1,
            Self::Low => 2,
            Self::Medium => 5,
            Self::High | Self::Critical => 8,
        }
    }

    /// The name as it is spelled in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "MINIMAL",
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
            Self::Critical => "CRITICAL",
        }
    }

    fn from_score(score: i64) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|priority| priority.score() == score)
    }
}

impl FromStr for ContextPriority {
    type Err = PriorityError;

    fn from_str(text: &str) -> Result<Self, PriorityError> {
        Self::ALL
            .into_iter()
            .find(|priority| priority.as_str().eq_ignore_ascii_case(text))
            .or_else(|| Self::from_score(text.parse().ok()?))
            .ok_or_else(|| PriorityError { value: text.into() })
    }
}

/// A priority that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown priority `{value}`; expected CRITICAL (1000), HIGH (800), MEDIUM (500), LOW (200) or MINIMAL (100)"
)]
pub struct PriorityError {
    /// What was given.
    pub value: String,
}

impl Serialize for ContextPriority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ContextPriority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PriorityVisitor;
        impl Visitor<'_> for PriorityVisitor {
            type Value = ContextPriority;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a priority by name or number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ContextPriority, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, score: i64) -> Result<ContextPriority, E> {
                ContextPriority::from_score(score).ok_or_else(|| {
                    E::custom(PriorityError {
                        value: alloc::format!("{score}"),
                    })
                })
            }

            fn visit_u64<E: de::Error>(self, score: u64) -> Result<ContextPriority, E> {
                self.visit_i64(i64::try_from(score).unwrap_or(i64::MAX))
            }
        }
        deserializer.deserialize_any(PriorityVisitor)
    }
}
