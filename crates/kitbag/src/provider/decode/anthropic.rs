//! The events of Anthropic Messages.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use kitbag_core::content::{ContentBlock, RawJson};
use serde::Deserialize;
use serde_json::Value;

use super::{broke_off, json, number, text, tool_call};
use crate::provider::{ProviderError, ReplyEvent, StopReason, Usage};

#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    blocks: BTreeMap<u64, Block>,
    usage: Counts,
}

/// A block that has begun: its fields as they came, and what was added to them since.
#[derive(Debug, Default)]
struct Block {
    fields: IndexMap<String, RawJson>,
    added: BTreeMap<&'static str, String>,
}

/// The latest count of each kind of tokens: later events may omit some.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
}

impl Decoder {
    pub(super) fn read(&mut self, data: &str) -> Result<Vec<ReplyEvent>, ProviderError> {
        let event = json(data)?;
        let index = number(&event, "index").unwrap_or_default();
        let mut events = Vec::new();
        match text(&event, "type") {
            "message_start" => {
                let usage = event
                    .get("message")
                    .and_then(|message| message.get("usage"));
                events.extend(usage.map(|usage| self.count(usage)));
            }
            "content_block_start" => events.extend(self.start(index, data)),
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                events.extend(self.add(index, delta));
            }
            "content_block_stop" => events.extend(self.stop(index)),
            "message_delta" => {
                events.extend(event.get("usage").map(|usage| self.count(usage)));
                let reason = event.get("delta").map(|delta| text(delta, "stop_reason"));
                let reason = reason.filter(|reason| !reason.is_empty());
                events.extend(reason.map(|reason| ReplyEvent::Stop(StopReason::of(reason))));
            }
            "message_stop" => events.push(ReplyEvent::Done),
            // An overloaded server may fail in the midst of an answer, after its status was 200.
            "error" => return Err(broke_off(event.get("error").unwrap_or(&event))),
            _ => {}
        }
        Ok(events)
    }

    fn count(&mut self, usage: &Value) -> ReplyEvent {
        let counts = &mut self.usage;
        // The counts of the request come in the first event and those of the answer in the last.
        let set = |name, count: &mut u64| *count = number(usage, name).unwrap_or(*count);
        set("input_tokens", &mut counts.input);
        set("cache_read_input_tokens", &mut counts.cache_read);
        set("cache_creation_input_tokens", &mut counts.cache_write);
        set("output_tokens", &mut counts.output);
        ReplyEvent::Usage(Usage {
            // `input_tokens` of this API does not include cached tokens, unlike that of the others.
            input: counts.input + counts.cache_read + counts.cache_write,
            cache_read: counts.cache_read,
            cache_write: counts.cache_write,
            output: counts.output,
        })
    }

    /// Begins a block, whose fields stay in the order and spelling in which they came.
    fn start(&mut self, index: u64, data: &str) -> Option<ReplyEvent> {
        #[derive(Deserialize)]
        struct Start {
            content_block: IndexMap<String, RawJson>,
        }
        let fields = serde_json::from_str::<Start>(data).ok()?.content_block;
        let block = Block {
            fields,
            added: BTreeMap::new(),
        };
        // Usually empty in a stream; a whole answer has all of its text here.
        let text = block.text("text").filter(|text| !text.is_empty());
        let is_text = block.kind() == "text";
        self.blocks.insert(index, block);
        text.filter(|_| is_text).map(ReplyEvent::Text)
    }

    fn add(&mut self, index: u64, delta: &Value) -> Option<ReplyEvent> {
        let (name, field) = match text(delta, "type") {
            "text_delta" => ("text", "text"),
            "thinking_delta" => ("thinking", "thinking"),
            "signature_delta" => ("signature", "signature"),
            "input_json_delta" => ("partial_json", "input"),
            _ => return None,
        };
        let piece = text(delta, name);
        let block = self.blocks.entry(index).or_default();
        block.added.entry(field).or_default().push_str(piece);
        match field {
            "text" => Some(ReplyEvent::Text(piece.to_owned())),
            "thinking" => Some(ReplyEvent::Thinking(piece.to_owned())),
            _ => None,
        }
    }

    fn stop(&mut self, index: u64) -> Option<ReplyEvent> {
        let block = self.blocks.remove(&index)?;
        match block.kind().as_str() {
            // The text was sent on piece by piece.
            "text" | "" => None,
            "tool_use" => {
                let (id, name) = (block.text("id")?, block.text("name")?);
                // A block that comes whole has its input at once; a streamed one begins with `{}` and gets pieces.
                let begun = block.fields.get("input").map_or("{}", RawJson::as_str);
                let input = block.added.get("input").map_or(begun, String::as_str);
                tool_call(id, name, input).map(ReplyEvent::ToolCall)
            }
            // Reasoning and blocks of unknown kinds go back to the provider in the next request, byte for byte.
            _ => block.finished_block().map(ReplyEvent::Block),
        }
    }
}

impl Block {
    fn kind(&self) -> String {
        self.text("type").unwrap_or_default()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.fields.get(name)?.parse_as().ok()
    }

    /// The block with all that was added to it, and every other byte as it came.
    fn finished_block(mut self) -> Option<ContentBlock> {
        for (name, added) in std::mem::take(&mut self.added) {
            let value = match name {
                "input" => RawJson::from_text(added).ok()?,
                _ => {
                    let begun = self.text(name).unwrap_or_default();
                    RawJson::from_value(&format!("{begun}{added}")).ok()?
                }
            };
            self.fields.insert(name.to_owned(), value);
        }
        let json = serde_json::to_string(&self.fields).ok()?;
        ContentBlock::from_raw(RawJson::from_text(json).ok()?).ok()
    }
}
