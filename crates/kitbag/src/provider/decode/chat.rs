//! The events of OpenAI Chat Completions, and of servers that are more or less compatible with it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{broke_off, cut, json, number, text, tool_call};
use crate::provider::{ProviderError, ReplyEvent, StopReason, Usage};

#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    calls: BTreeMap<u64, Call>,
    has_ended: bool,
}

/// A call that comes in pieces.
#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Decoder {
    pub(super) fn read(&mut self, data: &str) -> Result<Vec<ReplyEvent>, ProviderError> {
        let mut events = Vec::new();
        if data.trim() == "[DONE]" {
            // Calls that no `finish_reason` has completed.
            events.extend(self.finish_calls());
            events.push(ReplyEvent::Done);
            return Ok(events);
        }
        let event = json(data)?;
        // Some servers report an error as an event, with status 200.
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return Err(broke_off(error));
        }
        let choices = event.get("choices").and_then(Value::as_array);
        // Only the first of several answers counts, whose events come between those of the others. The event with
        // the usage has none.
        let is_first = |choice: &&Value| choice.get("index").is_none_or(|index| *index == 0);
        if let Some(choice) = choices.and_then(|choices| choices.iter().find(is_first)) {
            let delta = choice.get("delta").unwrap_or(&Value::Null);
            // The API itself has no field for reasoning; servers of open models use one of these.
            for name in ["reasoning_content", "reasoning"] {
                let said = text(delta, name);
                events.extend((!said.is_empty()).then(|| ReplyEvent::Thinking(said.to_owned())));
            }
            for name in ["content", "refusal"] {
                let said = text(delta, name);
                events.extend((!said.is_empty()).then(|| ReplyEvent::Text(said.to_owned())));
            }
            let calls = delta.get("tool_calls").and_then(Value::as_array);
            for call in calls.into_iter().flatten() {
                self.add_call(call);
            }
            let reason = text(choice, "finish_reason");
            if !reason.is_empty() {
                self.has_ended = true;
                events.extend(self.finish_calls());
                events.push(ReplyEvent::Stop(StopReason::of(reason)));
            }
        }
        // The usage comes in an event of its own, after the reason, and is `null` in the events before.
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            events.push(ReplyEvent::Usage(count(usage)));
        }
        Ok(events)
    }

    /// Ends without the mark of the end, if the model has given its reason to end.
    pub(super) fn end(&self) -> Result<Vec<ReplyEvent>, ProviderError> {
        match self.has_ended {
            true => Ok(vec![ReplyEvent::Done]),
            false => Err(cut()),
        }
    }

    fn add_call(&mut self, piece: &Value) {
        // Some servers leave the index out. They send one call after the other, and a new id begins the next.
        let next = self.calls.len() as u64;
        let is_new = !text(piece, "id").is_empty();
        let last = next.saturating_sub(1);
        let index = number(piece, "index").unwrap_or(if is_new { next } else { last });
        let call = self.calls.entry(index).or_default();
        let function = piece.get("function").unwrap_or(&Value::Null);
        call.id.push_str(text(piece, "id"));
        call.name.push_str(text(function, "name"));
        call.arguments.push_str(text(function, "arguments"));
    }

    fn finish_calls(&mut self) -> Vec<ReplyEvent> {
        let calls = std::mem::take(&mut self.calls).into_values();
        let calls = calls.filter_map(|call| tool_call(call.id, call.name, &call.arguments));
        calls.map(ReplyEvent::ToolCall).collect()
    }
}

fn count(usage: &Value) -> Usage {
    let details = usage.get("prompt_tokens_details").unwrap_or(&Value::Null);
    Usage {
        input: number(usage, "prompt_tokens").unwrap_or_default(),
        cache_read: number(details, "cached_tokens").unwrap_or_default(),
        cache_write: number(details, "cache_write_tokens").unwrap_or_default(),
        output: number(usage, "completion_tokens").unwrap_or_default(),
    }
}
