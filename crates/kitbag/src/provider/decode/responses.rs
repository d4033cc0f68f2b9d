//! The events of OpenAI Responses.

use kitbag_core::content::{ContentBlock, RawJson};
use serde::Deserialize;
use serde_json::Value;

use super::{broke_off, json, number, text, tool_call};
use crate::provider::{ProviderError, ReplyEvent, StopReason, Usage};

#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    called_a_tool: bool,
}

impl Decoder {
    pub(super) fn read(&mut self, data: &str) -> Result<Vec<ReplyEvent>, ProviderError> {
        let event = json(data)?;
        let mut events = Vec::new();
        let delta = || text(&event, "delta").to_owned();
        match text(&event, "type") {
            "response.output_text.delta" | "response.refusal.delta" => {
                events.push(ReplyEvent::Text(delta()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                events.push(ReplyEvent::Thinking(delta()));
            }
            // Calls are taken whole, from the finished item, so that their pieces need not be joined.
            "response.output_item.done" => events.extend(self.item(data)),
            kind @ ("response.completed" | "response.incomplete") => {
                let response = event.get("response").unwrap_or(&Value::Null);
                let usage = response.get("usage").filter(|usage| usage.is_object());
                events.extend(usage.map(|usage| ReplyEvent::Usage(count(usage))));
                let reason = match kind {
                    // This API has no reason of its own for calls.
                    "response.completed" if self.called_a_tool => "tool_use",
                    "response.completed" => "completed",
                    _ => match response.get("incomplete_details") {
                        Some(details) => text(details, "reason"),
                        None => "incomplete",
                    },
                };
                events.push(ReplyEvent::Stop(StopReason::of(reason)));
                events.push(ReplyEvent::Done);
            }
            "response.failed" => {
                let error = event.get("response").and_then(|it| it.get("error"));
                return Err(broke_off(error.unwrap_or(&Value::Null)));
            }
            "error" => {
                let error = event.get("error").filter(|error| error.is_object());
                return Err(broke_off(error.unwrap_or(&event)));
            }
            _ => {}
        }
        Ok(events)
    }

    /// A finished item. The text of messages was sent on piece by piece.
    fn item(&mut self, data: &str) -> Option<ReplyEvent> {
        #[derive(Deserialize)]
        struct Event {
            item: RawJson,
        }
        let raw = serde_json::from_str::<Event>(data).ok()?.item;
        let item: Value = raw.parse_as().ok()?;
        match text(&item, "type") {
            "message" => None,
            "function_call" => {
                self.called_a_tool = true;
                let id = text(&item, "call_id").to_owned();
                let call = tool_call(id, text(&item, "name").to_owned(), text(&item, "arguments"));
                call.map(ReplyEvent::ToolCall)
            }
            // Reasoning without encrypted content is only a reference to data that the provider would have to
            // keep; requests are sent without storage, so it would be refused in the next one.
            "reasoning" if text(&item, "encrypted_content").is_empty() => None,
            _ => ContentBlock::from_raw(raw).ok().map(ReplyEvent::Block),
        }
    }
}

fn count(usage: &Value) -> Usage {
    let details = usage.get("input_tokens_details").unwrap_or(&Value::Null);
    Usage {
        input: number(usage, "input_tokens").unwrap_or_default(),
        cache_read: number(details, "cached_tokens").unwrap_or_default(),
        cache_write: number(details, "cache_write_tokens").unwrap_or_default(),
        output: number(usage, "output_tokens").unwrap_or_default(),
    }
}
