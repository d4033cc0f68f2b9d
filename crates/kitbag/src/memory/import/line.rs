//! One line of an import: its shape, and how it is read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kitbag_core::role::{Role, Visibility};
use serde::Serialize;
use serde_json::{Map, Value};

/// Something that was said and is to be remembered: one line of `kitbag memory import`.
///
/// As JSON `{"channel", "sender", "conversation", "title", "ref", "at", "role", "speaker", "text",
/// "recalled", "visibility", "metadata", "facts", "summary"}`. Only `text` is required; unknown fields
/// are ignored. A message of a chat API, `{"role", "content", "name"}`, is one too, and `{"messages":
/// […]}` is a conversation of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ImportLine {
    /// The channel; `import` if nothing else is known.
    pub channel: String,
    /// The person whose conversation it is; `user` if nothing else is known.
    pub sender: String,
    /// The conversation it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The title of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its name at its origin, by which a second import recognises it.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// When it was said: a date or time in ISO 8601, with a zone or without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// In which role it was said; the user's if nothing else is known.
    pub role: Role,
    /// The name of the speaker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The text of the message.
    pub text: String,
    /// Set when the text only repeats recalled messages, and must not be remembered again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recalled: bool,
    /// The readers who may see it; everyone by default.
    #[serde(skip_serializing_if = "Visibility::is_all")]
    pub visibility: Visibility,
    /// Further properties to filter by.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Facts that were learned from it, by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
    /// A summary of the conversation up to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl ImportLine {
    /// Something that was said, by nobody in particular.
    #[must_use]
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            channel: "import".to_owned(),
            sender: "user".to_owned(),
            conversation: None,
            title: None,
            reference: None,
            at: None,
            role,
            speaker: None,
            text: text.into(),
            recalled: false,
            visibility: Visibility::All,
            metadata: Map::new(),
            facts: BTreeMap::new(),
            summary: None,
        }
    }
}

/// A time in ISO 8601: text that is one as it stands, or seconds since 1970.
pub(in crate::memory) fn time_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            // Kept as written, with its zone or without: the speaker's clock is part of what was said.
            kitbag_core::time::parse(text).map(|_| text.to_owned())
        }
        Value::Number(seconds) => {
            // The cast saturates, and what is out of range is no time.
            let milliseconds = (seconds.as_f64()? * 1_000.0).round() as i64;
            let time = Timestamp::from_millisecond(milliseconds).ok()?;
            Some(time.to_string())
        }
        _ => None,
    }
}

/// A text on one line, of at most `longest` characters: names have no control characters.
pub(in crate::memory) fn clean(text: &str, longest: usize) -> String {
    let words = text.split(|c: char| c.is_control() || c.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(longest).collect()
}
