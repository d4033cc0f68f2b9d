//! Secrets that were replaced in what is shown, whoever brought it.

use kitbag_core::chunk::Detail;
use kitbag_secrets::Finding;
use serde::{Deserialize, Serialize};

/// The source of what stands in the task itself.
pub(crate) const TASK: &str = "task";

/// A source with more secrets than this tells how many more there are.
const MOST_TOLD: usize = 5;

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
    last_line: u32,
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

    /// Whether a level of its source, with these lines, shows its place.
    pub(crate) fn is_in(&self, level: Detail, lines: &[(u32, u32)]) -> bool {
        let within = |&(first, last): &(u32, u32)| first <= self.last_line && self.line <= last;
        match level {
            Detail::Line | Detail::Handle => false,
            _ => lines.is_empty() || lines.iter().any(within),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_none(more: &usize) -> bool {
    *more == 0
}

/// Keeps the first few of each source, and counts the others. Those of a source stand together.
pub(crate) fn cap(redactions: &mut Vec<Redaction>) {
    let mut told: Vec<Redaction> = Vec::new();
    let mut of_source = 0;
    for redaction in redactions.drain(..) {
        match told.last_mut() {
            Some(last) if last.source == redaction.source => {
                if of_source == MOST_TOLD {
                    last.more += 1;
                    continue;
                }
                of_source += 1;
            }
            _ => of_source = 1,
        }
        told.push(redaction);
    }
    *redactions = told;
}
