//! A call of a tool as the rounds keep it for what is registered after them.

use serde_json::Value;

/// A call that was made, with its result as it was recorded.
pub(in crate::answer) struct MadeCall {
    pub(super) arguments: String,
    pub(super) text: String,
    pub(super) is_ok: bool,
}

impl MadeCall {
    /// The result as JSON, where it is any.
    pub(in crate::answer) fn result(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| self.text.as_str().into())
    }

    /// Tells if an id stands in the result of a call that succeeded, or in its arguments where the result says
    /// something: whoever changes or deletes a thing need not be told its id again.
    pub(in crate::answer) fn mentions(&self, id: &str) -> bool {
        let is_asked = || names(&self.arguments, id) && !is_void(&self.result());
        self.is_ok && (names(&self.text, id) || is_asked())
    }
}

/// Tells if a result says nothing: no text, no number, nothing that holds.
fn is_void(result: &Value) -> bool {
    match result {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_void),
        Value::Object(fields) => fields.values().all(is_void),
    }
}

/// Tells if an id stands somewhere in a text as a word of its own.
fn names(text: &str, id: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(id).any(|(at, _)| {
        let (before, after) = text.split_at(at);
        let after = after.strip_prefix(id).unwrap_or_default();
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}
