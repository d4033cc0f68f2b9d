//! Parts of messages, translated from one API to another.

use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::message::ToolCall;
use kitbag_core::role::Role;
use serde::Deserialize;
use serde_json::Value;

/// The address of a picture, or a `data:` address made of its data.
pub(super) fn image_url(raw: &RawJson) -> Option<String> {
    let block: Value = raw.parse_as().ok()?;
    let source = block.get("source")?;
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    match text("url") {
        Some(url) => Some(url.to_owned()),
        None => Some(format!(
            "data:{};base64,{}",
            text("media_type")?,
            text("data")?
        )),
    }
}

/// The text of a document whose source is plain text.
pub(super) fn document_text(raw: &RawJson) -> Option<String> {
    let block: Value = raw.parse_as().ok()?;
    let source = block.get("source")?;
    let is_text = source.get("type").is_some_and(|kind| kind == "text");
    let data = source.get("data").and_then(Value::as_str);
    data.filter(|_| is_text).map(String::from)
}

/// The arguments of a call as a string of JSON, which some clients already keep.
pub(super) fn arguments(call: &ToolCall) -> String {
    match call.arguments.parse_as::<Value>() {
        Ok(Value::String(text)) => text,
        Ok(Value::Null) => "{}".to_owned(),
        _ => call.arguments.as_str().to_owned(),
    }
}

/// The input of a `tool_use` block as a string of JSON.
pub(super) fn input(raw: &RawJson) -> String {
    let block: Value = raw.parse_as().unwrap_or_default();
    match block.get("input") {
        None => "{}".to_owned(),
        // An empty string is not JSON; a call without arguments has an empty object.
        Some(Value::String(text)) if text.is_empty() => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The role in an API where a tool cannot speak by itself.
pub(super) const fn spoken_as(role: Role) -> Role {
    match role {
        Role::Tool => Role::User,
        role => role,
    }
}

/// A `tool_result` block: its text, and its other blocks.
pub(super) struct ToolResult {
    pub(super) text: String,
    pub(super) others: Vec<ContentBlock>,
}

impl ToolResult {
    pub(super) fn of(raw: &RawJson) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Fields {
            content: Content,
            is_error: Value,
        }
        let fields: Fields = raw.parse_as().unwrap_or_default();
        let text = fields.content.text();
        let text = match fields.is_error {
            // The other APIs have no field for a failure, so the text says it.
            Value::Bool(true) => format!("Error: {text}"),
            _ => text.into_owned(),
        };
        let mut others = fields.content.to_blocks();
        // Their text is in `text` already.
        others.retain(|block| block.as_text().is_none());
        Self { text, others }
    }
}
