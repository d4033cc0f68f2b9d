//! What an operator should know about a prompt.

use serde::Serialize;

/// Something that went wrong, or was left out, on the way to a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// What happened.
    pub message: String,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoteKind {
    /// The layout could not be used, and the agent's own prompt stands alone.
    Fallback,
    /// A template of the agent could not be rendered and stands as it was written.
    Template,
    /// A prop was not as its schema asks.
    Prop,
    /// A document is not known.
    Document,
}

impl Note {
    pub(crate) fn new(kind: NoteKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}
