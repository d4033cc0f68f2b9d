//! The record of a conversation in a question: one JSON object a line, in which no text can end its own
//! line or become another's words. Long records come in parts.

use kitbag_core::summarize::{Speaker, Utterance};
use kitbag_core::tokens::{TokenCounter, Tokens};
use serde_json::json;

use crate::shorten::shorten;

/// The most parts of a record that are sent to a model. Older parts are left to rules.
pub(super) const PARTS: usize = 6;

/// An utterance, as a line.
pub(super) fn line(said: &Utterance) -> String {
    let speaker = match said.speaker {
        Speaker::User => "user",
        _ => "assistant",
    };
    format!("{}\n", json!({ speaker: said.text }))
}

/// The summary so far, as a line.
pub(super) fn summary_line(summary: &str) -> String {
    format!("{}\n", json!({ "summary_so_far": summary }))
}

/// Divides texts into parts of at most `most` tokens, the newest last. A text that is too long by itself
/// keeps its beginning and its end.
pub(super) fn parts<T>(
    all: Vec<T>,
    most: Tokens,
    text: impl Fn(&mut T) -> &mut String,
    counter: &dyn TokenCounter,
) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = Vec::new();
    let mut room = Tokens::ZERO;
    // Half, because a line has more tokens than its words: quotation marks and breaks are escaped in it.
    let longest = Tokens(most.0 / 2);
    // From the oldest on, so that the newest part is the one that may be short.
    for mut one in all {
        let said = text(&mut one);
        if let Some(short) = shorten(said, longest, counter) {
            *said = short;
        }
        let cost = counter.count(&json!(said).to_string());
        // The name of the speaker, the braces and the line end.
        let cost = cost.saturating_add(Tokens(8));
        match parts.last_mut().filter(|_| cost <= room) {
            Some(part) => part.push(one),
            None => {
                parts.push(vec![one]);
                room = most;
            }
        }
        room = room.saturating_sub(cost);
    }
    parts
}
