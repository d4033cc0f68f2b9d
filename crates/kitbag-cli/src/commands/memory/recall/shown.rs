//! Recalled messages as a table with their reasons.

use kitbag::recall::{FoundMessage, RecallAnswer};
use kitbag::store::Later;

use crate::output;

/// The facts, and the messages with what their scores are made of.
pub(super) fn table(found: &RecallAnswer) -> String {
    let row = |hit: &FoundMessage| {
        let parts = hit.parts.iter().flatten();
        let words = output::beginning(&hit.text, 60);
        let outdated = match &hit.outdated_by {
            Some(Later { id: Some(id), .. }) => format!(", outdated by {id}"),
            Some(_) => ", outdated".to_owned(),
            None => String::new(),
        };
        [
            hit.score.to_string(),
            hit.id.to_string(),
            output::largest_first(parts.map(|part| (part.name.as_ref(), part.value))) + &outdated,
            format!("{}: {words}", hit.said_by()),
        ]
    };
    let rows = found.ranked.iter().map(row);
    found.facts_text() + &output::grid(&["score", "message", "why", "text"], rows)
}
