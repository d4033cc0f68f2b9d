//! A request to the OpenAI Chat Completions API, and to everything compatible with it.
//!
//! Blocks that belong to another provider's format are translated.

use kitbag_core::assembly::{Block, BlockBody, Breakpoint, Draft};
use kitbag_core::band::Band;
use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::part::{ToolResult, arguments, document_text, image_url, input};
use super::{Joined, Request, joined};

pub(super) fn write(
    request: &mut Request,
    draft: &Draft,
    blocks: &[Block],
    breakpoints: &[Breakpoint],
) {
    let mut tools: Vec<Value> = Vec::new();
    let mut messages = Messages::default();
    for Joined { block, text } in joined(blocks) {
        match &block.body {
            BlockBody::Tool(tool) => {
                let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema });
                tools.push(json!({ "type": "function", "function": function }));
            }
            BlockBody::Message(message) => messages.message(block.band, message),
            BlockBody::Text { role, .. } => messages.text(block.band, *role, text),
            _ => messages.text(block.band, Role::System, text),
        }
    }
    messages.mark(breakpoints);
    let messages: Vec<Said> = messages.0.into_iter().map(|(_, said)| said).collect();
    request.set("messages", &messages);
    if !tools.is_empty() {
        request.set("tools", &tools);
    }
    if let Some(most) = draft.max_output {
        request.set("max_completion_tokens", &most);
    }
}

#[derive(Serialize)]
struct Said {
    role: Role,
    content: SaidContent,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    /// The speaker's name, and fields that are not known here.
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl Said {
    fn new(role: Role, content: SaidContent) -> Self {
        Self {
            role,
            content,
            tool_calls: Vec::new(),
            tool_call_id: None,
            extra: Map::new(),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum SaidContent {
    Text(String),
    Parts(Vec<RawJson>),
    Nothing,
}

/// The messages with their bands.
#[derive(Default)]
struct Messages(Vec<(Band, Said)>);

impl Messages {
    fn text(&mut self, band: Band, role: Role, text: String) {
        self.0
            .push((band, Said::new(role, SaidContent::Text(text))));
    }

    fn message(&mut self, band: Band, message: &Message) {
        let mut parts: Vec<RawJson> = Vec::new();
        let mut tool_calls: Vec<Value> = message
            .calls()
            .iter()
            .map(|one| call(&one.id, &one.name, &arguments(one)))
            .collect();
        if let Content::Blocks(blocks) = &message.content {
            for block in blocks {
                match block {
                    ContentBlock::ToolResult { tool_use_id, raw } => {
                        let ToolResult { text, others } = ToolResult::of(raw);
                        let mut result = Said::new(Role::Tool, SaidContent::Text(text));
                        result.tool_call_id = Some(tool_use_id.clone());
                        self.0.push((band, result));
                        // A tool message holds text only: its pictures follow as the user's.
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
            Content::Null => SaidContent::Nothing,
            Content::Blocks(_) => SaidContent::Parts(parts),
        };
        let mut extra = message.extra.clone();
        if let Some(name) = &message.name {
            extra.insert("name".into(), json!(name));
        }
        // A result that names no call would be refused: it is told as the user's words.
        let role = match message.role {
            Role::Tool if message.tool_call_id.is_none() => Role::User,
            role => role,
        };
        let said = Said {
            role,
            content,
            tool_calls,
            tool_call_id: message.tool_call_id.clone(),
            extra,
        };
        self.0.push((band, said));
    }

    /// Marks the last message of each band that is to have a breakpoint.
    fn mark(&mut self, breakpoints: &[Breakpoint]) {
        for breakpoint in breakpoints {
            let last = self
                .0
                .iter_mut()
                .rfind(|(band, said)| *band == breakpoint.band && !said.content.is_empty());
            if let Some((_, said)) = last {
                said.content.mark();
            }
        }
    }
}

impl SaidContent {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Parts(parts) => parts.is_empty(),
            Self::Nothing => true,
        }
    }

    fn mark(&mut self) {
        if let Self::Text(text) = self {
            let part = json!({ "type": "text", "text": text });
            *self = Self::Parts(RawJson::from_value(&part).into_iter().collect());
        }
        if let Self::Parts(parts) = self
            && let Some(last) = parts.last_mut()
        {
            *last = marked(last);
        }
    }
}

/// The part with a cache marker.
pub(super) fn marked(part: &RawJson) -> RawJson {
    let fields = part.parse_as::<Map<String, Value>>();
    let marked = fields.and_then(|mut fields| {
        let marker = json!({ "mode": "explicit" });
        fields.insert("prompt_cache_breakpoint".into(), marker);
        RawJson::from_value(&fields)
    });
    marked.unwrap_or_else(|_| part.clone())
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
            // The ledger has told of one that is not text.
            let text = document_text(raw).unwrap_or_else(|| "(document)".to_owned());
            json!({ "type": "text", "text": text })
        }
        other => return other.as_raw().cloned(),
    };
    RawJson::from_value(&value).ok()
}

fn has_marker(raw: &RawJson) -> bool {
    let fields = raw.parse_as::<Map<String, Value>>();
    fields.is_ok_and(|fields| fields.contains_key("cache_control"))
}
