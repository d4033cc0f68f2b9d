//! The texts of blocks, as they are counted: the same for every provider, but for what each adds
//! around messages.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::OutputForm;
use super::blocks::chunk_role;
use super::spoken::spoken;
use crate::assembly::block::{Block, BlockBody};
use crate::assembly::segment::Segment;
use crate::band::Band;
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

/// The segments of a request.
pub(super) fn segments(form: OutputForm, blocks: &[Block]) -> Vec<Segment> {
    if form == OutputForm::Payload {
        return blocks.iter().map(part_of_payload).collect();
    }
    let mut out = Counted {
        form,
        segments: Vec::new(),
        speaker: None,
    };
    let mut blocks = blocks.iter().peekable();
    while let Some(block) = blocks.next() {
        let band = block.band;
        match &block.body {
            BlockBody::Tool(tool) => {
                let json = serde_json::to_string(tool).unwrap_or_default();
                out.segments.push(segment(band, None, json, 0));
            }
            BlockBody::Message(message) => out.say(band, message.role, parts(message, form)),
            BlockBody::Text { text, .. } if out.is_apart(block) => out.apart(band, text.clone()),
            BlockBody::Text { role, text } => out.say(band, *role, [(text.clone(), 0)]),
            BlockBody::Chunk { text, .. } => {
                let mut text = text.clone();
                let follows = |next: &&Block| next.band == band;
                while let Some(Block {
                    body: BlockBody::Chunk { text: more, .. },
                    ..
                }) = blocks
                    .next_if(|next| follows(next) && matches!(next.body, BlockBody::Chunk { .. }))
                {
                    text.push_str(more);
                }
                if out.is_apart(block) {
                    out.apart(band, text);
                } else {
                    out.say(band, chunk_role(form), [(text, 0)]);
                }
            }
        }
    }
    if let (OutputForm::OpenAi | OutputForm::Responses, Some(last)) =
        (form, out.segments.last_mut())
    {
        last.overhead = last.overhead.saturating_add(REPLY_OVERHEAD);
    }
    out.segments
}

/// A part of a payload: texts as they are, anything else as its JSON or in words.
fn part_of_payload(block: &Block) -> Segment {
    let (role, text) = match &block.body {
        BlockBody::Tool(tool) => (None, serde_json::to_string(tool).unwrap_or_default()),
        BlockBody::Text { role, text } => (Some(*role), text.clone()),
        BlockBody::Message(message) => (Some(message.role), spoken(message).into_owned()),
        BlockBody::Chunk { text, .. } => (None, text.clone()),
    };
    segment(block.band, role, text, 0)
}

fn segment(band: Band, role: Option<Role>, text: String, overhead: u32) -> Segment {
    Segment {
        band,
        role,
        text,
        overhead,
    }
}

struct Counted {
    form: OutputForm,
    segments: Vec<Segment>,
    /// The speaker of the last message, where those of one speaker are merged.
    speaker: Option<Role>,
}

impl Counted {
    /// Whether a block stands beside the messages.
    fn is_apart(&self, block: &Block) -> bool {
        self.form == OutputForm::Anthropic && block.is_instruction()
    }

    fn apart(&mut self, band: Band, text: String) {
        self.segments.push(segment(band, None, text, 0));
    }

    /// A message, each of its parts a segment of its own.
    fn say(&mut self, band: Band, role: Role, parts: impl IntoIterator<Item = (String, u32)>) {
        let merges = self.form == OutputForm::Anthropic;
        let role = match role {
            Role::Tool if merges => Role::User,
            role => role,
        };
        let mut is_first = true;
        for (text, attached) in parts {
            let is_new = is_first && !(merges && self.speaker == Some(role));
            let overhead = if is_new { MESSAGE_OVERHEAD } else { 0 };
            let overhead = overhead.saturating_add(attached);
            self.segments
                .push(segment(band, Some(role), text, overhead));
            self.speaker = Some(role);
            is_first = false;
        }
    }
}

/// The tokens of a message in a request, without those that a provider adds around it.
pub(crate) fn message_tokens(message: &Message, counter: &dyn TokenCounter) -> Tokens {
    let parts = parts(message, OutputForm::OpenAi).into_iter();
    parts
        .map(|(text, attached)| counter.count(&text).saturating_add(Tokens(attached)))
        .sum()
}

/// The parts of a message: texts as they are, other blocks and calls as JSON, and an estimate for
/// the pictures and files in them.
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
    let input: Value = call.arguments.parse_as().unwrap_or_default();
    // Some clients keep the arguments as a string of JSON.
    let input = match input {
        Value::Null => json!({}),
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let call = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input });
    (call.to_string(), 0)
}

/// The text of a block that is not plain text, as far as it can be counted, and an estimate for
/// the pictures and files in it. Encoded data are replaced by their hash, so that other data are
/// another text.
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
                    *data = blake3::hash(data.as_bytes())
                        .to_hex()
                        .chars()
                        .take(16)
                        .collect();
                }
            }
        }
        _ => {}
    }
}
