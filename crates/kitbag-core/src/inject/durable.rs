//! Durable context messages of a conversation: they stay until they are removed or consumed.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::ContextMessage;
use super::throttle::ContentHash;

/// The durable entries, in the order in which their keys first came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DurableEntries {
    items: Vec<ContextMessage>,
}

impl DurableEntries {
    /// Returns the entries.
    #[must_use]
    pub fn as_slice(&self) -> &[ContextMessage] {
        &self.items
    }

    /// Applies one action.
    pub fn apply(&mut self, action: EntryAction) {
        match action {
            EntryAction::Upsert { message } => {
                match self.items.iter_mut().find(|item| item.key == message.key) {
                    // At its old place: the order of the prompt stays as it was.
                    Some(item) => *item = message,
                    None => self.items.push(message),
                }
            }
            EntryAction::Remove { key } => self.items.retain(|item| item.key != key),
            EntryAction::RemoveByKeyPrefix { prefix } => {
                self.items.retain(|item| !item.key.starts_with(&prefix));
            }
            EntryAction::Clear => self.items.clear(),
        }
    }

    /// Removes the entries that a sent prompt consumed.
    ///
    /// An entry that was replaced with other content in the meantime stays: nobody has seen it.
    pub fn consume(&mut self, consumed: &[Consumed]) {
        self.items
            .retain(|item| !consumed.contains(&Consumed::new(item)));
    }
}

/// A change to the durable entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryAction {
    /// Adds an entry, or replaces the one with its key at its place.
    Upsert { message: ContextMessage },
    /// Removes the entry with this key.
    Remove { key: String },
    /// Removes all entries whose keys begin so.
    RemoveByKeyPrefix {
        /// The beginning.
        prefix: String,
    },
    /// Removes all entries.
    Clear,
}

/// A durable entry as it was emitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consumed {
    /// The entry's key.
    pub key: String,
    content: ContentHash,
}

impl Consumed {
    pub(super) fn new(message: &ContextMessage) -> Self {
        Self {
            key: message.key.clone(),
            content: ContentHash::of(&message.content),
        }
    }
}
