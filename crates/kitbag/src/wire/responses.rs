//! A request to the OpenAI Responses API: the base prompt as `instructions`, everything else as
//! items of `input`.
//!
//! Items that are no messages, such as reasoning, stand in messages as blocks of their own and are
//! passed on as they are.

use kitbag_core::assembly::BlockBody;
use kitbag_core::band::Band;
use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::message::{Message, MessagePiece};
use kitbag_core::role::Role;
use serde_json::{Value, json};

use super::items::{Items, Said, SaidContent};
use super::part::{ToolResult, arguments, document_text, image_url, input, spoken_as};
use super::{Laid, Request, joined, text_field};

pub(super) fn write(request: &mut Request, laid: Laid<'_>) {
    let mut tools: Vec<Value> = Vec::new();
    let mut items = Items::default();
    for (block, text) in joined(laid.blocks) {
        let text = SaidContent::Text(text);
        match &block.body {
            BlockBody::Tool(tool) => tools.push(
                json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema }),
            ),
            BlockBody::Message(message) => add(&mut items, block.band, message),
            BlockBody::Text { .. } if block.band == Band::Identity => {
                request.set("instructions", &text);
            }
            BlockBody::Text { role, .. } => say(&mut items, block.band, *role, text),
            _ => say(&mut items, block.band, Role::System, text),
        }
    }
    items.mark(laid.breakpoints, text_part);
    request.set("input", &items);
    request.set_list("tools", &tools);
    if let Some(most) = laid.draft.max_output {
        request.set("max_output_tokens", &most);
    }
}

fn say(items: &mut Items, band: Band, role: Role, content: SaidContent) {
    let mut said = Said::new(spoken_as(role), content);
    said.r#type = Some("message");
    items.say(band, said);
}

fn add(items: &mut Items, band: Band, message: &Message) {
    if let (Role::Tool, Some(id)) = (message.role, &message.tool_call_id) {
        // Results are items that stand by themselves, without a role.
        return items.push(band, &output(id, &message.content.text()));
    }
    match &message.content {
        Content::Null => {}
        Content::Text(text) if text.is_empty() => {}
        Content::Text(text) => {
            say(items, band, message.role, SaidContent::Text(text.clone()));
        }
        Content::Blocks(_) => return add_pieces(items, band, message),
    }
    for one in message.calls() {
        items.push(band, &call(&one.id, &one.name, &arguments(one)));
    }
}

/// Adds the blocks and the calls of a message in order: the API refuses reasoning that does not stand before the
/// item that it led to. What is an item of its own ends the message before it.
fn add_pieces(items: &mut Items, band: Band, message: &Message) {
    let role = message.role;
    let mut parts: Vec<RawJson> = Vec::new();
    let flush = |items: &mut Items, parts: &mut Vec<RawJson>| {
        if !parts.is_empty() {
            let parts = SaidContent::Parts(std::mem::take(parts));
            say(items, band, role, parts);
        }
    };
    for piece in message.pieces() {
        let block = match piece {
            MessagePiece::Block(block) => block,
            MessagePiece::Call(one) => {
                flush(items, &mut parts);
                items.push(band, &call(&one.id, &one.name, &arguments(one)));
                continue;
            }
        };
        match &block {
            ContentBlock::ToolResult { tool_use_id, raw } => {
                let ToolResult { text, others } = ToolResult::of(raw);
                items.push(band, &output(tool_use_id, &text));
                // The output of a call is text here; the pictures of a result follow in a message.
                parts.extend(others.iter().filter_map(|other| part(other, role)));
            }
            ContentBlock::ToolUse { id, name, raw } => {
                // The order matters to the API: text before a call stays before it.
                flush(items, &mut parts);
                items.push(band, &call(id, name, &input(raw)));
            }
            ContentBlock::Opaque(raw) if !is_part(raw) => {
                flush(items, &mut parts);
                items.push(band, raw);
            }
            other => parts.extend(part(other, role)),
        }
    }
    flush(items, &mut parts);
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments })
}

fn output(id: &str, output: &str) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": output })
}

/// Tells parts of a message from items, among blocks that the core does not know.
fn is_part(raw: &RawJson) -> bool {
    let kind = text_field(raw, "type").unwrap_or_default();
    kind.starts_with("input_") || kind.starts_with("output_") || kind == "refusal"
}

/// A block as a part of a message.
fn part(block: &ContentBlock, role: Role) -> Option<RawJson> {
    let value = match block {
        ContentBlock::Text { text, .. } => return text_part(text, role),
        ContentBlock::Image(raw) => {
            json!({ "type": "input_image", "image_url": image_url(raw)? })
        }
        ContentBlock::Document(raw) => match document_text(raw) {
            Some(text) => return text_part(&text, role),
            // Documents keep their data in the same `source` field as pictures.
            None => {
                let name = text_field(raw, "title").unwrap_or_else(|| "document".to_owned());
                json!({ "type": "input_file", "filename": name, "file_data": image_url(raw)? })
            }
        },
        other => return other.as_raw().cloned(),
    };
    RawJson::from_value(&value).ok()
}

fn text_part(text: &str, role: Role) -> Option<RawJson> {
    let kind = match role {
        // The API names a part by its direction and refuses the other kind.
        Role::Assistant => "output_text",
        Role::System | Role::User | Role::Tool => "input_text",
    };
    RawJson::from_value(&json!({ "type": kind, "text": text })).ok()
}
