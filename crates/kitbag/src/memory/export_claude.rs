//! Reads a conversation of a Claude export.
//!
//! Of messages that were edited or asked again only the branch that was last written is taken, where the
//! export tells which message follows which. What a message says are its blocks of text; thoughts and
//! the use of tools are left out. Files are named in brackets, and the text of those that were attached
//! or pasted is part of what was said.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::role::Role;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::export::{Exported, Said, branch, text};
use super::import::{ImportError, LeftOut, Place, parsed, text_or_number};

#[derive(Deserialize)]
#[serde(expecting = "a conversation")]
struct Conversation<'a> {
    #[serde(default, deserialize_with = "text_or_number")]
    uuid: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    name: Option<String>,
    created_at: Option<Value>,
    current_leaf_message_uuid: Option<String>,
    #[serde(borrow)]
    chat_messages: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "a message")]
struct Message {
    #[serde(default, deserialize_with = "text_or_number")]
    uuid: Option<String>,
    parent_message_uuid: Option<String>,
    sender: String,
    text: Option<String>,
    content: Option<Vec<Value>>,
    created_at: Option<Value>,
    #[serde(default)]
    attachments: Value,
    #[serde(default)]
    files: Value,
}

/// Reads one conversation.
pub(super) fn read(
    record: &[u8],
    number: u64,
    left_out: &mut LeftOut,
) -> Result<Exported, ImportError> {
    let conversation: Conversation<'_> = parsed(record, || Place::conversation(number))?;
    let name = conversation.name;
    let place = |index: usize| Place::message(number, &name, index + 1);
    let written = conversation.chat_messages.iter().enumerate();
    let messages: Vec<Result<Message, ImportError>> = written
        .map(|(index, raw)| parsed(raw.get().as_bytes(), || place(index)))
        .collect();
    let leaf = conversation.current_leaf_message_uuid.as_deref();
    let others = other_branches(&messages, leaf, left_out).unwrap_or_default();
    let is_left = |message: &Result<Message, ImportError>| {
        let message = message.as_ref().ok();
        let id = message.and_then(|message| message.uuid.as_deref());
        id.is_some_and(|id| others.contains(id))
    };
    let said = |(index, message): (usize, Result<Message, ImportError>)| {
        let message = message?;
        Ok(Said {
            role: match message.sender.as_str() {
                "human" | "user" => Role::User,
                "assistant" => Role::Assistant,
                other => {
                    let expected = "human or assistant";
                    return Err(ImportError::role(place(index), "sender", other, expected));
                }
            },
            parts: parts_of(&message),
            reference: message.uuid,
            speaker: None,
            at: message.created_at,
        })
    };
    let messages = messages.into_iter().enumerate();
    let messages = messages.filter(|(_, message)| !is_left(message));
    let messages = messages.map(said).collect();
    Ok(Exported {
        id: conversation.uuid.or(name),
        begun: conversation.created_at,
        messages,
    })
}

/// The messages that are on another branch than the current one, or than the last message.
///
/// If a message does not tell what it follows, or the way does not lead to the beginning, there are
/// none: to take too much is better than to lose what was said.
fn other_branches(
    messages: &[Result<Message, ImportError>],
    current: Option<&str>,
    left_out: &mut LeftOut,
) -> Option<BTreeSet<String>> {
    let mut parents: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for message in messages {
        let message = message.as_ref().ok()?;
        let parent = message.parent_message_uuid.as_deref()?;
        parents.insert(message.uuid.as_deref()?, Some(parent));
    }
    let first = messages.first()?.as_ref().ok()?;
    let last = messages.last()?.as_ref().ok()?;
    let current = current.filter(|id| parents.contains_key(id));
    let (path, branches) = branch(&parents, current.or(last.uuid.as_deref())?);
    let root = parents.get(path.first()?).copied().flatten();
    if root != first.parent_message_uuid.as_deref() {
        return None;
    }
    left_out.branches += branches;
    let path: BTreeSet<&str> = path.into_iter().collect();
    let others = parents.into_keys().filter(|id| !path.contains(id));
    Some(others.map(str::to_owned).collect())
}

/// What a message says: its blocks of text, or its text where it has no blocks, and what is attached.
fn parts_of(message: &Message) -> Vec<String> {
    let blocks = message.content.as_deref().unwrap_or_default();
    let mut parts: Vec<String> = Vec::new();
    for block in blocks {
        match text(block, "type") {
            Some("text" | "voice_note") => parts.extend(text(block, "text").map(str::to_owned)),
            Some("image") => parts.push("[image]".to_owned()),
            _ => {}
        }
    }
    // The text is the whole message written out, thoughts and tools included: only without blocks.
    if blocks.is_empty() {
        parts.extend(message.text.clone());
    }
    let attached = [&message.attachments, &message.files].into_iter();
    for file in attached.filter_map(Value::as_array).flatten() {
        let name = text(file, "file_name").filter(|name| !name.trim().is_empty());
        let name = name.map(|name| format!("[file: {name}]"));
        let extracted = text(file, "extracted_content").map(str::to_owned);
        for shown in name.into_iter().chain(extracted) {
            // A file may be in both lists.
            if !parts.contains(&shown) {
                parts.push(shown);
            }
        }
    }
    parts
}
