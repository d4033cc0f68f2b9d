//! Replaces secrets in the JSON of a checkpoint, and leaves the rest of it byte for byte.

use super::{Checkpoint, SessionId};
use crate::engine::clean;

/// The JSON of a session's checkpoint without its secrets.
///
/// Strings are looked at as they read, not as they are written: a key of many lines is one line of
/// JSON. Then the whole, for what only the name of a field gives away.
pub(super) fn without_secrets(json: &str, id: &SessionId) -> String {
    let strings = in_strings(json, id);
    let whole = clean(&strings, "checkpoint.json").text;
    // A rule that knows nothing of JSON might have taken a quote with it.
    match serde_json::from_str::<Checkpoint>(&whole) {
        Ok(checkpoint) if checkpoint.session_id == *id => whole.into_owned(),
        _ => strings,
    }
}

/// The id, which may look as random as a secret, stays.
fn in_strings(json: &str, id: &SessionId) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, from)) = rest.find('"').and_then(|at| rest.split_at_checked(at)) {
        shown.push_str(before);
        rest = from;
        let mut strings = serde_json::Deserializer::from_str(from).into_iter::<String>();
        let Some(Ok(text)) = strings.next() else {
            break;
        };
        let (literal, after) = from
            .split_at_checked(strings.byte_offset())
            .unwrap_or((from, ""));
        let is_name = after.trim_start().starts_with(':');
        let looked_at = Some(text).filter(|text| !is_name && text != id.as_str());
        let redacted = looked_at.and_then(|text| {
            let clean = clean(&text, "checkpoint");
            let found = !clean.redacted.is_empty();
            found.then(|| serde_json::to_string(&clean.text).ok())?
        });
        shown.push_str(redacted.as_deref().unwrap_or(literal));
        rest = after;
    }
    shown.push_str(rest);
    shown
}
