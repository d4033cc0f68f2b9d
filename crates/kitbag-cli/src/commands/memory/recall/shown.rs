//! What was recalled, as a person reads it.

use super::found::Hit;
use crate::commands::memory::said;
use crate::output;

/// The messages, one after the other.
pub(super) fn text(hits: &[Hit]) -> String {
    let mut text = String::new();
    for hit in hits {
        add(&mut text, hit);
    }
    text
}

/// Adds a message to those before it.
pub(super) fn add(text: &mut String, hit: &Hit) {
    let note = format!("{}, score {}", hit.id, hit.score);
    said::add(text, hit.at, &speaker(hit), &note, &hit.text);
}

/// The messages with what their scores are made of.
pub(super) fn table(hits: &[Hit]) -> String {
    let row = |hit: &Hit| {
        let parts = hit.parts.iter().flatten();
        let words = output::beginning(&hit.text, 60);
        [
            hit.score.to_string(),
            hit.id.to_string(),
            output::largest_first(parts.map(|part| (part.name.as_ref(), part.value))),
            format!("{}: {words}", speaker(hit)),
        ]
    };
    output::grid(&["score", "message", "why", "text"], hits.iter().map(row))
}

fn speaker(hit: &Hit) -> String {
    said::speaker(hit.speaker.as_deref(), hit.role)
}
