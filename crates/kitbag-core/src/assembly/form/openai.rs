//! A request to the OpenAI Chat Completions API, and to everything compatible with it.
//!
//! Blocks that belong to another provider's format are translated; reasoning, which only its own
//! provider can read, is left out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::spoken::{field, result_content, result_text};
use super::turns::{MESSAGE_OVERHEAD, Turn, countable, joined, turns};
use super::{Laid, Placed};
use crate::assembly::breakpoint::Breakpoint;
use crate::assembly::draft::Draft;
use crate::assembly::segment::Segment;
use crate::band::Band;
use crate::content::{Content, ContentBlock, RawJson};
use crate::message::{Message, ToolCall};
use crate::problem::{Problem, ProblemKind};
use crate::role::Role;

/// Tokens that begin every answer.
const REPLY_OVERHEAD: u32 = 3;

pub(super) fn lay_out(draft: &Draft, chunks: &Placed<'_>, breakpoints: &[Breakpoint]) -> Laid {
    let mut out = Messages::default();
    let tools: Vec<Value> = draft
        .sorted_tools()
        .into_iter()
        .map(|tool| {
            let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema });
            json!({ "type": "function", "function": function })
        })
        .collect();
    for tool in &tools {
        out.segments.push(Segment {
            band: Band::Tools,
            role: None,
            text: tool.to_string(),
            overhead: 0,
        });
    }
    for (band, text) in super::pack::instructions_before(draft) {
        out.text(band, Role::System, text);
    }
    let session = joined(chunks.session());
    if !session.is_empty() || chunks.reserved().session {
        out.text(Band::Session, Role::System, &session);
    }
    for message in draft.injected(Band::Session) {
        out.text(Band::Session, message.role, &message.content);
    }
    for turn in turns(draft, chunks) {
        match turn {
            Turn::Message(band, message) => out.message(band, message),
            Turn::Injected(band, role, text) => out.text(band, role, text),
            Turn::Chunks(band, text) => out.text(band, Role::System, &text),
        }
    }
    for message in draft.injected(Band::SuffixSystem) {
        out.text(Band::SuffixSystem, Role::System, &message.content);
    }
    if let Some(last) = out.segments.last_mut() {
        last.overhead = last.overhead.saturating_add(REPLY_OVERHEAD);
    }
    out.mark(breakpoints);
    let request = Request {
        model: draft.model.as_deref(),
        messages: out
            .messages
            .into_iter()
            .map(|(_, message)| message)
            .collect(),
        tools,
        max_completion_tokens: draft.max_output,
    };
    Laid {
        segments: out.segments,
        problems: out.problems,
        body: serde_json::to_string(&request).unwrap_or_default(),
    }
}

#[derive(Serialize)]
struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    messages: Vec<OutMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
}

