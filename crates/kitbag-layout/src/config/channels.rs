//! Channels: who may send messages on them.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::yaml::Field;

/// Who may send messages on which channels, as the user's file and the project's say.
///
/// A channel that no file lists is open, and so is one without `senders`. Where both files name the
/// senders of a channel, both must name a sender: a file can only restrict what another one says.
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
    /// Set where a file cannot be read, so that nobody knows whom it admits.
    is_unknown: bool,
}

impl Channels {
    /// Whether this sender may send messages on this channel. Both are compared letter for letter.
    #[must_use]
    pub fn admit(&self, channel: &str, sender: &str) -> bool {
        let senders = self.senders.get(channel);
        !self.is_unknown && senders.is_none_or(|senders| senders.contains(sender))
    }

    /// Whether a file that may name senders cannot be read, so that nobody is admitted anywhere.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// The channels of a file that cannot be read.
    pub(super) fn unknown() -> Self {
        Self {
            is_unknown: true,
            ..Self::default()
        }
    }

    /// Admits whom both admit.
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

    /// Reads a map of channels. One with mistakes admits only those that could be read.
    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        if field.map().is_none() {
            return Some(Self::unknown());
        }
        let mut senders = IndexMap::new();
        for channel in field.present() {
            let problems = field.problems.count();
            let named = read_senders(&channel);
            // A restriction with a slip in it must not open the channel.
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
    channel.get("senders");
    channel.warn_of_misspelt_keys(&[]);
    let mut entries = channel.entries();
    let senders = entries.find(|entry| entry.name() == "senders")?;
    Some(senders.texts()?.into_iter().collect())
}
