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
        let words = said::beginning(&hit.text, 60);
        [
            hit.score.to_string(),
            hit.id.clone(),
            why(hit),
            format!("{}: {words}", speaker(hit)),
        ]
    };
    output::grid(&["score", "message", "why", "text"], hits.iter().map(row))
}

/// The parts of the score, the largest first.
fn why(hit: &Hit) -> String {
    let parts = hit.parts.iter().flatten();
    let mut parts: Vec<(i64, &str)> = parts.map(|part| (part.value, part.name.as_ref())).collect();
    parts.sort_by(|a, b| (b.0.abs(), a.1).cmp(&(a.0.abs(), b.1)));
    let parts: Vec<String> = parts
        .iter()
        .map(|(value, name)| format!("{name} {value:+}"))
        .collect();
    parts.join(", ")
}

fn speaker(hit: &Hit) -> String {
    said::speaker(hit.speaker.as_deref(), hit.role)
}
