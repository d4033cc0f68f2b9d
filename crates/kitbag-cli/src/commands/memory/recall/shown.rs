//! What was recalled, as a person reads it.

use kitbag::store::Later;

use super::found::{Found, FoundFact, Hit};
use crate::commands::memory::said;
use crate::output;

/// The facts, then the messages, one after the other.
pub(super) fn text(found: &Found) -> String {
    let mut text = facts(found);
    for hit in &found.ranked {
        add(&mut text, hit);
    }
    text
}

fn facts(found: &Found) -> String {
    let mut text = String::new();
    for fact in &found.facts {
        add_fact(&mut text, fact);
    }
    text
}

/// Adds a fact: what is known, and who said it when.
pub(super) fn add_fact(text: &mut String, found: &FoundFact) {
    let fact = &found.fact;
    let (key, value) = (output::one_line(&fact.key), output::one_line(&fact.value));
    let day = fact.since.strftime("%Y-%m-%d");
    let note = match (&found.said_by, fact.source) {
        (Some(speaker), Some(source)) => format!("said by {speaker} on {day}, {source}"),
        _ => format!("told on {day}"),
    };
    text.push_str(&format!("{key}: {value} ({note})\n"));
}

/// Adds a message to those before it.
pub(super) fn add(text: &mut String, hit: &Hit) {
    let outdated = match &hit.outdated_by {
        Some(Later { id, at, .. }) => {
            let day = at.map(|at| at.wall_clock().date());
            let by = match (id, day) {
                (Some(id), Some(day)) => format!(", see {id} of {day}"),
                (Some(id), None) => format!(", see {id}"),
                (None, Some(day)) => format!(" by a fact told on {day}"),
                (None, None) => String::new(),
            };
            format!(", outdated{by}")
        }
        None => String::new(),
    };
    let note = format!("{}, score {}{outdated}", hit.id, hit.score);
    said::add(text, hit.at, &speaker(hit), &note, &hit.text);
}

/// The facts, and the messages with what their scores are made of.
pub(super) fn table(found: &Found) -> String {
    let row = |hit: &Hit| {
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
            format!("{}: {words}", speaker(hit)),
        ]
    };
    let rows = found.ranked.iter().map(row);
    facts(found) + &output::grid(&["score", "message", "why", "text"], rows)
}

fn speaker(hit: &Hit) -> String {
    said::speaker(hit.speaker.as_deref(), hit.role)
}
