//! Secrets that were replaced in what is shown, whoever brought it.

use kitbag_core::chunk::ContextChunk;
use kitbag_workspace::secrets::{Finding, Redacted, redact};
use serde::Serialize;

/// The source of what stands in the task itself.
pub(super) const TASK: &str = "task";

/// A secret that was replaced in what is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Redaction {
    /// The file, or the source of another chunk; `task` for the task.
    pub source: String,
    /// The line, counted from 1.
    pub line: u32,
    /// What kind of secret it looks like.
    pub kind: String,
}

impl Redaction {
    /// What was found in a source.
    pub(super) fn all(source: &str, found: &[Finding]) -> Vec<Self> {
        let redaction = |finding: &Finding| Self {
            source: source.to_owned(),
            line: finding.line,
            kind: finding.kind.to_owned(),
        };
        found.iter().map(redaction).collect()
    }
}

/// Replaces the secrets in a chunk that a gatherer brought. Lines are those of its longest form.
pub(super) fn of_chunk(chunk: &mut ContextChunk) -> Vec<Redaction> {
    let mut redactions = Vec::new();
    for (place, level) in chunk.levels.iter_mut().enumerate() {
        let redacted = redact(&level.content, &chunk.source);
        if redacted.found.is_empty() {
            continue;
        }
        if place == 0 {
            redactions = Redaction::all(&chunk.source, &redacted.found);
        }
        level.content = redacted.text.into_owned();
    }
    redactions
}

/// What was replaced in the task.
pub(super) fn of_task(task: &Redacted<'_>) -> Vec<Redaction> {
    Redaction::all(TASK, &task.found)
}
