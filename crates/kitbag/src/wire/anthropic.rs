//! A request to the Anthropic Messages API: system blocks, messages, tools, cache markers.
//!
//! Consecutive messages of one role are merged, as the API does itself. Messages and blocks that
//! came from a client are passed on as they are.

use kitbag_core::assembly::BlockBody;
use kitbag_core::band::Band;
use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::message::{Message, MessagePiece, ToolCall};
use kitbag_core::role::Role;
use serde::Serialize;
use serde_json::{Value, json};

use super::part::spoken_as;
use super::{Laid, Request, joined, text_field};

/// The API requires a limit for the answer. Drafts name one; those of older archives do not, and were sent with this.
const DEFAULT_MAX_TOKENS: u32 = 4_096;

pub(super) fn write(request: &mut Request, laid: Laid<'_>) {
    let mut tools: Vec<Value> = Vec::new();
    let mut system: Vec<BandedBlock> = Vec::new();
    let mut messages = Messages::default();
    for (block, text) in joined(laid.blocks) {
        let text = ContentBlock::text(text);
        match &block.body {
            BlockBody::Tool(tool) => tools.push(
                json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema }),
            ),
            BlockBody::Message(message) => messages.add(block.band, message),
            _ if block.is_instruction() => system.extend(BandedBlock::of(block.band, &text)),
            // As the operator's it can only stand at the very end, where the core has put it.
            BlockBody::Text { role, .. } => messages.push(spoken_as(*role), block.band, &text),
            _ => messages.push(Role::User, block.band, &text),
        }
    }
    let marked = |band: Band| {
        laid.breakpoints
            .iter()
            .any(|breakpoint| breakpoint.band == band)
    };
    messages.end_turn();
    // System blocks come before messages in the cached prefix, so they are marked in the same pass: a band
    // that reaches into both gets its one marker where it ends.
    let said = messages.0.iter_mut().flat_map(|message| &mut message.parts);
    mark_last_of_each_band(system.iter_mut().chain(said), marked);
    // Tools are plain JSON values and not parts: they have a list of their own, before all text.
    if let (true, Some(Value::Object(last))) = (marked(Band::Tools), tools.last_mut()) {
        last.insert("cache_control".into(), ephemeral());
    }

    let most = laid.draft.max_output.unwrap_or(DEFAULT_MAX_TOKENS);
    request.set("max_tokens", &most);
    request.set_list("system", &system);
    request.set_list("tools", &tools);
    request.set("messages", &messages.0);
}

#[derive(Serialize)]
struct MessageBody {
    role: Role,
    #[serde(rename = "content")]
    parts: Vec<BandedBlock>,
}

/// A block of the request with its band.
#[derive(Serialize)]
#[serde(transparent)]
struct BandedBlock {
    #[serde(skip)]
    band: Band,
    json: RawJson,
}

impl BandedBlock {
    fn of(band: Band, value: &impl Serialize) -> Option<Self> {
        // A value always becomes JSON.
        let json = RawJson::from_value(value).ok()?;
        Some(Self { band, json })
    }

    /// Tells whether the block can carry a cache marker: reasoning must stay as it was signed, and the
    /// API refuses a marker on an empty text.
    fn can_be_marked(&self) -> bool {
        let text = text_field(&self.json, "text");
        !self.is_reasoning() && text.is_none_or(|text| !text.is_empty())
    }

    fn is_reasoning(&self) -> bool {
        let kind = text_field(&self.json, "type");
        kind.is_some_and(|kind| kind.contains("thinking"))
    }

    /// Puts a cache marker at its end, and leaves every other byte as it was.
    fn mark(&mut self) {
        // Edited as text: parsing would lose the order of the client's fields and the spelling of its numbers.
        let fields = self.json.as_str().trim_end().strip_suffix('}');
        let fields = fields.unwrap_or_default();
        let marked = format!(r#"{fields},"cache_control":{}}}"#, ephemeral());
        if let Ok(marked) = RawJson::from_text(marked) {
            self.json = marked;
        }
    }
}

fn ephemeral() -> Value {
    json!({ "type": "ephemeral" })
}

/// Puts a cache marker on the last block of each band that is to have one.
fn mark_last_of_each_band<'a>(
    parts: impl DoubleEndedIterator<Item = &'a mut BandedBlock>,
    marked: impl Fn(Band) -> bool,
) {
    let mut done: Vec<Band> = Vec::new();
    // A marker covers the whole prefix before it, so that only the last possible block of a band is marked.
    for part in parts.rev() {
        if marked(part.band) && !done.contains(&part.band) && part.can_be_marked() {
            part.mark();
            done.push(part.band);
        }
    }
}

/// The messages, consecutive ones of one role merged.
#[derive(Default)]
struct Messages(Vec<MessageBody>);

impl Messages {
    fn push(&mut self, role: Role, band: Band, value: &impl Serialize) {
        if self.0.last().is_some_and(|last| last.role != role) {
            self.end_turn();
        }
        let parts = BandedBlock::of(band, value).into_iter();
        match self.0.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => self.0.push(MessageBody {
                role,
                parts: parts.collect(),
            }),
        }
    }

    /// Drops the reasoning at the end of an answer: the API refuses an assistant's message whose last block
    /// is reasoning, as an answer that was cut leaves it.
    fn end_turn(&mut self) {
        let Some(last) = self.0.last_mut() else {
            return;
        };
        if last.role == Role::Assistant {
            while last.parts.last().is_some_and(BandedBlock::is_reasoning) {
                last.parts.pop();
            }
        }
        if last.parts.is_empty() {
            self.0.pop();
        }
    }

    fn add(&mut self, band: Band, message: &Message) {
        let role = spoken_as(message.role);
        if let (Role::Tool, Some(id)) = (message.role, &message.tool_call_id) {
            // `null` is no content of a `tool_result`; an empty text is.
            let content = match &message.content {
                Content::Null => json!(""),
                content => json!(content),
            };
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            return self.push(role, band, &result);
        }
        for piece in message.pieces() {
            match piece {
                MessagePiece::Block(block) => self.add_block(role, band, &block),
                MessagePiece::Call(call) => self.push(role, band, &tool_use(call)),
            }
        }
    }

    fn add_block(&mut self, role: Role, band: Band, block: &ContentBlock) {
        match (block, block.as_raw().and_then(image_from_openai)) {
            (_, Some(image)) => self.push(role, band, &image),
            // The API refuses a text block that is empty or only white space.
            (ContentBlock::Text { text, raw: None }, _) if text.trim().is_empty() => {}
            (block, None) => self.push(role, band, block),
        }
    }
}

fn tool_use(call: &ToolCall) -> Value {
    let input = match call.arguments.parse_as().unwrap_or_default() {
        // `input` must be an object, also of a call without arguments.
        Value::Null => json!({}),
        // Some clients keep the arguments as a string of JSON.
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

/// An `image_url` part of a chat completion as an image block.
fn image_from_openai(raw: &RawJson) -> Option<Value> {
    let part: Value = raw.parse_as().ok()?;
    if part.get("type")? != "image_url" {
        return None;
    }
    let url = part.get("image_url")?.get("url")?.as_str()?;
    // Chat completions put the data of a picture into a `data:` address; here they are fields.
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
