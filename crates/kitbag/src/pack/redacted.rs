//! The secrets that a pack reports: those whose place it shows.

use kitbag_core::chunk::Detail;

use crate::engine::Redaction;

/// The source of the task itself.
pub(super) const TASK: &str = "task";

/// The most secrets of one source that are listed; the others are counted.
const MOST_TOLD: usize = 5;

/// Keeps the first few of each source and counts the others. The list is grouped by source.
pub(super) fn cap(redactions: &mut Vec<Redaction>) {
    let mut told: Vec<Redaction> = Vec::new();
    for redaction in redactions.drain(..) {
        let latest = told.iter().rev();
        let of_source = latest.take_while(|one| one.source == redaction.source);
        match (of_source.count(), told.last_mut()) {
            (MOST_TOLD.., Some(last)) => last.more += 1,
            _ => told.push(redaction),
        }
    }
    *redactions = told;
}

impl Redaction {
    /// Tells whether a level of its source, with these lines, shows its place.
    pub(super) fn is_in(&self, level: Detail, lines: &[(u32, u32)]) -> bool {
        let within = |&(first, last): &(u32, u32)| first <= self.last_line && self.line <= last;
        match level {
            // These levels name the source and show nothing of its text.
            Detail::Line | Detail::Handle => false,
            _ => lines.is_empty() || lines.iter().any(within),
        }
    }
}
