//! The fields of a request's body that hold the speakers and their words.

use std::borrow::Cow;
use std::ops::Range;

use kitbag::core::role::Role;
use kitbag::wire::Dialect;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ClientMessage, content, message};

/// A request's body, read.
#[derive(Debug)]
pub(in super::super) struct ReadBody {
    /// The messages, in order; those that only instruct among them.
    pub(in super::super) messages: Vec<ClientMessage>,
    /// The texts of the instructions that stand apart.
    pub(in super::super) system: Vec<String>,
    /// The bytes of those instructions.
    pub(in super::super) instructions: Option<Range<usize>>,
    /// The bytes of the list of tools.
    pub(in super::super) tools: Option<Range<usize>>,
    /// Set where the model may call tools.
    pub(in super::super) has_tools: bool,
    /// The name of the person at the client, as the client says.
    pub(in super::super) user: Option<String>,
    /// The name of a conversation that the provider keeps.
    pub(in super::super) conversation: Option<String>,
    /// A name that tells conversations apart which begin alike.
    pub(in super::super) seed: Option<String>,
    /// The name of the answer before, which the provider keeps with all that was said before it.
    pub(in super::super) previous: Option<String>,
}

#[derive(Deserialize)]
struct RawBody<'b> {
    #[serde(borrow, default)]
    messages: Option<Vec<&'b RawValue>>,
    #[serde(borrow, default)]
    input: Option<&'b RawValue>,
    #[serde(borrow, default)]
    system: Option<&'b RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'b RawValue>,
    #[serde(default)]
    metadata: Option<Metadata>,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    safety_identifier: Option<String>,
    #[serde(default)]
    prompt_cache_key: Option<String>,
    #[serde(default)]
    previous_response_id: Option<String>,
    #[serde(default)]
    conversation: Option<Conversation>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    user_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Conversation {
    Id(String),
    Object { id: String },
}

#[derive(Deserialize)]
struct RawMessage<'b> {
    #[serde(borrow, default)]
    role: Option<Cow<'b, str>>,
    #[serde(borrow, rename = "type", default)]
    kind: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    content: Option<&'b RawValue>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(borrow, default)]
    output: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: Option<String>,
}

impl ReadBody {
    /// Reads a body; nothing if it is no request of the dialect.
    pub(in super::super) fn read(dialect: Dialect, body: &[u8]) -> Option<Self> {
        let raw: RawBody<'_> = serde_json::from_slice(body).ok()?;
        let start = body.as_ptr().addr();
        // Raw values are slices of the body.
        let offset = |raw: &RawValue| {
            // A text with escapes is a copy, and has no place in the body.
            let at = raw.get().as_ptr().addr().checked_sub(start)?;
            (at < body.len()).then_some(at)
        };
        let span = |raw: &RawValue| offset(raw).map(|at| at..at + raw.get().len());
        let mut messages = Vec::new();
        match (raw.messages, raw.input) {
            (Some(list), _) => {
                for raw in list {
                    messages.push(read_message(dialect, raw, offset)?);
                }
            }
            // The Responses API allows a bare text for a single message of the user.
            (None, Some(input)) if input.get().starts_with('"') => {
                let (parts, place) = content::read(dialect, Role::User, input, offset);
                messages.push(message(Role::User, &parts, place));
            }
            (None, Some(input)) => {
                let items: Vec<&RawValue> = serde_json::from_str(input.get()).ok()?;
                for raw in items {
                    messages.push(read_message(dialect, raw, offset)?);
                }
            }
            (None, None) => return None,
        }
        let system = raw.system.map(|raw| {
            let (parts, _) = content::read(dialect, Role::System, raw, |_| None);
            parts.into_iter().filter_map(|part| part.text).collect()
        });
        let has_tools = raw.tools.is_some_and(|raw| {
            let tools: Result<Vec<&RawValue>, _> = serde_json::from_str(raw.get());
            tools.is_ok_and(|tools| !tools.is_empty())
        });
        let user_id = raw.metadata.and_then(|metadata| metadata.user_id);
        Some(Self {
            messages,
            system: system.unwrap_or_default(),
            instructions: raw.system.and_then(span),
            tools: raw.tools.and_then(span),
            has_tools,
            // OpenAI's newer field first: clients may still send the older one with it.
            user: raw.safety_identifier.or(raw.user).or(user_id),
            conversation: raw.conversation.map(|it| match it {
                Conversation::Id(id) | Conversation::Object { id } => id,
            }),
            seed: raw.prompt_cache_key,
            previous: raw.previous_response_id,
        })
    }
}

/// Reads a message or an item. Reasoning and the like are messages without words.
fn read_message(
    dialect: Dialect,
    raw: &RawValue,
    offset: impl Fn(&RawValue) -> Option<usize>,
) -> Option<ClientMessage> {
    let read: RawMessage<'_> = serde_json::from_str(raw.get()).ok()?;
    let kind = read.kind.as_deref().unwrap_or("message");
    let role = match read.role.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system" | "developer") => Role::System,
        Some("tool" | "function") => Role::Tool,
        Some(_) => return None,
        // Items of the Responses API have a type in the place of a role.
        None if kind.ends_with("_output") => Role::Tool,
        None => Role::Assistant,
    };
    let (parts, place) = match read.content {
        Some(raw) => content::read(dialect, role, raw, &offset),
        None => (Vec::new(), None),
    };
    // Only what a person said is a place for memory.
    let mut message = message(role, &parts, place.filter(|_| role == Role::User));
    let span = |raw: &RawValue| offset(raw).map(|at| at..at + raw.get().len());
    message.at = Some(raw).and_then(span);
    message.content = read.content.and_then(span);
    let calls = read.tool_calls.unwrap_or_default().into_iter();
    message.calls.extend(calls.filter_map(|call| call.id));
    // The APIs name the same id differently; one message has one of them.
    message.calls.extend(read.tool_call_id);
    message.calls.extend(read.call_id);
    if role == Role::Tool {
        message.has_results = true;
        let told = read.output.or(read.content);
        message.results = told.map_or_else(Vec::new, |told| content::results(told, &offset));
    }
    Some(message)
}
