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

use super::import::{
    ImportDefaults, ImportError, ImportLine, LeftOut, Place, branch, text_or_number, time_of,
};

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

/// The messages of one conversation, each of which may be bad by itself.
pub(super) fn read_conversation(
    record: &[u8],
    number: u64,
    defaults: &ImportDefaults,
    left_out: &mut LeftOut,
) -> Result<Vec<Result<ImportLine, ImportError>>, ImportError> {
    let conversation: Conversation<'_> = serde_json::from_slice(record)
        .map_err(|error| ImportError::json(Place::conversation(number), &error, record))?;
    let place = |index: usize| Place::Conversation {
        number,
        title: conversation.name.clone(),
        message: Some((index + 1).to_string()),
    };
    let messages: Vec<Result<Message, ImportError>> = conversation
        .chat_messages
        .iter()
        .enumerate()
        .map(|(index, raw)| {
            serde_json::from_str(raw.get())
                .map_err(|error| ImportError::json(place(index), &error, raw.get().as_bytes()))
        })
        .collect();
    let leaf = conversation.current_leaf_message_uuid.as_deref();
    let other_branches = other_branches(&messages, leaf, left_out);
    let id = conversation.uuid.or_else(|| conversation.name.clone());
    let mut last_time = conversation.created_at.as_ref().and_then(time_of);
    let mut lines = Vec::new();
    for (index, message) in messages.into_iter().enumerate() {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                lines.push(Err(error));
                continue;
            }
        };
        let uuid = message.uuid.as_deref().unwrap_or_default();
        if other_branches.contains(uuid) {
            continue;
        }
        let role = match message.sender.as_str() {
            "human" | "user" => Role::User,
            "assistant" => Role::Assistant,
            other => {
                lines.push(Err(ImportError::Field {
                    place: place(index),
                    field: "sender",
                    found: format!("`{}`", other.escape_debug()),
                    expected: "human or assistant",
                }));
                continue;
            }
        };
        // A message without a time was said after the one before it.
        let time = message.created_at.as_ref().and_then(time_of);
        last_time = time.or(last_time);
        let text = text_of(&message);
        if text.is_empty() {
            left_out.empty += 1;
            continue;
        }
        let mut line = defaults.line("claude", role, text);
        line.conversation.clone_from(&id);
        line.reference = message.uuid;
        line.at.clone_from(&last_time);
        lines.push(Ok(line));
    }
    Ok(lines)
}

/// The messages that are on another branch than the current one, or than the last message.
///
/// If a message does not tell what it follows, or the way does not lead to the beginning, there are
/// none: to take too much is better than to lose what was said.
fn other_branches(
    messages: &[Result<Message, ImportError>],
    current: Option<&str>,
    left_out: &mut LeftOut,
) -> BTreeSet<String> {
    let mut parents: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    let mut last = None;
    for message in messages {
        let Ok(message) = message else {
            return BTreeSet::new();
        };
        let (Some(id), Some(parent)) = (&message.uuid, &message.parent_message_uuid) else {
            return BTreeSet::new();
        };
        parents.insert(id, Some(parent));
        last = Some(id.as_str());
    }
    let current = current.filter(|id| parents.contains_key(id));
    let Some(leaf) = current.or(last) else {
        return BTreeSet::new();
    };
    let (path, branches) = branch(&parents, leaf);
    let root_of = |id: Option<&&str>| parents.get(id?).copied().flatten();
    let first = messages.first().and_then(|first| first.as_ref().ok());
    let first = first.and_then(|first| first.parent_message_uuid.as_deref());
    if root_of(path.first()) != first {
        return BTreeSet::new();
    }
    left_out.branches += branches;
    let path: BTreeSet<&str> = path.into_iter().collect();
    let others = parents.keys().filter(|id| !path.contains(**id));
    others.map(|id| (*id).to_owned()).collect()
}

/// What a message says: its blocks of text, or its text where it has no blocks, and what is attached.
fn text_of(message: &Message) -> String {
    let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
    let blocks = message.content.as_deref().unwrap_or_default();
    let mut parts: Vec<String> = Vec::new();
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("text" | "voice_note") => parts.extend(text(block, "text")),
            Some("image") => parts.push("[image]".to_owned()),
            _ => {}
        }
    }
    // The text is the whole message written out, thoughts and tools included: only without blocks.
    if blocks.is_empty() {
        parts.extend(message.text.clone());
    }
    for attached in [&message.attachments, &message.files] {
        for file in attached.as_array().into_iter().flatten() {
            let name = text(file, "file_name").filter(|name| !name.trim().is_empty());
            let name = name.map(|name| format!("[file: {name}]"));
            for shown in [name, text(file, "extracted_content")]
                .into_iter()
                .flatten()
            {
                // A file may be in both lists.
                if !parts.contains(&shown) {
                    parts.push(shown);
                }
            }
        }
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}
