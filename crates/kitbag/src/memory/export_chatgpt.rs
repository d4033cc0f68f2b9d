//! Reads a conversation of a ChatGPT export.
//!
//! Its messages are a tree, of which only the branch that ends at `current_node` is taken. Left out are
//! messages that the user never saw: the system's, those marked as hidden, thoughts, and what the
//! model says to its tools. Images, sounds and files are named in brackets where they stood.

use std::collections::BTreeMap;

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

#[derive(Deserialize)]
#[serde(expecting = "a message")]
struct Message {
    #[serde(default, deserialize_with = "text_or_number")]
    id: Option<String>,
    author: Author,
    create_time: Option<Value>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    metadata: Value,
    recipient: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an author")]
struct Author {
    role: String,
    #[serde(default, deserialize_with = "text_or_number")]
    name: Option<String>,
}

/// Reads one conversation.
pub(super) fn read(
    record: &[u8],
    number: u64,
    left_out: &mut LeftOut,
) -> Result<Exported, ImportError> {
    let conversation: Conversation<'_> = parsed(record, || Place::conversation(number))?;
    let nodes = &conversation.mapping;
    let parents = nodes.iter();
    let parents = parents.map(|(id, node)| (id.as_str(), node.parent.as_deref()));
    let parents: BTreeMap<&str, Option<&str>> = parents.collect();
    let current = conversation.current_node.as_deref();
    let current = current.filter(|id| parents.contains_key(id));
    let leaf = current.or_else(|| latest(nodes));
    let (path, branches) = leaf.map(|leaf| branch(&parents, leaf)).unwrap_or_default();
    left_out.branches += branches;
    let mut messages = Vec::new();
    for node in path {
        let Some(raw) = nodes.get(node).and_then(|node| node.message) else {
            continue;
        };
        let place = || Place::message(number, &conversation.title, node);
        match read_message(raw, place).transpose() {
            Some(message) => messages.push(message.map(|(message, role)| Said {
                parts: parts_of(&message),
                reference: message.id.or_else(|| Some(node.to_owned())),
                role,
                speaker: message.author.name,
                at: message.create_time,
            })),
            None => left_out.hidden += 1,
        }
    }
    let id = conversation.conversation_id.or(conversation.id);
    Ok(Exported {
        id: id.or(conversation.title),
        begun: conversation.create_time,
        messages,
    })
}

/// A message and its role; none if the user never saw it.
fn read_message(
    raw: &RawValue,
    place: impl Fn() -> Place,
) -> Result<Option<(Message, Role)>, ImportError> {
    let message: Message = parsed(raw.get().as_bytes(), &place)?;
    let role = match message.author.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        "system" | "developer" => return Ok(None),
        other => {
            let expected = "user, assistant, tool or system";
            return Err(ImportError::role(place(), "author.role", other, expected));
        }
    };
    let is_set = |name: &str| message.metadata.get(name) == Some(&Value::Bool(true));
    let is_unseen = matches!(
        kind_of(&message.content),
        "thoughts" | "reasoning_recap" | "user_editable_context" | "model_editable_context"
    );
    let is_hidden = is_set("is_visually_hidden_from_conversation")
        || is_set("is_user_system_message")
        || is_unseen
        || message.recipient.as_deref().is_some_and(|to| to != "all");
    Ok((!is_hidden).then_some((message, role)))
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
    let when = |node: &Node<'_>| when(node).unwrap_or(f64::MIN);
    let latest = nodes.iter();
    let latest = latest.max_by(|(_, a), (_, b)| when(a).total_cmp(&when(b)));
    latest.map(|(id, _)| id.as_str())
}

/// The text of a message.
fn parts_of(message: &Message) -> Vec<String> {
    let content = &message.content;
    let mut parts: Vec<String> = Vec::new();
    if let Some(written) = content.get("parts").and_then(Value::as_array) {
        let is_spoken = |part: &Value| kind_of(part) == "audio_transcription";
        let is_spoken = written.iter().any(is_spoken);
        parts.extend(written.iter().filter_map(|part| part_of(part, is_spoken)));
    } else {
        let mut names = ["text", "result", "content"].into_iter();
        parts.extend(
            names
                .find_map(|name| text(content, name))
                .map(str::to_owned),
        );
    }
    let attached = message.metadata.get("attachments");
    for file in attached.and_then(Value::as_array).into_iter().flatten() {
        let is_image = text(file, "mime_type").is_some_and(|kind| kind.starts_with("image/"));
        // Images stand among the parts already.
        let name = text(file, "name").filter(|_| !is_image);
        parts.extend(name.map(|name| format!("[file: {name}]")));
    }
    parts.iter().map(|part| without_marks(part)).collect()
}

fn kind_of(part: &Value) -> &str {
    text(part, "content_type").unwrap_or_default()
}

/// One part: a text, or what stands for something else. A sound whose words are there needs none.
fn part_of(part: &Value, is_spoken: bool) -> Option<String> {
    if let Some(text) = part.as_str().or_else(|| text(part, "text")) {
        return Some(text.to_owned());
    }
    let kind = kind_of(part);
    if !part.is_object() {
        return None;
    }
    let shown = match kind {
        _ if kind.contains("image") => "[image]",
        _ if kind.contains("video") && !kind.contains("audio") => "[video]",
        _ if kind.contains("audio") && is_spoken => return None,
        _ if kind.contains("audio") => "[audio]",
        _ => "[attachment]",
    };
    Some(shown.to_owned())
}

/// A text without the marks that only the service's own pages understand: sources go, and of named
/// things the name stays.
fn without_marks(text: &str) -> String {
    const BEGIN: char = '\u{E200}';
    const END: char = '\u{E201}';
    const FIELD: char = '\u{E202}';
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once(BEGIN) {
        plain.push_str(before);
        let (mark, after) = marked.split_once(END).unwrap_or((marked, ""));
        let (kind, value) = mark.split_once(FIELD).unwrap_or((mark, ""));
        if kind == "entity" {
            let fields: Vec<Value> = serde_json::from_str(value).unwrap_or_default();
            plain.push_str(fields.get(1).and_then(Value::as_str).unwrap_or_default());
        } else if kind == "url" || kind == "link_title" {
            plain.push_str(value.split(FIELD).next().unwrap_or_default());
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}
