//! A message of a ChatGPT export: its kind and its text.

use kitbag_core::role::Role;
use serde::Deserialize;
use serde_json::Value;

use crate::memory::export::{named, text};
use crate::memory::import::{ImportError, ImportTally, Place, RecordKind, text_or_number};

#[derive(Deserialize)]
#[serde(expecting = "a message")]
pub(super) struct Message {
    #[serde(default, deserialize_with = "text_or_number")]
    pub(super) id: Option<String>,
    pub(super) author: Author,
    pub(super) create_time: Option<Value>,
    #[serde(default)]
    pub(super) content: Value,
    #[serde(default)]
    pub(super) metadata: Value,
    pub(super) recipient: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an author")]
pub(super) struct Author {
    pub(super) role: String,
    #[serde(default, deserialize_with = "text_or_number")]
    pub(super) name: Option<String>,
}

/// The role of a message for the user.
pub(super) enum MessageKind {
    /// Something that was said.
    Said(Role),
    /// A text for the memory of the service.
    Memory,
    /// A call that makes or changes a document.
    Canvas,
    LeftOut(RecordKind),
}

/// Classifies a message.
pub(super) fn classified(
    message: &Message,
    place: impl Fn() -> Place,
) -> Result<MessageKind, ImportError> {
    let role = match message.author.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        "system" | "developer" => Role::System,
        other => {
            let expected = "user, assistant, tool or system";
            return Err(ImportError::role(place(), "author.role", other, expected));
        }
    };
    let is_set = |name: &str| message.metadata.get(name) == Some(&Value::Bool(true));
    let left_out = match kind_of(&message.content) {
        "user_editable_context" | "model_editable_context" => Some(RecordKind::Instructions),
        _ if is_set("is_user_system_message") => Some(RecordKind::Instructions),
        "thoughts" | "reasoning_recap" => Some(RecordKind::Thoughts),
        "tether_quote"
        | "tether_browsing_display"
        | "tether_browsing_code"
        | "execution_output"
        | "computer_output"
        | "sonic_webpage"
        | "system_error" => Some(RecordKind::ToolResults),
        _ => None,
    };
    if let Some(kind) = left_out {
        return Ok(MessageKind::LeftOut(kind));
    }
    let recipient = message.recipient.as_deref().unwrap_or("all");
    Ok(match (role, recipient) {
        (Role::System, _) => MessageKind::LeftOut(RecordKind::Hidden),
        // The recipient is the tool that a message calls; `all` is the user.
        (Role::Assistant, "bio") => MessageKind::Memory,
        (Role::Assistant, "canmore.create_textdoc" | "canmore.update_textdoc") => {
            MessageKind::Canvas
        }
        // The report of a long research comes as the result of a tool, and is what the user reads.
        (Role::Tool, _) if is_set("is_async_task_result_message") => MessageKind::Said(Role::Tool),
        (Role::Tool, _) => MessageKind::LeftOut(RecordKind::ToolResults),
        _ if is_set("is_visually_hidden_from_conversation") => {
            MessageKind::LeftOut(RecordKind::Hidden)
        }
        (_, "all") => MessageKind::Said(role),
        _ => MessageKind::LeftOut(RecordKind::ToolCalls),
    })
}

/// The text of a message that has one, as calls of tools do.
pub(super) fn text_of(message: &Message) -> &str {
    let content = &message.content;
    let parts = content.get("parts").and_then(Value::as_array);
    let part = parts.and_then(|parts| parts.first()?.as_str());
    let mut names = ["text", "result", "content"].into_iter();
    part.or_else(|| names.find_map(|name| text(content, name)))
        .unwrap_or_default()
}

/// All that a message says, part by part.
pub(super) fn parts_of(message: &Message, tally: &mut ImportTally) -> Vec<String> {
    let content = &message.content;
    let mut parts: Vec<String> = Vec::new();
    if let Some(written) = content.get("parts").and_then(Value::as_array) {
        let is_spoken = |part: &Value| kind_of(part) == "audio_transcription";
        let is_spoken = written.iter().any(is_spoken);
        parts.extend(
            written
                .iter()
                .filter_map(|part| part_of(part, is_spoken, tally)),
        );
    } else {
        parts.push(text_of(message).to_owned());
    }
    let attached = message.metadata.get("attachments");
    for file in attached.and_then(Value::as_array).into_iter().flatten() {
        let is_image = text(file, "mime_type").is_some_and(|kind| kind.starts_with("image/"));
        // Images are among the parts already.
        let name = text(file, "name").filter(|_| !is_image);
        tally.add_many(RecordKind::FileNames, u64::from(name.is_some()));
        parts.extend(name.map(|name| named("file", name)));
    }
    parts.iter().map(|part| without_marks(part)).collect()
}

fn kind_of(part: &Value) -> &str {
    text(part, "content_type").unwrap_or_default()
}

/// One part: its text, or a name in brackets. A sound needs none if its transcript is there too.
fn part_of(part: &Value, is_spoken: bool, tally: &mut ImportTally) -> Option<String> {
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
    tally.add(RecordKind::FileNames);
    Some(shown.to_owned())
}

/// A text without the marks that only the service's own pages understand: citations are removed, and
/// of named things the name stays.
fn without_marks(text: &str) -> String {
    const BEGIN: char = '\u{E200}';
    const END: char = '\u{E201}';
    const FIELD: char = '\u{E202}';
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once(BEGIN) {
        plain.push_str(before);
        // A mark without an end was cut off with its message.
        let (mark, after) = marked.split_once(END).unwrap_or((marked, ""));
        let (kind, value) = mark.split_once(FIELD).unwrap_or((mark, ""));
        if kind == "entity" {
            let fields: Vec<Value> = serde_json::from_str(value).unwrap_or_default();
            plain.push_str(fields.get(1).and_then(Value::as_str).unwrap_or_default());
        } else if kind == "url" || kind == "link_title" {
            plain.push_str(value.split(FIELD).next().unwrap_or_default());
        } else {
            leave_one_space(&mut plain, after);
        }
        rest = after;
    }
    plain.push_str(rest);
    without_references(&plain)
}

/// The longest number and name of a source in a reference, in bytes: the name of a file may have 255.
const LONGEST_REFERENCE: usize = 300;

/// A text without references of an older form: `【4†source】`. Other texts in such brackets stay.
fn without_references(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once('【') {
        plain.push_str(before);
        let inside = marked.split_once('】');
        let is_reference = |inside: &str| {
            inside.starts_with(|c: char| c.is_ascii_digit())
                && inside.contains('†')
                && inside.len() <= LONGEST_REFERENCE
        };
        rest = match inside.filter(|(inside, _)| is_reference(inside)) {
            Some((_, after)) => {
                leave_one_space(&mut plain, after);
                after
            }
            None => {
                plain.push('【');
                marked
            }
        };
    }
    plain.push_str(rest);
    plain
}

/// Takes a space off the end of a text if another space or a sign follows it.
fn leave_one_space(text: &mut String, after: &str) {
    let is_one_too_many =
        |next: char| next.is_whitespace() || matches!(next, '.' | ',' | ';' | ':');
    if text.ends_with(' ') && after.starts_with(is_one_too_many) {
        text.pop();
    }
}
