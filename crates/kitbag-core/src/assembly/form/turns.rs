//! The messages of a request in order, with the chunks that were appended between them, before
//! they take a provider's shape.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::Placed;
use crate::assembly::draft::Draft;
use crate::band::Band;
use crate::content::RawJson;
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
pub(super) fn turns<'a>(draft: &'a Draft, chunks: &Placed<'_>) -> Vec<Turn<'a>> {
    let mut turns = Vec::new();
    for message in draft.injected(Band::Conversation) {
        turns.push(Turn::Injected(
            Band::Conversation,
            message.role,
            &message.content,
        ));
    }
    for (index, message) in draft.history.iter().enumerate() {
        push_chunks(&mut turns, Band::History, joined(chunks.before(index)));
        turns.push(Turn::Message(Band::History, message));
    }
    let appended = joined(chunks.before(draft.history.len()));
    if chunks.reserved().appended {
        turns.push(Turn::Chunks(Band::History, String::new()));
    }
    push_chunks(&mut turns, Band::History, appended);
    if chunks.reserved().volatile {
        turns.push(Turn::Chunks(Band::Volatile, String::new()));
    }
    push_chunks(&mut turns, Band::Volatile, joined(chunks.volatile()));
    turns.push(Turn::Message(Band::Current, &draft.current));
    turns.extend(
        draft
            .steps
            .iter()
            .map(|step| Turn::Message(Band::Steps, step)),
    );
    turns
}

fn push_chunks(turns: &mut Vec<Turn<'_>>, band: Band, text: String) {
    if !text.is_empty() {
        turns.push(Turn::Chunks(band, text));
    }
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
/// the encoded data in it.
pub(super) fn countable(raw: &RawJson) -> (String, u32) {
    fn strip(value: &mut Value, attachments: &mut u32) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    match value {
                        Value::String(data)
                            if (name == "data" || name == "url") && data.len() > 512 =>
                        {
                            data.clear();
                            *attachments += 1;
                        }
                        Value::String(url) if name == "url" && !url.is_empty() => *attachments += 1,
                        other => strip(other, attachments),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| strip(item, attachments)),
            _ => {}
        }
    }
    let mut attachments = 0;
    match raw.parse_as::<Value>() {
        Ok(mut value) => {
            strip(&mut value, &mut attachments);
            let text = alloc::format!("{value}");
            (text, attachments.saturating_mul(ATTACHMENT_TOKENS))
        }
        Err(_) => (raw.as_str().into(), 0),
    }
}
