//! The secrets that a pack tells of: those whose place it shows.

use kitbag_core::chunk::Detail;

use crate::engine::Redaction;

/// The source of the task itself.
pub(super) const TASK: &str = "task";

/// A source with more secrets than this tells how many more there are.
const MOST_TOLD: usize = 5;

/// Keeps the first few of each source, and counts the others. Those of a source stand together.
pub(super) fn cap(redactions: &mut Vec<Redaction>) {
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

impl Redaction {
    /// Tells whether a level of its source, with these lines, shows its place.
    pub(super) fn is_in(&self, level: Detail, lines: &[(u32, u32)]) -> bool {
        let within = |&(first, last): &(u32, u32)| first <= self.last_line && self.line <= last;
        match level {
            Detail::Line | Detail::Handle => false,
            _ => lines.is_empty() || lines.iter().any(within),
        }
    }
}
