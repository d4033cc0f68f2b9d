//! A message as plain words, for outputs that are one text.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::content::{Content, ContentBlock, RawJson};
use crate::message::{Message, ToolCall};
use crate::neutral::one_line;

/// Returns the message in words: its speaker's name if it has one, texts as they are, calls and
/// results in words, other blocks by name.
pub(super) fn spoken(message: &Message) -> Cow<'_, str> {
    let words = words(message);
    match &message.name {
        Some(name) if !words.is_empty() => Cow::Owned(said_by(name, &words)),
        _ => words,
    }
}

/// Returns the words behind their speaker's name.
pub(super) fn said_by(name: &str, words: &str) -> String {
    format!("{}: {words}", one_line(name))
}

fn words(message: &Message) -> Cow<'_, str> {
    if let (Content::Text(text), true) = (&message.content, message.calls().is_empty()) {
        return Cow::Borrowed(text);
    }
    let blocks = message.content.to_blocks();
    let mut parts: Vec<String> = blocks.iter().filter_map(spoken_block).collect();
    for ToolCall {
        name, arguments, ..
    } in message.calls()
    {
        parts.push(format!("Called {name} with {}", arguments.as_str()));
    }
    // Reasoning and empty blocks must not leave empty lines.
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

/// Returns the text of a tool result: a string, or its text blocks.
pub(super) fn result_text(raw: &RawJson) -> String {
    let content = result_content(raw);
    let text = content.text();
    match field(raw, "is_error").as_str() {
        "true" => format!("Error: {text}"),
        _ => text.into_owned(),
    }
}

/// Returns the content of a tool result.
pub(super) fn result_content(raw: &RawJson) -> Content {
    #[derive(serde::Deserialize)]
    struct ToolResult {
        #[serde(default)]
        content: Content,
    }
    raw.parse_as::<ToolResult>()
        .map_or(Content::Null, |result| result.content)
}

/// Returns a field of a block: a string without its quotes, anything else as JSON.
pub(super) fn field(raw: &RawJson, name: &str) -> String {
    let fields = raw.parse_as::<BTreeMap<String, RawJson>>();
    let Some(value) = fields.ok().and_then(|mut fields| fields.remove(name)) else {
        return String::new();
    };
    match value.parse_as() {
        Ok(Value::String(text)) => text,
        Ok(other) => other.to_string(),
        // Valid JSON may be nested too deeply to be parsed. It is shown as it is written.
        Err(_) => value.as_str().into(),
    }
}
