//! The refusals of the registry, with advice.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::status::EntityStatus;

/// A refusal of the registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No entity has this ref.
    #[error("no entity has the ref `{reference}`")]
    UnknownRef {
        /// The ref asked for.
        reference: String,
    },
    /// The entity is not a draft.
    #[error("`{reference}` is not a draft but {status}")]
    NotADraft {
        /// The ref asked for.
        reference: String,
        status: EntityStatus,
    },
    /// Several drafts have the label of the created row.
    #[error("{} drafts are called `{label}`: {}", references.len(), references.join(", "))]
    AmbiguousDraft {
        /// The label of the created row.
        label: String,
        /// The drafts that have it.
        references: Vec<String>,
    },
    /// The row to be put in a draft's place has a ref of its own.
    #[error("`{reference}` cannot take a row that is already `{existing}`")]
    RowHasRef {
        /// The draft.
        reference: String,
        /// The row's own ref.
        existing: String,
    },
    /// The entity is a draft, which has no row.
    #[error("`{reference}` is a draft that is not saved yet")]
    Unsaved {
        /// The ref asked for.
        reference: String,
    },
    /// The entity's row is gone.
    #[error("the row of `{reference}` was deleted")]
    Deleted {
        /// The ref asked for.
        reference: String,
    },
}

impl RegistryError {
    pub(super) fn unknown(reference: &str) -> Self {
        Self::UnknownRef {
            reference: reference.to_owned(),
        }
    }

    /// Returns advice on what to do instead.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownRef { .. } => "use a ref that the entity context shows",
            Self::NotADraft { .. } => "name a ref that starts with `gen_` and is not saved yet",
            Self::AmbiguousDraft { .. } => "say which draft was saved by its ref",
            Self::RowHasRef { .. } => "drop the draft, or register the row without one",
            Self::Unsaved { .. } => "save the draft first",
            Self::Deleted { .. } => "use a ref whose row still exists",
        }
    }
}
