//! The door that every chunk passes on its way into a prompt: secrets are replaced here and nowhere
//! else. Messages are not changed: they are what people said and what a model answered.

use std::borrow::Cow;

use kitbag_core::chunk::ContextChunk;
use kitbag_secrets::redact;

use crate::redaction::Redaction;

/// A text without secrets, and what was replaced in it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Clean<'t> {
    /// The text, line for line.
    pub text: Cow<'t, str>,
    /// The secrets that were replaced.
    pub redacted: Vec<Redaction>,
}

/// Replaces the secrets in a text. `source` is what the prompt calls it; where it is the path of a
/// file, its name tells what kind of file that is.
#[must_use]
pub fn clean<'t>(text: &'t str, source: &str) -> Clean<'t> {
    clean_as(text, source, source)
}

/// Replaces the secrets in a text of `source` as in that of a file at `path`.
pub(crate) fn clean_as<'t>(text: &'t str, source: &str, path: &str) -> Clean<'t> {
    let redacted = redact(text, path);
    Clean {
        redacted: Redaction::all(source, &redacted.found),
        text: redacted.text,
    }
}

/// Replaces the secrets in all levels of a chunk. Lines are those of its most detailed level.
pub(super) fn clean_chunk(chunk: &mut ContextChunk) -> Vec<Redaction> {
    let mut redactions = Vec::new();
    for (place, level) in chunk.levels.iter_mut().enumerate() {
        let Clean { text, redacted } = clean(&level.content, &chunk.source);
        if redacted.is_empty() {
            continue;
        }
        if place == 0 {
            redactions = redacted;
        }
        level.content = text.into_owned();
    }
    redactions
}
