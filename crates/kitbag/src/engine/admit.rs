//! The door that every chunk passes on its way into a prompt: secrets are replaced here and nowhere
//! else. Messages are not changed: they are the words of people and the answers of models.

use std::borrow::Cow;

use kitbag_core::chunk::ContextChunk;
use kitbag_secrets::{Finding, redact};
#[cfg(feature = "workspace")]
use kitbag_workspace::parsed::Parsed;
use serde::{Deserialize, Serialize};

/// A text without secrets, and what was replaced in it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Clean<'t> {
    /// The text, line for line.
    pub text: Cow<'t, str>,
    /// The secrets that were replaced.
    pub redacted: Vec<Redaction>,
}

/// A secret that was replaced in a shown text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Redaction {
    /// The file, or the source of another chunk; `task` for the task.
    pub source: String,
    /// The line, or the first of them, counted from 1.
    pub line: u32,
    /// The kind of secret that it looks like.
    pub kind: String,
    /// The number of further ones in the source, which are not listed one by one.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more: usize,
    #[serde(skip)]
    pub(crate) last_line: u32,
}

fn is_none(more: &usize) -> bool {
    *more == 0
}

/// Replaces the secrets in a text. `source` is what the prompt calls it; where it is the path of a
/// file, its name tells what kind of file that is.
#[must_use]
pub fn clean<'t>(text: &'t str, source: &str) -> Clean<'t> {
    clean_as(text, source, source)
}

/// Replaces the secrets in a file of a workspace. Most have none, which a process that stays finds out once.
#[cfg(feature = "workspace")]
pub(crate) fn clean_file<'t>(path: &str, text: &'t str, parsed: &Parsed) -> Clean<'t> {
    let mut cleaned = None;
    let is_clean = parsed.is_shown_as_it_is(|| {
        let clean = cleaned.insert(clean(text, path));
        clean.redacted.is_empty()
    });
    match cleaned {
        Some(clean) => clean,
        None if is_clean => Clean {
            text: Cow::Borrowed(text),
            redacted: Vec::new(),
        },
        None => clean(text, path),
    }
}

/// Replaces the secrets in a text of `source` as in that of a file at `path`.
pub(crate) fn clean_as<'t>(text: &'t str, source: &str, path: &str) -> Clean<'t> {
    let clean = redact(text, path);
    let redaction = |finding: &Finding| Redaction {
        source: source.to_owned(),
        line: finding.line,
        kind: finding.kind.to_owned(),
        more: 0,
        last_line: finding.last_line,
    };
    Clean {
        redacted: clean.found.iter().map(redaction).collect(),
        text: clean.text,
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
        // The first level is the most detailed: the others repeat its secrets, which would be counted twice.
        if place == 0 {
            redactions = redacted;
        }
        level.content = text.into_owned();
    }
    redactions
}
