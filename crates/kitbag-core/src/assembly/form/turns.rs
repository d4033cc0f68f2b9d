//! The messages of a request in order, with the chunks that were appended between them, before
//! they take a provider's shape.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::Placed;
use crate::assembly::draft::Draft;
use crate::band::Band;
use crate::content::{Content, ContentBlock, RawJson};
use crate::message::Message;
use crate::role::Role;

/// What stands between the instructions at the beginning and the end of a request.
pub(super) enum Turn<'a> {
    /// A message, passed on as it is.
    Message(Band, &'a Message),
    /// A text that was injected as a message.
    Injected(Band, Role, &'a str),
    /// Chunks that were chosen, as one text.
    Chunks(Band, String),
}

/// The turns of a request, in the order of the bands.
///
/// Chunks stand before the message they were needed for. Where that is the result of a tool they
/// stand behind it, since nothing may part a result from its call.
pub(super) fn turns<'a>(draft: &'a Draft, chunks: &Placed<'_>) -> Vec<Turn<'a>> {
    let mut turns = Turns::default();
    for message in draft.injected(Band::Conversation) {
        let role = message.role;
        turns.push(Turn::Injected(Band::Conversation, role, &message.content));
    }
    for (index, message) in draft.history.iter().enumerate() {
        turns.hold(Band::History, joined(chunks.before(index)));
        turns.message(Band::History, message);
    }
    turns.hold(Band::History, joined(chunks.before(draft.history.len())));
    turns.hold(Band::Volatile, joined(chunks.volatile()));
    for (is_reserved, band) in [
        (chunks.reserved().appended, Band::History),
        (chunks.reserved().volatile, Band::Volatile),
    ] {
        if is_reserved {
            turns.push(Turn::Chunks(band, String::new()));
        }
    }
    turns.message(Band::Current, &draft.current);
    for step in &draft.steps {
        turns.message(Band::Steps, step);
    }
    turns.release();
    turns.turns
}

#[derive(Default)]
struct Turns<'a> {
    turns: Vec<Turn<'a>>,
    /// Chunks that wait for the next message that is not a tool's result.
    held: Vec<(Band, String)>,
}

impl<'a> Turns<'a> {
    fn push(&mut self, turn: Turn<'a>) {
        self.turns.push(turn);
    }

    fn hold(&mut self, band: Band, text: String) {
        if !text.is_empty() {
            self.held.push((band, text));
        }
    }

    fn message(&mut self, band: Band, message: &'a Message) {
        if !answers_a_call(message) {
            self.release();
        }
        self.push(Turn::Message(band, message));
    }

    fn release(&mut self) {
        let held = self.held.drain(..);
        self.turns
            .extend(held.map(|(band, text)| Turn::Chunks(band, text)));
    }
}

fn answers_a_call(message: &Message) -> bool {
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult { .. });
    message.role == Role::Tool
        || matches!(&message.content, Content::Blocks(blocks) if blocks.iter().any(is_result))
}

/// The pieces as one text.
pub(super) fn joined<'a>(kept: impl Iterator<Item = &'a crate::assembly::kept::Kept>) -> String {
    kept.map(|kept| kept.text.as_str()).collect()
}

/// Tokens that a provider adds around every message. An estimate: providers do not publish it, but
/// for chat completions it is known to be 3 and the role.
pub(super) const MESSAGE_OVERHEAD: u32 = 4;

/// What an encoded picture or file is taken to cost: about that of a picture of 1,100 × 1,100.
const ATTACHMENT_TOKENS: u32 = 1_600;

/// The text of a block that is not plain text, as far as it can be counted, and an estimate for
/// the pictures and files in it. Encoded data are replaced by their hash, so that other data are
/// another text.
pub(super) fn countable(raw: &RawJson) -> (String, u32) {
    let Ok(mut value) = raw.parse_as::<Value>() else {
        return (raw.as_str().into(), 0);
    };
    let mut attachments = 0;
    // What a tool is called with is text, whatever its fields are called.
    if value.get("type").is_none_or(|kind| kind != "tool_use") {
        replace_data(&mut value, &mut attachments);
    }
    let text = alloc::format!("{value}");
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