#[derive(Serialize)]
struct OutMessage {
    role: Role,
    content: OutContent,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    /// Fields that are not known here, such as `name`.
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl OutMessage {
    fn new(role: Role, content: OutContent) -> Self {
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
enum OutContent {
    Text(String),
    Parts(Vec<RawJson>),
    Nothing,
}

/// The messages with their bands, and what is counted of them.
#[derive(Default)]
struct Messages {
    messages: Vec<(Band, OutMessage)>,
    segments: Vec<Segment>,
    problems: Vec<Problem>,
}

impl Messages {
    fn text(&mut self, band: Band, role: Role, text: &str) {
        self.push(band, OutMessage::new(role, OutContent::Text(text.into())));
    }

    fn message(&mut self, band: Band, message: &Message) {
        let mut parts: Vec<RawJson> = Vec::new();
        let mut tool_calls: Vec<Value> = message.calls().iter().map(call_json).collect();
        if let Content::Blocks(blocks) = &message.content {
            for block in blocks {
                match block {
                    ContentBlock::ToolResult { tool_use_id, raw } => {
                        let text = OutContent::Text(result_text(raw));
                        let mut result = OutMessage::new(Role::Tool, text);
                        result.tool_call_id = Some(tool_use_id.clone());
                        self.push(band, result);
                        // A tool message holds text only: its pictures follow as the user's.
                        let blocks = result_content(raw).to_blocks();
                        let pictures = blocks.iter().filter(|block| block.as_text().is_none());
                        parts.extend(pictures.filter_map(|block| part(block, &mut self.problems)));
                    }
                    ContentBlock::ToolUse { id, name, raw } => {
                        let arguments = match field(raw, "input") {
                            none if none.is_empty() => "{}".into(),
                            input => input,
                        };
                        let function = json!({ "name": name, "arguments": arguments });
                        tool_calls
                            .push(json!({ "id": id, "type": "function", "function": function }));
                    }
                    ContentBlock::Thinking(_) => {}
                    other => parts.extend(part(other, &mut self.problems)),
                }
            }
        }
        let content = match &message.content {
            Content::Text(text) => OutContent::Text(text.clone()),
            // The answer to a call is never left out, and never null.
            _ if message.role == Role::Tool && parts.is_empty() => OutContent::Text(String::new()),
            _ if parts.is_empty() && tool_calls.is_empty() => return,
            _ if parts.is_empty() => OutContent::Nothing,
            Content::Null => OutContent::Nothing,
            Content::Blocks(_) => OutContent::Parts(parts),
        };
        let message = OutMessage {
            role: message.role,
            content,
            tool_calls,
            tool_call_id: message.tool_call_id.clone(),
            extra: message.extra.clone(),
        };
        self.push(band, message);
    }

    fn push(&mut self, band: Band, message: OutMessage) {
        let (mut text, attached) = message.content.countable();
        for call in &message.tool_calls {
            text.push_str(&call.to_string());
        }
        self.segments.push(Segment {
            band,
            role: Some(message.role),
            text,
            overhead: MESSAGE_OVERHEAD.saturating_add(attached),
        });
        self.messages.push((band, message));
    }

    /// Marks the last message of each band that is to have a breakpoint.
    fn mark(&mut self, breakpoints: &[Breakpoint]) {
        for breakpoint in breakpoints {
            let last = self
                .messages
                .iter_mut()
                .rfind(|(band, message)| *band == breakpoint.band && !message.content.is_empty());
            if let Some((_, message)) = last {
                message.content.mark();
            }
        }
    }
}

impl OutContent {
    /// What is counted of it, and an estimate for what cannot be.
    fn countable(&self) -> (String, u32) {
        match self {
            Self::Text(text) => (text.clone(), 0),
            Self::Nothing => (String::new(), 0),
            Self::Parts(parts) => parts.iter().map(countable).fold(
                (String::new(), 0),
                |(text, attached): (String, u32), (part, more)| {
                    (format!("{text}{part}\n"), attached.saturating_add(more))
                },
            ),
        }
    }

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
            && let Ok(Value::Object(mut fields)) = last.parse_as()
        {
            let marker = json!({ "mode": "explicit" });
            fields.insert("prompt_cache_breakpoint".into(), marker);
            if let Ok(marked) = RawJson::from_value(&fields) {
                *last = marked;
            }
        }
    }
}

fn call_json(call: &ToolCall) -> Value {
    // The API wants the arguments as a string of JSON, which some clients already keep.
    let arguments = match call.arguments.parse_as::<Value>() {
        Ok(Value::String(text)) => text,
        Ok(Value::Null) => "{}".into(),
        _ => call.arguments.as_str().into(),
    };
    let function = json!({ "name": call.name, "arguments": arguments });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// A block as a part of a chat message.
fn part(block: &ContentBlock, problems: &mut Vec<Problem>) -> Option<RawJson> {
    let value = match block {
        ContentBlock::Text { text, raw } => match raw {
            // Another provider's cache marker would be refused.
            Some(raw) if field(raw, "cache_control").is_empty() => return Some(raw.clone()),
            _ => json!({ "type": "text", "text": text }),
        },
        ContentBlock::Image(raw) => {
            json!({ "type": "image_url", "image_url": { "url": image_url(raw)? } })
        }
        ContentBlock::Document(raw) => match document_text(raw) {
            Some(text) => json!({ "type": "text", "text": text }),
            None => {
                let message = "a document that is not text cannot be sent in this form";
                problems.push(Problem::new("", ProblemKind::NotCarried, message));
                json!({ "type": "text", "text": "(document)" })
            }
        },
        other => return other.as_raw().cloned(),
    };
    RawJson::from_value(&value).ok()
}

/// The text of a document whose source is plain text.
fn document_text(raw: &RawJson) -> Option<String> {
    let block: Value = raw.parse_as().ok()?;
    let source = block.get("source")?;
    let is_text = source.get("type").is_some_and(|kind| kind == "text");
    let data = source.get("data").and_then(Value::as_str);
    data.filter(|_| is_text).map(String::from)
}

fn image_url(raw: &RawJson) -> Option<String> {
    let block: Value = raw.parse_as().ok()?;
    let source = block.get("source")?;
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    match text("url") {
        Some(url) => Some(url.into()),
        None => Some(format!(
            "data:{};base64,{}",
            text("media_type")?,
            text("data")?
        )),
    }
}
