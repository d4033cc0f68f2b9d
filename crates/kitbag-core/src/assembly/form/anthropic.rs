//! A request to the Anthropic Messages API: system blocks, messages, tools, cache markers.
//!
//! Consecutive messages of one role are merged, as the API does itself. Messages and blocks that
//! came from a client are passed on as they are.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::turns::{MESSAGE_OVERHEAD, Turn, countable, joined, turns};
use super::{Laid, Placed};
use crate::assembly::breakpoint::Breakpoint;
use crate::assembly::draft::Draft;
use crate::assembly::segment::Segment;
use crate::assembly::settings::ModelTraits;
use crate::band::Band;
use crate::content::{Content, ContentBlock, RawJson};
use crate::envelope::ToolDefinition;
use crate::inject::reminder;
use crate::message::Message;
use crate::role::Role;

/// The API requires a limit for the answer; this one is sent when the draft names none.
const DEFAULT_MAX_TOKENS: u32 = 4_096;

pub(super) fn lay_out(
    draft: &Draft,
    chunks: &Placed<'_>,
    traits: &ModelTraits,
    breakpoints: &[Breakpoint],
) -> Laid {
    let mut system: Vec<Block> = Vec::new();
    for (band, text) in super::pack::instructions_before(draft) {
        system.push(Block::text(band, text));
    }
    let session = joined(chunks.session());
    if !session.is_empty() || chunks.reserved().session {
        system.push(Block::text(Band::Session, &session));
    }
    for message in draft.injected(Band::Session) {
        system.push(Block::text(Band::Session, &message.content));
    }

    let mut messages = Messages::default();
    for turn in turns(draft, chunks) {
        match turn {
            Turn::Message(band, message) => messages.push_message(band, message),
            Turn::Injected(band, role, text) => messages.push_injected(band, role, text),
            Turn::Chunks(band, text) => messages.push(Role::User, Block::text(band, &text)),
        }
    }
    for message in draft.injected(Band::SuffixSystem) {
        if traits.mid_conversation_system {
            messages.push(
                Role::System,
                Block::text(Band::SuffixSystem, &message.content),
            );
        } else {
            messages.push_reminder(Band::SuffixSystem, &message.content);
        }
    }

    let mut segments = Vec::new();
    let tools: Vec<&ToolDefinition> = draft.sorted_tools();
    for tool in &tools {
        let json = serde_json::to_string(tool).unwrap_or_default();
        segments.push(segment(Band::Tools, None, json, 0));
    }
    segments.extend(system.iter().map(|block| block.segment(None, 0)));
    for message in &messages.0 {
        let overheads = core::iter::once(MESSAGE_OVERHEAD).chain(core::iter::repeat(0));
        for (block, overhead) in message.blocks.iter().zip(overheads) {
            segments.push(block.segment(Some(message.role), overhead));
        }
    }

    let marked = |band: Band| breakpoints.iter().any(|breakpoint| breakpoint.band == band);
    mark_last_of_each_band(system.iter_mut(), marked);
    mark_last_of_each_band(
        messages
            .0
            .iter_mut()
            .flat_map(|message| message.blocks.iter_mut()),
        marked,
    );
    let request = Request {
        model: draft.model.as_deref(),
        max_tokens: draft.max_output.unwrap_or(DEFAULT_MAX_TOKENS),
        system,
        tools: marked_tools(&tools, marked(Band::Tools)),
        messages: messages.0,
    };
    Laid {
        segments,
        body: serde_json::to_string(&request).unwrap_or_default(),
        problems: Vec::new(),
    }
}

#[derive(Serialize)]
struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    messages: Vec<OutMessage>,
}

#[derive(Serialize)]
struct OutMessage {
    role: Role,
    #[serde(rename = "content")]
    blocks: Vec<Block>,
}

/// A block of the request, and the band it stands in.
struct Block {
    band: Band,
    body: BlockBody,
    marked: bool,
}

enum BlockBody {
    Text(String),
    Raw(RawJson),
}

impl Block {
    fn text(band: Band, text: &str) -> Self {
        Self {
            band,
            body: BlockBody::Text(text.into()),
            marked: false,
        }
    }

    fn raw(band: Band, raw: RawJson) -> Self {
        Self {
            band,
            body: BlockBody::Raw(raw),
            marked: false,
        }
    }

    fn segment(&self, role: Option<Role>, overhead: u32) -> Segment {
        let (text, attached) = match &self.body {
            BlockBody::Text(text) => (text.clone(), 0),
            BlockBody::Raw(raw) => countable(raw),
        };
        segment(self.band, role, text, overhead.saturating_add(attached))
    }

    /// Whether a cache marker may stand on it: reasoning must stay as it was signed.
    fn can_be_marked(&self) -> bool {
        match &self.body {
            BlockBody::Text(text) => !text.is_empty(),
            BlockBody::Raw(raw) => !super::spoken::field(raw, "type").contains("thinking"),
        }
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.body, self.marked) {
            (BlockBody::Text(text), marked) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                if marked {
                    map.serialize_entry("cache_control", &ephemeral())?;
                }
                map.end()
            }
            (BlockBody::Raw(raw), false) => raw.serialize(serializer),
            (BlockBody::Raw(raw), true) => with_marker(raw).serialize(serializer),
        }
    }
}

