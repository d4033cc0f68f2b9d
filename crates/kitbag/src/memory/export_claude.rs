//! Reads a conversation of a Claude export, or the memory that Claude wrote about its user.
//!
//! Of messages that were edited or asked again only the branch that was last written is taken, where the
//! export tells which message follows which. What a message says are its blocks of text. Artifacts and
//! created files become messages in their latest version; thoughts and the use of other tools are left
//! out. Files are named in brackets, and the text of those that were attached or pasted stands between
//! fences: it is part of the message, and nothing that its writer said.

mod artifacts;
mod edits;
mod memory;

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::neutral::fence;
use kitbag_core::role::Role;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::export::branch::branch;
use super::export::documents::{Documents, Origin};
use super::export::{Exported, Said, named, text};
use super::import::{ImportError, ImportTally, Place, RecordKind, parsed, text_or_number};
use edits::MemoryEdits;

#[derive(Deserialize)]
#[serde(expecting = "a conversation")]
struct Conversation<'a> {
    #[serde(default, deserialize_with = "text_or_number")]
    uuid: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    name: Option<String>,
    summary: Option<String>,
    created_at: Option<Value>,
    current_leaf_message_uuid: Option<String>,
    #[serde(borrow)]
    chat_messages: Option<Vec<&'a RawValue>>,
    conversations_memory: Option<String>,
    project_memories: Option<BTreeMap<String, String>>,
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

/// The things that the messages of a conversation make and change.
#[derive(Default)]
struct Made {
    documents: Documents,
    edits: MemoryEdits,
}

/// Reads one conversation, or a memory.
pub(super) fn read(
    record: &[u8],
    number: u64,
    tally: &mut ImportTally,
) -> Result<Exported, ImportError> {
    let conversation: Conversation<'_> = parsed(record, || Place::conversation(number))?;
    let Some(chat_messages) = conversation.chat_messages else {
        let (whole, projects) = (
            conversation.conversations_memory,
            conversation.project_memories,
        );
        return memory::exported(whole, projects, tally).ok_or_else(|| ImportError::Json {
            place: Place::conversation(number),
            problem: "missing field `chat_messages`".to_owned(),
        });
    };
    let name = conversation.name;
    let place = |index: usize| Place::message(number, &name, index + 1);
    let written = chat_messages.iter().enumerate();
    let messages: Vec<Result<Message, ImportError>> = written
        .map(|(index, raw)| parsed(raw.get().as_bytes(), || place(index)))
        .collect();
    let leaf = conversation.current_leaf_message_uuid.as_deref();
    let others = other_branches(&messages, leaf, tally).unwrap_or_default();
    let mut exported = Exported {
        id: conversation.uuid.or_else(|| name.clone()),
        title: name.clone(),
        begun: conversation.created_at,
        summary: conversation.summary,
        messages: Vec::with_capacity(messages.len()),
    };
    let mut made = Made::default();
    for (index, message) in messages.into_iter().enumerate() {
        let id = message.as_ref().ok().and_then(|one| one.uuid.as_deref());
        if id.is_some_and(|id| others.contains(id)) {
            continue;
        }
        let said = message.and_then(|message| {
            let role = match message.sender.as_str() {
                "human" | "user" => Role::User,
                "assistant" => Role::Assistant,
                other => {
                    let expected = "human or assistant";
                    return Err(ImportError::role(place(index), "sender", other, expected));
                }
            };
            let mut parts = Vec::new();
            read_blocks(&message, &mut parts, &mut exported, &mut made, tally);
            add_files(&message, &mut parts, tally);
            Ok(Said {
                role,
                parts,
                reference: message.uuid,
                speaker: None,
                at: message.created_at,
                remembered: Vec::new(),
            })
        });
        exported.messages.push(said);
    }
    made.documents.put_into(&mut exported, tally);
    Ok(exported)
}

/// The messages on other branches than that of the current message, or else of the last one.
///
/// If a message has no parent, or the path does not lead to the beginning, there are none: importing
/// too much is better than losing messages.
fn other_branches(
    messages: &[Result<Message, ImportError>],
    current: Option<&str>,
    tally: &mut ImportTally,
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
    tally.add_many(RecordKind::Branches, branches);
    let path: BTreeSet<&str> = path.into_iter().collect();
    let others = parents.into_keys().filter(|id| !path.contains(id));
    Some(others.map(str::to_owned).collect())
}

/// Adds the text of a message's blocks, or its own text if it has no blocks.
fn read_blocks(
    message: &Message,
    parts: &mut Vec<String>,
    exported: &mut Exported,
    made: &mut Made,
    tally: &mut ImportTally,
) {
    let origin = Origin {
        message: message.uuid.as_deref(),
        at: message.created_at.as_ref(),
        // After the message that makes it, which is added when its blocks are read.
        position: exported.messages.len() + 1,
    };
    let blocks = message.content.as_deref().unwrap_or_default();
    for block in blocks {
        match text(block, "type") {
            Some("text" | "voice_note") => {
                let said = text(block, "text").unwrap_or_default();
                parts.push(artifacts::take_out(
                    said,
                    &origin,
                    &mut made.documents,
                    tally,
                ));
            }
            Some("image") => {
                tally.add(RecordKind::FileNames);
                parts.push("[image]".to_owned());
            }
            Some("thinking" | "redacted_thinking") => tally.add(RecordKind::Thoughts),
            Some("tool_use") => {
                let is_kept = made.edits.call(block, exported, tally)
                    || artifacts::use_tool(block, &origin, &mut made.documents, tally);
                tally.add_many(RecordKind::ToolCalls, u64::from(!is_kept));
            }
            Some("tool_result") => {
                made.edits.result(block);
                tally.add(RecordKind::ToolResults);
            }
            _ => tally.add(RecordKind::Hidden),
        }
    }
    // `text` repeats the blocks, thoughts and tools included, so it is used only without blocks.
    if blocks.is_empty() {
        let said = message.text.as_deref().unwrap_or_default();
        parts.push(artifacts::take_out(
            said,
            &origin,
            &mut made.documents,
            tally,
        ));
    }
}

/// The text of a file between fences: a message states what its writer says, and not what a file does.
fn fenced(text: &str) -> String {
    let fence = fence(text);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

/// Adds the names and texts of files.
fn add_files(message: &Message, parts: &mut Vec<String>, tally: &mut ImportTally) {
    let attached = [&message.attachments, &message.files].into_iter();
    for file in attached.filter_map(Value::as_array).flatten() {
        let name = text(file, "file_name").filter(|name| !name.trim().is_empty());
        let name = name.map(|name| (RecordKind::FileNames, named("file", name)));
        let extracted = text(file, "extracted_content").filter(|text| !text.trim().is_empty());
        let extracted = extracted.map(|text| (RecordKind::FileTexts, fenced(text)));
        for (kind, shown) in name.into_iter().chain(extracted) {
            // Some exports have the same file in both lists.
            if !parts.contains(&shown) {
                tally.add(kind);
                parts.push(shown);
            }
        }
    }
}
