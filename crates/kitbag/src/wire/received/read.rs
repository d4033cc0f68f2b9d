//! Reads the messages, instructions and tools of a request. What is not known is still a message
//! with a place, so that nothing is lost.

use indexmap::IndexMap;
use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::envelope::ToolDefinition;
use kitbag_core::message::{Message, ToolCall};
use kitbag_core::role::Role;
use serde::Deserialize;
use serde_json::Value;

use super::{ReceivedTurn, WireError};
use crate::engine::Contribution;
use crate::wire::{Dialect, Request, flat, text_field};

/// The dialect of the fields, or `None` without messages.
pub(super) fn dialect(fields: &IndexMap<String, RawJson>) -> Option<Dialect> {
    let Some(messages) = fields.get("messages") else {
        return fields.contains_key("input").then_some(Dialect::Responses);
    };
    let has = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
    let model = fields.get("model").map_or("", RawJson::as_str);
    // Chat completions and Anthropic messages look alike: a field that only one of them knows decides.
    let messages: Value = messages.parse_as().unwrap_or_default();
    let tools = fields.get("tools").and_then(|tools| tools.parse_as().ok());
    let tools: Value = tools.unwrap_or_default();
    let any = |list: &Value, is: &dyn Fn(&Value) -> bool| {
        list.as_array().is_some_and(|list| list.iter().any(is))
    };
    let is_openai = |message: &Value| {
        let is_tool = message.get("role").is_some_and(|role| role == "tool");
        is_tool || message.get("tool_calls").is_some()
    };
    // Before the name of the model: gateways serve Claude models in the format of chat completions.
    if any(&tools, &|tool| tool.get("function").is_some()) || any(&messages, &is_openai) {
        return Some(Dialect::OpenAi);
    }
    let is_anthropic = |message: &Value| {
        let blocks = message.get("content").unwrap_or(&Value::Null);
        any(blocks, &|block| {
            let kind = block.get("type").and_then(Value::as_str);
            let kinds = ["tool_use", "tool_result", "thinking", "redacted_thinking"];
            kind.is_some_and(|kind| kinds.contains(&kind))
        })
    };
    let known = [
        "system",
        "anthropic_version",
        "thinking",
        "stop_sequences",
        "top_k",
    ];
    if has(&known)
        || any(&tools, &|tool| tool.get("input_schema").is_some())
        || any(&messages, &is_anthropic)
        || model.contains("claude")
    {
        return Some(Dialect::Anthropic);
    }
    Some(Dialect::OpenAi)
}

pub(super) fn turn(request: &Request) -> Result<ReceivedTurn, WireError> {
    let dialect = request.dialect;
    if dialect == Dialect::Flat {
        return flat::turn(request);
    }
    let name = dialect.messages();
    let list = match request.text(name) {
        // One message may be given as a bare text.
        Some(text) => Vec::from_iter(RawJson::from_value(&Message::user(text))),
        None => request.list(name),
    };
    let leading = instructions(dialect, &list).len();
    let mut messages = Vec::with_capacity(list.len());
    for (index, raw) in list.iter().enumerate() {
        let refused = |reason: String| WireError::Message { index, reason };
        let mut message = match dialect {
            Dialect::Responses => item(raw),
            _ => message(raw),
        }
        .map_err(refused)?;
        // The index leads back to the client's own bytes after fitting.
        message.id = Some(index.to_string());
        messages.push(message);
    }
    let mut said = messages.split_off(leading);
    // Anthropic sends the results of tools as user messages: those continue a turn and begin none.
    let asks = |message: &Message| message.role == Role::User && !holds_result(message);
    let current = said.iter().rposition(asks);
    // A client may let the assistant speak last, so that the model continues its text.
    let current = current.or(said.len().checked_sub(1));
    let steps = said.split_off(current.map_or(0, |current| current + 1));
    let Some(current) = said.pop() else {
        return Err(WireError::NoMessages);
    };
    let mut contribution = Contribution::default();
    let system = ["system", "instructions"].into_iter();
    let system = system.flat_map(|name| system_blocks(request.fields.get(name)));
    let system = system.filter_map(|block| text_field(&block, "text"));
    let instructions = messages.iter();
    let instructions = instructions.map(|message| message.content.text().into_owned());
    let mut identity: Vec<String> = system.chain(instructions).collect();
    identity.retain(|text| !text.is_empty());
    contribution.draft.identity = Some(identity.join("\n\n"));
    contribution.draft.tools = request.list("tools").iter().map(tool).collect();
    contribution.draft.history = said;
    contribution.draft.steps = steps;
    // The names of one limit in the three APIs, the older name of chat completions among them.
    let mut most = ["max_tokens", "max_completion_tokens", "max_output_tokens"].into_iter();
    Ok(ReceivedTurn {
        contribution,
        current,
        model: request.model(),
        max_output: most.find_map(|name| request.fields.get(name)?.parse_as().ok()),
    })
}

