//! The texts of blocks as they are counted: the same for every provider, except for what each adds
//! around messages.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::OutputForm;
use super::blocks::chunk_role;
use super::spoken::spoken;
use crate::assembly::block::{Block, BlockBody};
use crate::assembly::segment::Segment;
use crate::content::{Content, ContentBlock, RawJson};
use crate::message::{Message, ToolCall};
use crate::role::Role;
use crate::tokens::{TokenCounter, Tokens};

/// Tokens that a provider adds around every message. An estimate: providers do not publish it, but
/// for chat completions it is known to be 3 and the role.
const MESSAGE_OVERHEAD: u32 = 4;

/// Tokens that begin every answer of a chat completion.
const REPLY_OVERHEAD: u32 = 3;

/// The estimated tokens of an encoded picture or file: about those of a picture of 1,100 × 1,100.
const ATTACHMENT_TOKENS: u32 = 1_600;

/// Returns the segments of a request.
pub(super) fn segments(form: OutputForm, blocks: &[Block]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    // The band whose chunks follow each other and so are one text, and the speaker of the last
    // message where those of one speaker are merged.
    let (mut chunks_of, mut last_speaker) = (None, None);
    for block in blocks {
        if let (BlockBody::Chunk { text, .. }, Some(last)) = (&block.body, segments.last_mut())
            && chunks_of == Some(block.band)
        {
            last.text.push_str(text);
            continue;
        }
        let is_joined =
            form != OutputForm::Payload && matches!(block.body, BlockBody::Chunk { .. });
        chunks_of = is_joined.then_some(block.band);
        let role = speaker(form, block);
        let is_new = role.is_some() && role != last_speaker && form != OutputForm::Payload;
        // Only the first text of a message carries the tokens around it.
        let mut around = if is_new { MESSAGE_OVERHEAD } else { 0 };
        for (text, attached) in texts(form, block) {
            segments.push(Segment {
                band: block.band,
                role,
                text,
                overhead: core::mem::take(&mut around).saturating_add(attached),
            });
            // The Messages API joins neighbouring messages of one speaker into one.
            if form == OutputForm::Anthropic {
                last_speaker = role.or(last_speaker);
            }
        }
    }
    if let (OutputForm::OpenAi | OutputForm::Responses, Some(last)) = (form, segments.last_mut()) {
        last.overhead = last.overhead.saturating_add(REPLY_OVERHEAD);
    }
    segments
}

/// Returns the speaker of a block, none if it stands outside the messages.
fn speaker(form: OutputForm, block: &Block) -> Option<Role> {
    match &block.body {
        _ if form == OutputForm::Anthropic && block.is_instruction() => None,
        BlockBody::Tool(_) => None,
        BlockBody::Chunk { .. } if form == OutputForm::Payload => None,
        BlockBody::Chunk { .. } => Some(chunk_role(form)),
        BlockBody::Text { role, .. } | BlockBody::Message(Message { role, .. }) => match role {
            Role::Tool if form == OutputForm::Anthropic => Some(Role::User),
            role => Some(*role),
        },
    }
}

/// Returns the texts of a block with an estimate for each of what else is in it. A payload has
/// messages in words.
fn texts(form: OutputForm, block: &Block) -> Vec<(String, u32)> {
    let text = match &block.body {
        BlockBody::Message(message) if form != OutputForm::Payload => return parts(message, form),
        BlockBody::Message(message) => spoken(message).into_owned(),
        // A tool's schema is JSON already, so it can be written.
        BlockBody::Tool(tool) => serde_json::to_string(tool).unwrap_or_default(),
        BlockBody::Text { text, .. } | BlockBody::Chunk { text, .. } => text.clone(),
    };
    alloc::vec![(text, 0)]
}

/// Counts the tokens of a message in a request, without those that a provider adds around it.
pub(crate) fn message_tokens(message: &Message, counter: &dyn TokenCounter) -> Tokens {
    let parts = parts(message, OutputForm::OpenAi).into_iter();
    let tokens =
        parts.map(|(text, attached)| counter.count(&text).saturating_add(Tokens(attached)));
    tokens.sum()
}

/// Returns the parts of a message: texts as they are, other blocks and calls as JSON, and an
/// estimate for the pictures and files in them.
fn parts(message: &Message, form: OutputForm) -> Vec<(String, u32)> {
    if let (Role::Tool, Some(id)) = (message.role, &message.tool_call_id) {
        let content = match &message.content {
            Content::Null => json!(""),
            content => json!(content),
        };
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
        return alloc::vec![without_data(result)];
    }
    let mut parts = Vec::new();
    for block in message.content.to_blocks() {
        match block {
            // Anthropic refuses empty text, so that it is not sent.
            ContentBlock::Text { text, raw: None }
                if form == OutputForm::Anthropic && text.trim().is_empty() => {}
            ContentBlock::Text { text, raw: None } => parts.push((text, 0)),
            other => parts.extend(other.as_raw().map(countable)),
        }
    }
    parts.extend(message.calls().iter().map(call_text));
    parts
}

fn call_text(call: &ToolCall) -> (String, u32) {
    let input = match call.arguments.parse_as() {
        Ok(Value::Null) => json!({}),
        // Some clients keep the arguments as a string of JSON.
        Ok(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Ok(other) => other,
        // Valid JSON may be nested too deeply to be parsed. It is sent all the same, so it counts.
        Err(_) => Value::from(call.arguments.as_str()),
    };
    let call = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input });
    (call.to_string(), 0)
}

/// Returns the text of a block that is not plain text, as far as it can be counted, and an estimate
/// for the pictures and files in it. Encoded data are replaced by their hash, so that other data
/// make another text.
fn countable(raw: &RawJson) -> (String, u32) {
    match raw.parse_as::<Value>() {
        Ok(value) => without_data(value),
        Err(_) => (raw.as_str().into(), 0),
    }
}

fn without_data(mut value: Value) -> (String, u32) {
    let mut attachments: u32 = 0;
    // What a tool is called with is text, whatever its fields are called.
    if value.get("type").is_none_or(|kind| kind != "tool_use") {
        replace_data(&mut value, &mut attachments);
    }
    let text = value.to_string();
    (text, attachments.saturating_mul(ATTACHMENT_TOKENS))
}

fn replace_data(value: &mut Value, attachments: &mut u32) {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| replace_data(item, attachments)),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                let text = |field: &str| value.get(field).and_then(Value::as_str);
                // `source` is Anthropic's; the others are OpenAI's.
                let encoded = match name.as_str() {
                    "source" => match text("type") {
                        Some("base64") => Some("data"),
                        Some("url" | "file") => Some("url"),
                        _ => None,
                    },
                    "image_url" => Some("url"),
                    "input_audio" => Some("data"),
                    "file" => text("file_data").map(|_| "file_data"),
                    _ => None,
                };
                let Some(field) = encoded else {
                    replace_data(value, attachments);
                    continue;
                };
                *attachments += 1;
                if let Some(Value::String(data)) = value.get_mut(field) {
                    let hash = blake3::hash(data.as_bytes()).to_hex();
                    *data = hash.chars().take(16).collect();
                }
            }
        }
        _ => {}
    }
}
