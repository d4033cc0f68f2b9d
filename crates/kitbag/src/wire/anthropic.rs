//! A request to the Anthropic Messages API: system blocks, messages, tools, cache markers.
//!
//! Consecutive messages of one role are merged, as the API does itself. Messages and blocks that
//! came from a client are passed on as they are.

use kitbag_core::assembly::{Block, BlockBody, Breakpoint, Draft};
use kitbag_core::band::Band;
use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Joined, Request, joined, text_field};

/// The API requires a limit for the answer; this one is sent when the draft names none.
const DEFAULT_MAX_TOKENS: u32 = 4_096;

pub(super) fn write(
    request: &mut Request,
    draft: &Draft,
    blocks: &[Block],
    breakpoints: &[Breakpoint],
) {
    let mut tools: Vec<Value> = Vec::new();
    let mut system: Vec<Part> = Vec::new();
    let mut messages = Messages::default();
    for Joined { block, text } in joined(blocks) {
        let part = || Part::text(block.band, &text);
        match &block.body {
            BlockBody::Tool(tool) => tools.push(
                json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema }),
            ),
            BlockBody::Message(message) => messages.push_message(block.band, message),
            _ if block.is_instruction() => system.push(part()),
            BlockBody::Text { role, .. } => messages.push(spoken_as(*role), part()),
            _ => messages.push(Role::User, part()),
        }
    }
    let marked = |band: Band| breakpoints.iter().any(|breakpoint| breakpoint.band == band);
    let said = messages.0.iter_mut().flat_map(|message| &mut message.parts);
    mark_last_of_each_band(system.iter_mut().chain(said), marked);
    if let (true, Some(Value::Object(last))) = (marked(Band::Tools), tools.last_mut()) {
        last.insert("cache_control".into(), ephemeral());
    }

    request.set(
        "max_tokens",
        &draft.max_output.unwrap_or(DEFAULT_MAX_TOKENS),
    );
    if !system.is_empty() {
        request.set("system", &system);
    }
    if !tools.is_empty() {
        request.set("tools", &tools);
    }
    request.set("messages", &messages.0);
}

/// The role of a text that is in no message. As the operator's it can only stand at the very end,
/// where the core has put it.
const fn spoken_as(role: Role) -> Role {
    match role {
        Role::Tool => Role::User,
        role => role,
    }
}

#[derive(Serialize)]
struct Said {
    role: Role,
    #[serde(rename = "content")]
    parts: Vec<Part>,
}

/// A block of the request, and the band it stands in.
struct Part {
    band: Band,
    body: PartBody,
    marked: bool,
}

enum PartBody {
    Text(String),
    Raw(RawJson),
}

impl Part {
    fn text(band: Band, text: &str) -> Self {
        Self {
            band,
            body: PartBody::Text(text.to_owned()),
            marked: false,
        }
    }

    /// Whether a cache marker may stand on it: reasoning must stay as it was signed.
    fn can_be_marked(&self) -> bool {
        match &self.body {
            PartBody::Text(text) => !text.is_empty(),
            PartBody::Raw(raw) => {
                !text_field(raw, "type").is_some_and(|kind| kind.contains("thinking"))
            }
        }
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.body, self.marked) {
            (PartBody::Text(text), marked) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                if marked {
                    map.serialize_entry("cache_control", &ephemeral())?;
                }
                map.end()
            }
            (PartBody::Raw(raw), false) => raw.serialize(serializer),
            (PartBody::Raw(raw), true) => with_marker(raw).serialize(serializer),
        }
    }
}

/// The block with a cache marker at its end, every other byte as it was.
fn with_marker(raw: &RawJson) -> RawJson {
    let fields = raw.as_str().trim_end().strip_suffix('}');
    let marked = format!(
        r#"{},"cache_control":{}}}"#,
        fields.unwrap_or_default(),
        ephemeral()
    );
    RawJson::from_text(marked).unwrap_or_else(|_| raw.clone())
}

fn ephemeral() -> Value {
    json!({ "type": "ephemeral" })
}

/// Puts a cache marker on the last block of each band that is to have one.
fn mark_last_of_each_band<'a>(
    parts: impl DoubleEndedIterator<Item = &'a mut Part>,
    marked: impl Fn(Band) -> bool,
) {
    let mut done: Vec<Band> = Vec::new();
    for part in parts.rev() {
        if marked(part.band) && part.can_be_marked() && !done.contains(&part.band) {
            part.marked = true;
            done.push(part.band);
        }
    }
}

/// The messages, consecutive ones of one role merged.
#[derive(Default)]
struct Messages(Vec<Said>);

impl Messages {
    fn push(&mut self, role: Role, part: Part) {
        match self.0.last_mut() {
            Some(last) if last.role == role => last.parts.push(part),
            _ => self.0.push(Said {
                role,
                parts: vec![part],
            }),
        }
    }

    fn push_raw(&mut self, role: Role, band: Band, raw: RawJson) {
        let part = Part {
            band,
            body: PartBody::Raw(raw),
            marked: false,
        };
        self.push(role, part);
    }

    fn push_value(&mut self, role: Role, band: Band, value: &Value) {
        // A value always becomes JSON.
        if let Ok(raw) = RawJson::from_value(value) {
            self.push_raw(role, band, raw);
        }
    }

    fn push_message(&mut self, band: Band, message: &Message) {
        let role = spoken_as(message.role);
        if let (Role::Tool, Some(id)) = (message.role, &message.tool_call_id) {
            let content = match &message.content {
                Content::Null => json!(""),
                content => json!(content),
            };
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            return self.push_value(role, band, &result);
        }
        for block in message.content.to_blocks() {
            match block {
                // The API refuses empty text.
                ContentBlock::Text { text, raw: None } if text.trim().is_empty() => {}
                ContentBlock::Text { text, raw: None } => self.push(role, Part::text(band, &text)),
                other => match other.as_raw().map(|raw| (raw, image_from_openai(raw))) {
                    Some((_, Some(image))) => self.push_value(role, band, &image),
                    Some((raw, None)) => self.push_raw(role, band, raw.clone()),
                    None => {}
                },
            }
        }
        for call in message.calls() {
            let input = match call.arguments.parse_as().unwrap_or_default() {
                Value::Null => json!({}),
                // Some clients keep the arguments as a string of JSON.
                Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
                other => other,
            };
            let call =
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input });
            self.push_value(role, band, &call);
        }
    }
}

/// An `image_url` part of a chat completion as an image block.
fn image_from_openai(raw: &RawJson) -> Option<Value> {
    let part: Value = raw.parse_as().ok()?;
    if part.get("type")? != "image_url" {
        return None;
    }
    let url = part.get("image_url")?.get("url")?.as_str()?;
    let encoded = url
        .strip_prefix("data:")
        .and_then(|data| data.split_once(";base64,"));
    let source = match encoded {
        Some((media_type, data)) => {
            json!({ "type": "base64", "media_type": media_type, "data": data })
        }
        None => json!({ "type": "url", "url": url }),
    };
    Some(json!({ "type": "image", "source": source }))
}
