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
    // The second pass does not know JSON and may take a quote with a secret. Then the first result,
    // which is JSON for certain, is kept.
    match serde_json::from_str::<Checkpoint>(&whole) {
        Ok(checkpoint) if checkpoint.session_id == *id => whole.into_owned(),
        _ => strings,
    }
}

/// Replaces secrets inside strings. The id stays: it may look as random as a secret, and names the file.
fn in_strings(json: &str, id: &SessionId) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, from)) = rest.find('"').and_then(|at| rest.split_at_checked(at)) {
        shown.push_str(before);
        let (literal, after) = from.split_at_checked(length(from)).unwrap_or((from, ""));
        // Half of a surrogate pair is valid JSON and no text; such a string stays as it is.
        let text: Option<String> = serde_json::from_str(literal).ok();
        // Names of fields stay, or the file could not be read again.
        let is_name = after.trim_start().starts_with(':');
        let looked_at = text.filter(|text| !is_name && text != id.as_str());
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

/// The length of the string that begins here, with its quotes.
fn length(from: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in from.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    from.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_a_string_that_is_no_text_does_not_end_the_search() {
        let id: SessionId = "s1".parse().unwrap();
        let key = ["AKIA", "IOSFODNN7EXAMPLQ"].concat();
        // Written with an escape, so that only who reads the string finds it.
        let written = key.replacen('A', "\\u0041", 1);
        let json = format!(r#"{{"odd": "\ud800", "note": "{written}"}}"#);
        let shown = in_strings(&json, &id);
        assert!(shown.contains(r#""\ud800""#), "{shown}");
        assert!(!shown.contains("IOSFODNN7"), "{shown}");
    }
}
