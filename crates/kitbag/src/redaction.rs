//! Secrets that were replaced in what is shown, whoever brought it.

use kitbag_secrets::Finding;
use serde::{Deserialize, Serialize};

/// A secret that was replaced in what is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Redaction {
    /// The file, or the source of another chunk; `task` for the task.
    pub source: String,
    /// The line, or the first of them, counted from 1.
    pub line: u32,
    /// What kind of secret it looks like.
    pub kind: String,
    /// How many more were replaced further down in the source, which are not told one by one.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more: usize,
    #[serde(skip)]
    pub(crate) last_line: u32,
}

impl Redaction {
    /// What was found in a source.
    pub(crate) fn all(source: &str, found: &[Finding]) -> Vec<Self> {
        let redaction = |finding: &Finding| Self {
            source: source.to_owned(),
            line: finding.line,
            kind: finding.kind.to_owned(),
            more: 0,
            last_line: finding.last_line,
        };
        found.iter().map(redaction).collect()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_none(more: &usize) -> bool {
    *more == 0
}
