//! The latest operation on an entity, as one word.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// The latest operation on an entity.
///
/// In JSON it is a word; the user's own actions outside the conversation are written
/// `created:user`. An unknown word is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EntityStatus {
    /// Its row was read.
    Read,
    /// Its row was created in this session.
    Created,
    /// Its row was changed in this session.
    Updated,
    /// Its row is gone.
    Deleted,
    /// It is a draft that has no row yet.
    Generated,
    /// Another row points to it; it was not read itself.
    Linked,
    /// The user acted on it outside the conversation.
    #[serde(untagged)]
    ByUser(UserAction),
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(String),
}

impl EntityStatus {
    /// Tells whether the row is gone, whoever removed it.
    #[must_use]
    pub(crate) fn is_deleted(&self) -> bool {
        matches!(self, Self::Deleted | Self::ByUser(UserAction::Deleted))
    }

    /// Tells whether the session itself knows the row's fields, because it read or wrote the row.
    ///
    /// A row that is only pointed to, was only mentioned, or is gone has not been read.
    #[must_use]
    pub fn is_read(&self) -> bool {
        matches!(
            self,
            Self::Read | Self::Created | Self::Updated | Self::Generated
        )
    }

    /// Tells whether the session wrote the row, which a later read does not undo.
    #[must_use]
    pub fn is_written(&self) -> bool {
        matches!(self, Self::Created | Self::Updated)
    }
}

/// A user's action on a row outside the conversation, such as in a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UserAction {
    /// The user created the row.
    #[serde(rename = "created:user")]
    Created,
    /// The user changed the row.
    #[serde(rename = "updated:user")]
    Updated,
    /// The user removed the row.
    #[serde(rename = "deleted:user")]
    Deleted,
    /// The user pointed at the row.
    #[serde(rename = "mentioned:user")]
    Mentioned,
}

/// The word of the JSON form.
impl fmt::Display for EntityStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A formatter is a serializer for names, so that the words stand in the attributes alone.
        self.serialize(f)
    }
}
