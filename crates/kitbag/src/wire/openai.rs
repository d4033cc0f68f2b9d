//! A request to the OpenAI Chat Completions API, and to everything compatible with it.
//!
//! Blocks that belong to another provider's format are translated.

use kitbag_core::assembly::BlockBody;
use kitbag_core::band::Band;
use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use serde_json::{Value, json};

use super::items::{Items, Said, SaidContent};
use super::part::{ToolResult, arguments, document_text, image_url, input};
use super::{Laid, Request, joined};

pub(super) fn write(request: &mut Request, laid: Laid<'_>) {
    let mut tools: Vec<Value> = Vec::new();
    let mut items = Items::default();
    for (block, text) in joined(laid.blocks) {
        let text = |role| Said::new(role, SaidContent::Text(text));
        match &block.body {
            BlockBody::Tool(tool) => {
                let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema });
                tools.push(json!({ "type": "function", "function": function }));
            }
            BlockBody::Message(message) => add(&mut items, block.band, message),
            BlockBody::Text { role, .. } => items.say(block.band, text(*role)),
            _ => items.say(block.band, text(Role::System)),
        }
    }
    items.mark(laid.breakpoints, |text, _| part(&ContentBlock::text(text)));
    request.set("messages", &items);
    request.set_list("tools", &tools);
    // `max_tokens` is the older name, which reasoning models refuse.
    if let Some(most) = laid.draft.max_output {
        request.set("max_completion_tokens", &most);
    }
}

fn add(items: &mut Items, band: Band, message: &Message) {
    let mut parts: Vec<RawJson> = Vec::new();
    let calls = message.calls().iter();
    // Calls come as fields of the message or, from an Anthropic history, as blocks; both end in one list.
    let mut tool_calls: Vec<Value> = calls
        .map(|one| call(&one.id, &one.name, &arguments(one)))
        .collect();
    if let Content::Blocks(blocks) = &message.content {
        for block in blocks {
            match block {
                ContentBlock::ToolResult { tool_use_id, raw } => {
                    let ToolResult { text, others } = ToolResult::of(raw);
                    let mut result = Said::new(Role::Tool, SaidContent::Text(text));
                    result.tool_call_id = Some(tool_use_id.clone());
                    items.say(band, result);
                    // A tool message can only hold text, so the pictures of a result follow in a user message.
                    parts.extend(others.iter().filter_map(part));
                }
                ContentBlock::ToolUse { id, name, raw } => {
                    tool_calls.push(call(id, name, &input(raw)));
                }
                other => parts.extend(part(other)),
            }
        }
    }
    let content = match &message.content {
        Content::Text(text) => SaidContent::Text(text.clone()),
        // The answer to a call is never left out, and never null.
        _ if message.role == Role::Tool && parts.is_empty() => SaidContent::Text(String::new()),
        _ if parts.is_empty() && tool_calls.is_empty() => return,
        _ if parts.is_empty() => SaidContent::Nothing,
        _ => SaidContent::Parts(parts),
    };
    // A result that names no call would be refused, so it becomes a user message.
    let role = match message.role {
        Role::Tool if message.tool_call_id.is_none() => Role::User,
        role => role,
    };
    let mut said = Said::new(role, content);
    said.tool_calls = tool_calls;
    said.tool_call_id.clone_from(&message.tool_call_id);
    said.extra.clone_from(&message.extra);
    if let Some(name) = &message.name {
        said.extra.insert("name".into(), json!(name));
    }
    items.say(band, said);
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    let function = json!({ "name": name, "arguments": arguments });
    json!({ "id": id, "type": "function", "function": function })
}

/// A block as a part of a chat message.
fn part(block: &ContentBlock) -> Option<RawJson> {
    let value = match block {
        ContentBlock::Text { text, raw } => match raw {
            // Another provider's cache marker would be refused.
            Some(raw) if !has_marker(raw) => return Some(raw.clone()),
            _ => json!({ "type": "text", "text": text }),
        },
        ContentBlock::Image(raw) => {
            json!({ "type": "image_url", "image_url": { "url": image_url(raw)? } })
        }
        ContentBlock::Document(raw) => {
            // The ledger already reports a document that is not text.
            let text = document_text(raw).unwrap_or_else(|| "(document)".to_owned());
            json!({ "type": "text", "text": text })
        }
        other => return other.as_raw().cloned(),
    };
    RawJson::from_value(&value).ok()
}

fn has_marker(raw: &RawJson) -> bool {
    let block: Value = raw.parse_as().unwrap_or_default();
    block.get("cache_control").is_some()
}