/// The block with a cache marker at its end, every other byte as it was.
fn with_marker(raw: &RawJson) -> RawJson {
    let fields = raw
        .as_str()
        .trim_end()
        .strip_suffix('}')
        .unwrap_or_default();
    let marked = alloc::format!(r#"{fields},"cache_control":{}}}"#, ephemeral());
    RawJson::from_text(marked).unwrap_or_else(|_| raw.clone())
}

fn ephemeral() -> Value {
    json!({ "type": "ephemeral" })
}

fn segment(band: Band, role: Option<Role>, text: String, overhead: u32) -> Segment {
    Segment {
        band,
        role,
        text,
        overhead,
    }
}

fn marked_tools(tools: &[&ToolDefinition], marked: bool) -> Vec<Value> {
    let mut values: Vec<Value> = tools
        .iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema }))
        .collect();
    if let (true, Some(Value::Object(last))) = (marked, values.last_mut()) {
        last.insert("cache_control".into(), ephemeral());
    }
    values
}

/// Puts a cache marker on the last block of each band that is to have one.
fn mark_last_of_each_band<'a>(
    blocks: impl DoubleEndedIterator<Item = &'a mut Block>,
    marked: impl Fn(Band) -> bool,
) {
    let mut done: Vec<Band> = Vec::new();
    for block in blocks.rev() {
        if marked(block.band) && block.can_be_marked() && !done.contains(&block.band) {
            block.marked = true;
            done.push(block.band);
        }
    }
}

/// The messages, consecutive ones of one role merged.
#[derive(Default)]
struct Messages(Vec<OutMessage>);

impl Messages {
    fn push(&mut self, role: Role, block: Block) {
        match self.0.last_mut() {
            Some(last) if last.role == role => last.blocks.push(block),
            _ => self.0.push(OutMessage {
                role,
                blocks: alloc::vec![block],
            }),
        }
    }

    /// A text that was injected. As a system message it can only stand at the very end, so that
    /// elsewhere it becomes a reminder.
    fn push_injected(&mut self, band: Band, role: Role, text: &str) {
        match role {
            Role::System => self.push_reminder(band, text),
            Role::Assistant => self.push(role, Block::text(band, text)),
            Role::User | Role::Tool => self.push(Role::User, Block::text(band, text)),
        }
    }

    /// The operator's words among the user's, unless they are wrapped already.
    fn push_reminder(&mut self, band: Band, text: &str) {
        let is_wrapped =
            text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>");
        let text = if is_wrapped {
            text.into()
        } else {
            reminder(text)
        };
        self.push(Role::User, Block::text(band, &text));
    }

    fn push_message(&mut self, band: Band, message: &Message) {
        let role = match message.role {
            Role::Assistant => Role::Assistant,
            Role::User | Role::Tool => Role::User,
            Role::System => {
                self.push_reminder(band, &message.content.text());
                return;
            }
        };
        if let (Role::Tool, Some(id)) = (message.role, &message.tool_call_id) {
            let content = match &message.content {
                Content::Null => json!(""),
                content => json!(content),
            };
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            self.push_value(role, band, &result);
            return;
        }
        for block in message.content.to_blocks() {
            match block {
                // The API refuses empty text.
                ContentBlock::Text { text, raw: None } if text.trim().is_empty() => {}
                ContentBlock::Text { text, raw: None } => self.push(role, Block::text(band, &text)),
                other => match other.as_raw().and_then(image_from_openai) {
                    Some(image) => self.push_value(role, band, &image),
                    None => {
                        if let Some(raw) = other.as_raw() {
                            self.push(role, Block::raw(band, raw.clone()));
                        }
                    }
                },
            }
        }
        for call in message.calls() {
            let input: Value = call.arguments.parse_as().unwrap_or_default();
            let input = if input.is_null() { json!({}) } else { input };
            // Some clients keep the arguments as a string of JSON.
            let input = match input {
                Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
                other => other,
            };
            let call =
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input });
            self.push_value(role, band, &call);
        }
    }

    fn push_value(&mut self, role: Role, band: Band, value: &Value) {
        // A value always becomes JSON.
        if let Ok(raw) = RawJson::from_value(value) {
            self.push(role, Block::raw(band, raw));
        }
    }
}

/// An `image_url` part of a chat completion as an image block.
fn image_from_openai(raw: &RawJson) -> Option<Value> {
    if super::spoken::field(raw, "type") != "image_url" {
        return None;
    }
    let part: Value = raw.parse_as().ok()?;
    let url = part.get("image_url")?.get("url")?.as_str()?.to_string();
    let source = match url
        .strip_prefix("data:")
        .and_then(|data| data.split_once(";base64,"))
    {
        Some((media_type, data)) => {
            json!({ "type": "base64", "media_type": media_type, "data": data })
        }
        None => json!({ "type": "url", "url": url }),
    };
    Some(json!({ "type": "image", "source": source }))
}
