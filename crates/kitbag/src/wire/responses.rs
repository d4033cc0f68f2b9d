//! A request to the OpenAI Responses API: the base prompt as `instructions`, everything else as
//! items of `input`.
//!
//! Items that are no messages, such as reasoning, stand in messages as blocks of their own and are
//! passed on as they are.

use kitbag_core::assembly::{Block, BlockBody, Breakpoint, Draft};
use kitbag_core::band::Band;
use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use serde::Serialize;
use serde_json::{Value, json};

use super::openai::marked;
use super::part::{ToolResult, arguments, document_text, image_url, input};
use super::{Joined, Request, joined, text_field};

pub(super) fn write(
    request: &mut Request,
    draft: &Draft,
    blocks: &[Block],
    breakpoints: &[Breakpoint],
) {
    let mut tools: Vec<Value> = Vec::new();
    let mut items = Items::default();
    for Joined { block, text } in joined(blocks) {
        match &block.body {
            BlockBody::Tool(tool) => tools.push(
                json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema }),
            ),
            BlockBody::Message(message) => items.message(block.band, message),
            BlockBody::Text { .. } if block.band == Band::Identity => {
                request.set("instructions", &text);
            }
            BlockBody::Text { role, .. } => items.text(block.band, *role, text),
            _ => items.text(block.band, Role::System, text),
        }
    }
    items.mark(breakpoints);
    let input: Vec<Item> = items.0.into_iter().map(|(_, item)| item).collect();
    request.set("input", &input);
    if !tools.is_empty() {
        request.set("tools", &tools);
    }
    if let Some(most) = draft.max_output {
        request.set("max_output_tokens", &most);
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item {
    Message {
        r#type: &'static str,
        role: Role,
        content: SaidContent,
    },
    Raw(RawJson),
}

#[derive(Serialize)]
#[serde(untagged)]
enum SaidContent {
    Text(String),
    Parts(Vec<RawJson>),
}

/// The items with their bands.
#[derive(Default)]
struct Items(Vec<(Band, Item)>);

impl Items {
    fn text(&mut self, band: Band, role: Role, text: String) {
        self.said(band, role, SaidContent::Text(text));
    }

    fn said(&mut self, band: Band, role: Role, content: SaidContent) {
        let role = match role {
            Role::Tool => Role::User,
            role => role,
        };
        let item = Item::Message {
            r#type: "message",
            role,
            content,
        };
        self.0.push((band, item));
    }

    fn raw(&mut self, band: Band, value: &Value) {
        // A value always becomes JSON.
        if let Ok(raw) = RawJson::from_value(value) {
            self.0.push((band, Item::Raw(raw)));
        }
    }

    fn message(&mut self, band: Band, message: &Message) {
        if let (Role::Tool, Some(id)) = (message.role, &message.tool_call_id) {
            let output = message.content.text();
            return self.raw(
                band,
                &json!({ "type": "function_call_output", "call_id": id, "output": output }),
            );
        }
        match &message.content {
            Content::Null => {}
            Content::Text(text) if text.is_empty() => {}
            Content::Text(text) => self.text(band, message.role, text.clone()),
            Content::Blocks(blocks) => self.blocks(band, message.role, blocks),
        }
        for call in message.calls() {
            self.call(band, &call.id, &call.name, &arguments(call));
        }
    }

    /// The blocks of a message in order. Those that are items of their own part the message.
    fn blocks(&mut self, band: Band, role: Role, blocks: &[ContentBlock]) {
        let mut parts: Vec<RawJson> = Vec::new();
        for block in blocks {
            match block {
                ContentBlock::ToolResult { tool_use_id, raw } => {
                    let ToolResult { text, others } = ToolResult::of(raw);
                    let output = json!({ "type": "function_call_output", "call_id": tool_use_id, "output": text });
                    self.raw(band, &output);
                    // The pictures of a result follow as the user's.
                    parts.extend(others.iter().filter_map(|other| part(other, role)));
                }
                ContentBlock::ToolUse { id, name, raw } => {
                    self.flush(band, role, &mut parts);
                    self.call(band, id, name, &input(raw));
                }
                ContentBlock::Opaque(raw) if !is_part(raw) => {
                    self.flush(band, role, &mut parts);
                    self.0.push((band, Item::Raw(raw.clone())));
                }
                other => parts.extend(part(other, role)),
            }
        }
        self.flush(band, role, &mut parts);
    }

    fn flush(&mut self, band: Band, role: Role, parts: &mut Vec<RawJson>) {
        if !parts.is_empty() {
            self.said(band, role, SaidContent::Parts(std::mem::take(parts)));
        }
    }

    fn call(&mut self, band: Band, id: &str, name: &str, arguments: &str) {
        let call =
            json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments });
        self.raw(band, &call);
    }

    /// Marks the last message of each band that is to have a breakpoint.
    fn mark(&mut self, breakpoints: &[Breakpoint]) {
        for breakpoint in breakpoints {
            let mut of_band = self.0.iter_mut().rev();
            let last = of_band.find_map(|(band, item)| match item {
                Item::Message { role, content, .. } if *band == breakpoint.band => {
                    Some((*role, content))
                }
                _ => None,
            });
            let Some((role, content)) = last else {
                continue;
            };
            if let SaidContent::Text(text) = content {
                *content = SaidContent::Parts(text_part(text, role).into_iter().collect());
            }
            if let SaidContent::Parts(parts) = content
                && let Some(last) = parts.last_mut()
            {
                *last = marked(last);
            }
        }
    }
}

/// Whether a block that the core does not know is a part of a message, and no item of its own.
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
            // Documents have their data where pictures have them.
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
        Role::Assistant => "output_text",
        Role::System | Role::User | Role::Tool => "input_text",
    };
    RawJson::from_value(&json!({ "type": kind, "text": text })).ok()
}
