//! A message as plain words, for outputs that are one text.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::content::{Content, ContentBlock, RawJson};
use crate::message::Message;

/// What the message says: texts as they are, calls and results in words, other blocks by name.
pub(super) fn spoken(message: &Message) -> Cow<'_, str> {
    if let (Content::Text(text), true) = (&message.content, message.calls().is_empty()) {
        return Cow::Borrowed(text);
    }
    let mut parts: Vec<String> = Vec::new();
    match &message.content {
        Content::Text(text) => parts.push(text.clone()),
        Content::Blocks(blocks) => parts.extend(blocks.iter().filter_map(spoken_block)),
    }
    for call in message.calls() {
        parts.push(format!(
            "Called {} with {}",
            call.name,
            call.arguments.as_str()
        ));
    }
    parts.retain(|part| !part.is_empty());
    Cow::Owned(parts.join("\n"))
}

fn spoken_block(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text { text, .. } => Some(text.clone()),
        ContentBlock::Image(_) => Some("(image)".into()),
        ContentBlock::Document(_) => Some("(document)".into()),
        // Reasoning is for the model that signed it, in its provider's own format.
        ContentBlock::Thinking(_) => None,
        ContentBlock::ToolUse { name, raw, .. } => {
            Some(format!("Called {name} with {}", field(raw, "input")))
        }
        ContentBlock::ToolResult { raw, .. } => Some(result_text(raw)),
        ContentBlock::Opaque(raw) => Some(format!("({})", field(raw, "type"))),
    }
}

/// The text of a tool result: a string, or its text blocks.
pub(super) fn result_text(raw: &RawJson) -> String {
    #[derive(serde::Deserialize)]
    struct ToolResult {
        content: Option<Content>,
    }
    match raw.parse_as::<ToolResult>() {
        Ok(ToolResult {
            content: Some(content),
        }) => content.text().into_owned(),
        _ => String::new(),
    }
}

/// A field of a block: a string without its quotes, anything else as JSON.
pub(super) fn field(raw: &RawJson, name: &str) -> String {
    let Ok(Value::Object(fields)) = raw.parse_as::<Value>() else {
        return String::new();
    };
    match fields.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}