/// The messages that only instruct, at the beginning.
pub(super) fn instructions(dialect: Dialect, list: &[RawJson]) -> &[RawJson] {
    let instructs = |raw: &RawJson| {
        let role = text_field(raw, "role");
        // Anthropic keeps its instructions in `system`; a system message among its messages is part of the talk.
        dialect != Dialect::Anthropic
            && role.is_some_and(|role| role == "system" || role == "developer")
    };
    let end = list.iter().position(|raw| !instructs(raw));
    list.get(..end.unwrap_or(list.len())).unwrap_or_default()
}

/// The blocks of a system prompt, which may be given as a bare text.
pub(super) fn system_blocks(field: Option<&RawJson>) -> Vec<RawJson> {
    let Some(field) = field else {
        return Vec::new();
    };
    match field.parse_as::<String>() {
        Ok(text) => Vec::from_iter(RawJson::from_value(&ContentBlock::text(text))),
        Err(_) => field.parse_as().unwrap_or_default(),
    }
}

fn holds_result(message: &Message) -> bool {
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult { .. });
    matches!(&message.content, Content::Blocks(blocks) if blocks.iter().any(is_result))
}

/// A message of a list. Content of an unknown shape becomes text with its JSON, so that it is counted.
fn message(raw: &RawJson) -> Result<Message, String> {
    if let Ok(message) = raw.parse_as::<Message>() {
        return Ok(message);
    }
    let role = text_field(raw, "role").ok_or("it has no `role`")?;
    Ok(Message::new(role_of(&role)?, raw.as_str()))
}

fn role_of(role: &str) -> Result<Role, String> {
    match role {
        "system" | "developer" => Ok(Role::System),
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "tool" | "function" => Ok(Role::Tool),
        other => Err(format!("unknown role `{other}`")),
    }
}

/// An item of a Responses request.
fn item(raw: &RawJson) -> Result<Message, String> {
    #[derive(Deserialize)]
    struct Item {
        r#type: Option<String>,
        role: Option<String>,
        content: Option<Value>,
        call_id: Option<String>,
        name: Option<String>,
        arguments: Option<RawJson>,
        output: Option<Value>,
    }
    let item: Item = raw.parse_as().map_err(|error| error.to_string())?;
    let kind = item.r#type.as_deref().unwrap_or("message");
    match (kind, item.role, item.call_id, item.name) {
        ("message", Some(role), ..) => {
            let content = content_of_item(item.content.unwrap_or_default());
            Ok(Message::new(role_of(&role)?, content))
        }
        ("function_call", _, Some(id), Some(name)) => {
            let arguments = item.arguments.unwrap_or_default();
            let call = ToolCall {
                id,
                name,
                arguments,
            };
            Ok(Message::assistant(Content::Null).with_tool_calls(vec![call]))
        }
        // `function_call_output`, `computer_call_output` and whatever kinds of calls come later.
        (kind, _, Some(id), _) if kind.ends_with("_output") => Ok(match item.output {
            Some(Value::String(text)) => Message::tool(id, text),
            Some(other) => Message::tool(id, other.to_string()),
            None => Message::tool(id, Content::Null),
        }),
        ("message", None, ..) => Err("it has neither a `type` nor a `role`".to_owned()),
        // Reasoning and other items that only the API itself reads are kept as they are.
        _ => {
            let block = ContentBlock::from_raw(raw.clone()).map_err(|error| error.to_string())?;
            Ok(Message::assistant(Content::Blocks(vec![block])))
        }
    }
}

fn content_of_item(content: Value) -> Content {
    match content {
        Value::Null => Content::Null,
        Value::String(text) => Content::Text(text),
        Value::Array(parts) => Content::Blocks(parts.iter().filter_map(part_of_item).collect()),
        other => Content::Text(other.to_string()),
    }
}

fn part_of_item(part: &Value) -> Option<ContentBlock> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    match part.get("text").and_then(Value::as_str) {
        Some(text) if kind.ends_with("_text") => Some(ContentBlock::text(text)),
        _ => ContentBlock::from_raw(RawJson::from_value(part).ok()?).ok(),
    }
}

/// A tool, as far as it is counted. A built-in tool of the provider has only a type.
fn tool(raw: &RawJson) -> ToolDefinition {
    #[derive(Deserialize)]
    struct Nested {
        function: ToolDefinition,
    }
    // Chat completions nest the definition in `function`; the other APIs do not.
    let nested = raw.parse_as().map(|Nested { function }| function);
    nested.or_else(|_| raw.parse_as()).unwrap_or_else(|_| {
        let name = text_field(raw, "type").unwrap_or_default();
        ToolDefinition::new(name, "", Value::Null)
    })
}
