//! The settings for channels: the senders who may send messages on them.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::yaml::Field;

/// The senders who are admitted on each channel, by the files of user and project.
///
/// A channel that no file lists is open, and so is one without `senders`. If both files name
/// senders for a channel, only those in both are admitted: a file can only restrict another one.
///
/// ```
/// use kitbag_layout::Config;
///
/// let (config, _) = Config::read("kitbag.yaml", "channels: {slack: {senders: [ann, bob]}}");
/// assert!(config.channels.admit("slack", "ann"));
/// assert!(!config.channels.admit("slack", "eve"));
/// assert!(config.channels.admit("cli", "eve"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Channels {
    senders: IndexMap<String, BTreeSet<String>>,
    /// True if a file cannot be read, so that its restrictions are unknown.
    is_unknown: bool,
}

impl Channels {
    /// Returns true if this sender may send messages on this channel. Both names must match
    /// exactly.
    #[must_use]
    pub fn admit(&self, channel: &str, sender: &str) -> bool {
        let senders = self.senders.get(channel);
        !self.is_unknown && senders.is_none_or(|senders| senders.contains(sender))
    }

    /// Returns true if a file that may restrict senders cannot be read. Then nobody is admitted
    /// anywhere.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// The channels that a file restricts, each with the senders that it admits.
    pub fn restricted(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        let senders = self.senders.iter();
        senders.map(|(channel, senders)| (channel.as_str(), senders))
    }

    /// The channels of a file that cannot be read.
    pub(super) fn unknown() -> Self {
        Self {
            is_unknown: true,
            ..Self::default()
        }
    }

    /// Admits only senders that both admit.
    pub(super) fn merge(mut self, other: Self) -> Self {
        for (channel, senders) in other.senders {
            match self.senders.get_mut(&channel) {
                Some(own) => own.retain(|sender| senders.contains(sender)),
                None => drop(self.senders.insert(channel, senders)),
            }
        }
        self.is_unknown |= other.is_unknown;
        self
    }

    /// Reads a map of channels. A channel with mistakes admits only the senders that could be read.
    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        if field.map().is_none() {
            return Some(Self::unknown());
        }
        let mut senders = IndexMap::new();
        for channel in field.present() {
            let problems = field.problems.count();
            let named = read_senders(&channel);
            // A restriction with a mistake in it must not open the channel.
            let has_problem = field.problems.count() > problems;
            if named.is_some() || has_problem {
                senders.insert(channel.name().to_owned(), named.unwrap_or_default());
            }
        }
        Some(Self {
            senders,
            is_unknown: false,
        })
    }
}

fn read_senders(channel: &Field<'_>) -> Option<BTreeSet<String>> {
    channel.map()?;
    // Marks the key as known; it is read below, where a missing list differs from an empty one.
    channel.get("senders");
    channel.warn_of_misspelt_keys(&[]);
    let mut entries = channel.entries();
    let senders = entries.find(|entry| entry.name() == "senders")?;
    Some(senders.texts()?.into_iter().collect())
}
