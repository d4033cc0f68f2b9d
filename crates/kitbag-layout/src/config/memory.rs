//! The settings for memory: retention, secrets, facts, learning.

use core::time::Duration;

use indexmap::IndexMap;

use crate::yaml::Field;

/// The settings of a project for memory.
///
/// ```
/// use core::time::Duration;
/// use kitbag_layout::Config;
///
/// let text = "memory: {retention: 1y, channels: {slack: {retention: 90d}}}";
/// let (config, _) = Config::read("kitbag.yaml", text);
/// let day = Duration::from_secs(24 * 60 * 60);
/// assert_eq!(config.memory.retention_of("slack"), Some(90 * day));
/// assert_eq!(config.memory.retention_of("cli"), Some(365 * day));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemorySettings {
    /// The retention of channels without one of their own; without either, messages are kept for
    /// good.
    pub retention: Option<Duration>,
    /// The retention of single channels.
    pub channels: IndexMap<String, Duration>,
    /// The treatment of secrets in messages; by default they are masked.
    pub secrets: Option<StoredSecrets>,
    /// The treatment of plain statements that people make about themselves; by default they become
    /// facts.
    pub facts: Option<StatedFacts>,
    /// The treatment of conversations that end or grow too long; by default a model summarises
    /// them.
    pub learning: Option<Learning>,
}

/// The treatment of a conversation that has ended, or whose older part no longer fits into a
/// prompt. A greater value allows less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Learning {
    /// A model summarises it and finds facts. If no model can be asked, rules do.
    #[default]
    Model,
    /// Rules choose the most telling sentences.
    Rules,
    /// Nothing is done automatically.
    Off,
}

/// The treatment of a plain statement such as "I live in Porto".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatedFacts {
    /// It is kept as a fact.
    Draw,
    /// Only facts that are set explicitly are kept.
    Off,
}

/// The treatment of a secret in a message that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredSecrets {
    /// A marker is stored in its place.
    Mask,
    /// It is stored as it is.
    Keep,
}

impl MemorySettings {
    /// Returns the retention of a channel; none if its messages are kept for good.
    #[must_use]
    pub fn retention_of(&self, channel: &str) -> Option<Duration> {
        self.channels.get(channel).copied().or(self.retention)
    }

    /// Merges a project's settings over its user's.
    pub(super) fn merge(user: Self, project: Self) -> Self {
        Self {
            retention: project.retention.or(user.retention),
            channels: super::over(user.channels, project.channels),
            secrets: project.secrets.or(user.secrets),
            facts: project.facts.or(user.facts),
            learning: project.learning.or(user.learning),
        }
    }

    /// Takes back permissions that the user does not give.
    pub(super) fn restrict(&mut self, user: &Self) {
        // `keep` needs the user's consent; `mask` needs nobody's.
        let may_keep = user.secrets == Some(StoredSecrets::Keep);
        self.secrets = self
            .secrets
            .filter(|secrets| may_keep || *secrets != StoredSecrets::Keep);
        let may_draw = user.facts != Some(StatedFacts::Off);
        self.facts = self
            .facts
            .filter(|facts| may_draw || *facts != StatedFacts::Draw);
        self.learning = self.learning.max(user.learning);
    }

    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let channel = |field: &Field<'_>| {
            field.map()?;
            let age = field.read("retention", age);
            field.warn_of_misspelt_keys(&[]);
            age
        };
        let channels = field.read("channels", |field| field.read_entries(channel));
        let secrets = [("mask", StoredSecrets::Mask), ("keep", StoredSecrets::Keep)];
        let facts = [("draw", StatedFacts::Draw), ("off", StatedFacts::Off)];
        let learning = [
            ("model", Learning::Model),
            ("rules", Learning::Rules),
            ("off", Learning::Off),
        ];
        let settings = Self {
            retention: field.read("retention", age),
            channels: channels.unwrap_or_default(),
            secrets: field.read("secrets", |field| field.word(&secrets)),
            facts: field.read("facts", |field| field.word(&facts)),
            learning: field.read("learning", |field| field.word(&learning)),
        };
        field.warn_of_misspelt_keys(&[]);
        Some(settings)
    }
}

/// Reads a number with a unit: hours, days, weeks, or years of 365 days.
fn age(field: &Field<'_>) -> Option<Duration> {
    let text = field.text()?;
    let read = || {
        let (digits, unit) = text
            .trim()
            .split_at_checked(text.trim().len().checked_sub(1)?)?;
        let hours: u64 = match unit {
            "h" => 1,
            "d" => 24,
            "w" => 7 * 24,
            "y" => 365 * 24,
            _ => return None,
        };
        let seconds = digits
            .parse::<u64>()
            .ok()?
            .checked_mul(hours)?
            .checked_mul(3_600)?;
        // An age of zero would forget every message at once.
        (seconds > 0).then(|| Duration::from_secs(seconds))
    };
    match read() {
        Some(age) => Some(age),
        None => field.error(format!(
            "`{text}` is not an age such as 90d, 12w, 1y or 36h"
        )),
    }
}
