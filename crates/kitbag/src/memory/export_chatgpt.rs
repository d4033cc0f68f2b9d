//! Reads a conversation of a ChatGPT export.
//!
//! Its messages are a tree, of which only the branch that ends at `current_node` is taken. Kept are the
//! messages that the user saw. Documents of the canvas become messages in their latest version, and what
//! the model was told to remember (`bio`) becomes facts of the message before. Calls and results of
//! other tools, thoughts, hidden messages and custom instructions are left out. Images, sounds and files
//! are named in brackets where they stood.

mod message;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::export::branch::branch;
use super::export::documents::{Change, Documents, Origin, Written};
use super::export::{Exported, Said, text};
use super::import::{ImportError, ImportTally, Place, RecordKind, parsed, text_or_number};
use message::{Message, MessageKind, classified, parts_of, text_of};

#[derive(Deserialize)]
#[serde(expecting = "a conversation")]
struct Conversation<'a> {
    #[serde(default, deserialize_with = "text_or_number")]
    conversation_id: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    id: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    title: Option<String>,
    create_time: Option<Value>,
    current_node: Option<String>,
    #[serde(borrow)]
    mapping: BTreeMap<String, Node<'a>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a node of a conversation")]
struct Node<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    parent: Option<String>,
}

/// Reads one conversation.
pub(super) fn read(
    record: &[u8],
    number: u64,
    tally: &mut ImportTally,
) -> Result<Exported, ImportError> {
    let conversation: Conversation<'_> = parsed(record, || Place::conversation(number))?;
    let nodes = &conversation.mapping;
    let parents = nodes.iter();
    let parents = parents.map(|(id, node)| (id.as_str(), node.parent.as_deref()));
    let parents: BTreeMap<&str, Option<&str>> = parents.collect();
    let current = conversation.current_node.as_deref();
    // A current node that is missing would give an empty conversation.
    let current = current.filter(|id| parents.contains_key(id));
    let leaf = current.or_else(|| latest(nodes));
    let (path, branches) = leaf.map(|leaf| branch(&parents, leaf)).unwrap_or_default();
    tally.add_many(RecordKind::Branches, branches);
    let id = conversation.conversation_id.or(conversation.id);
    let mut exported = Exported {
        id: id.or_else(|| conversation.title.clone()),
        title: conversation.title.clone(),
        begun: conversation.create_time,
        ..Exported::default()
    };
    let mut documents = Documents::default();
    let mut messages = Vec::with_capacity(path.len());
    for node in path {
        if let Some(raw) = nodes.get(node).and_then(|node| node.message) {
            let place = || Place::message(number, &conversation.title, node);
            let message: Result<Message, ImportError> = parsed(raw.get().as_bytes(), place);
            let message = message.and_then(|message| Ok((classified(&message, place)?, message)));
            messages.push((node, message));
        }
    }
    let mut messages = messages.into_iter().peekable();
    // A message that cannot be read is an error by itself; the others are imported.
    while let Some((node, message)) = messages.next() {
        let (kind, message) = match message {
            Ok(message) => message,
            Err(error) => {
                exported.messages.push(Err(error));
                continue;
            }
        };
        match kind {
            MessageKind::Said(role) => exported.messages.push(Ok(Said {
                parts: parts_of(&message, tally),
                reference: message.id.or_else(|| Some(node.to_owned())),
                role,
                speaker: message.author.name,
                at: message.create_time,
                remembered: Vec::new(),
            })),
            MessageKind::Memory => {
                for line in text_of(&message).lines() {
                    let line = line.trim().trim_start_matches(['-', '*', '•']).trim();
                    if !line.is_empty() {
                        exported.remember(line, tally);
                    }
                }
            }
            MessageKind::Canvas => {
                // The call has no id of the document; the answer of the tool, which comes next, has it.
                let answer = messages.peek().and_then(|(_, next)| next.as_ref().ok());
                let answer = answer.and_then(|(_, next)| next.metadata.get("canvas"));
                let id = answer.and_then(|canvas| text(canvas, "textdoc_id"));
                let origin = Origin {
                    message: message.id.as_deref().or(Some(node)),
                    at: message.create_time.as_ref(),
                    position: exported.messages.len(),
                };
                use_canvas(&message, id, &origin, &mut documents, tally);
            }
            MessageKind::LeftOut(kind) => tally.add(kind),
        }
    }
    documents.put_into(&mut exported, tally);
    Ok(exported)
}

/// Applies a call of the canvas to the documents.
fn use_canvas(
    message: &Message,
    id: Option<&str>,
    origin: &Origin<'_>,
    documents: &mut Documents,
    tally: &mut ImportTally,
) {
    let call: Value = serde_json::from_str(text_of(message)).unwrap_or_default();
    if let Some(content) = text(&call, "content") {
        let (title, text) = (text(&call, "name"), content);
        // Without the id, so that the document is known by the name of its message; later changes find it by
        // the id that is added below.
        documents.write(
            Written {
                id: None,
                title,
                text,
            },
            origin,
            tally,
        );
        if let Some(id) = id {
            documents.name_last(id);
        }
        return;
    }
    let updates = call.get("updates").and_then(Value::as_array);
    let Some(updates) = updates.filter(|updates| !updates.is_empty()) else {
        tally.add(RecordKind::ToolCalls);
        return;
    };
    let change = |update| {
        Some(Change::Pattern {
            pattern: text(update, "pattern")?,
            replacement: text(update, "replacement")?,
            is_repeated: update.get("multiple") == Some(&Value::Bool(true)),
        })
    };
    let changes: Vec<Change<'_>> = updates.iter().filter_map(change).collect();
    documents.change(id, &changes, origin, tally);
}

/// The node whose message is the latest, for exports that do not say which is the current one.
fn latest<'a>(nodes: &'a BTreeMap<String, Node<'_>>) -> Option<&'a str> {
    #[derive(Deserialize)]
    struct When {
        create_time: Option<f64>,
    }
    let when = |node: &Node<'_>| {
        let message: Option<When> = serde_json::from_str(node.message?.get()).ok();
        message?.create_time
    };
    // The root has no message and no time, and must not win.
    let when = |node: &Node<'_>| when(node).unwrap_or(f64::MIN);
    let latest = nodes.iter();
    let latest = latest.max_by(|(_, a), (_, b)| when(a).total_cmp(&when(b)));
    latest.map(|(id, _)| id.as_str())
}
