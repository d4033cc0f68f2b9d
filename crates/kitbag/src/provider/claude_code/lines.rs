//! The lines of `--output-format stream-json`, as events of an answer.
//!
//! Lines and fields that are not known are passed over. The tools that the program calls are its own
//! affair: they have been called by the time that a line mentions them.

use serde::Deserialize;
use serde_json::Value;

use kitbag_core::content::RawJson;

use crate::provider::decode::{Api, Decoder, number, text};
use crate::provider::sse::SseEvent;
use crate::provider::{ProviderError, ReplyEvent, StopReason, Usage};

type Events = Vec<Result<ReplyEvent, ProviderError>>;

/// Reads the lines of one answer.
#[derive(Debug)]
pub(super) struct LineDecoder {
    program: String,
    api: Decoder,
    /// True once words have arrived.
    has_text: bool,
    /// True if the next words begin another message of the same answer.
    is_new_message: bool,
    /// A line that is not in the format, such as a wrapper's complaint.
    odd: Option<String>,
}

/// A line of the stream.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    subtype: String,
    event: Option<RawJson>,
    /// The call of a tool whose own conversation the line is of.
    parent_tool_use_id: Option<String>,
}

impl LineDecoder {
    pub(super) fn new(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            api: Decoder::new(Api::Anthropic),
            has_text: false,
            is_new_message: false,
            odd: None,
        }
    }

    /// Reads a line.
    pub(super) fn read(&mut self, line: &str) -> Events {
        let Ok(read) = serde_json::from_str::<Line>(line) else {
            self.odd = Some(line.chars().take(200).collect());
            return Events::new();
        };
        match (read.r#type.as_str(), read.event) {
            ("stream_event", Some(event)) if read.parent_tool_use_id.is_none() => {
                self.event(event.as_str())
            }
            ("result", _) => self.result(line),
            ("system", _) if read.subtype == "api_retry" => {
                tracing::info!(event = "provider_retry", provider = self.program, line);
                Events::new()
            }
            _ => Events::new(),
        }
    }

    /// The error of a program that ended without a result, by what is known of its end.
    pub(super) fn ended(&self, told: &str) -> ProviderError {
        let problem = match &self.odd {
            Some(odd) => format!("{told} (it printed `{}`)", odd.escape_debug()),
            None => told.to_owned(),
        };
        match self.has_text {
            true => ProviderError::Cut { problem },
            false => self.failed(problem),
        }
    }

    fn failed(&self, problem: String) -> ProviderError {
        ProviderError::Program {
            program: self.program.clone(),
            problem,
        }
    }

    /// An event of the API, as the program had it.
    fn event(&mut self, data: &str) -> Events {
        let event = SseEvent {
            name: String::new(),
            data: data.to_owned(),
        };
        let read = match self.api.read(&event) {
            Ok(read) => read,
            // The program may try again; its result tells.
            Err(error) => {
                tracing::info!(event = "provider_event", provider = self.program, problem = %error);
                return Events::new();
            }
        };
        let mut events = Events::new();
        for event in read {
            match event {
                ReplyEvent::Text(mut text) => {
                    if std::mem::take(&mut self.is_new_message) {
                        text.insert_str(0, "\n\n");
                    }
                    self.has_text = true;
                    events.push(Ok(ReplyEvent::Text(text)));
                }
                ReplyEvent::Thinking(_) | ReplyEvent::Usage(_) => events.push(Ok(event)),
                ReplyEvent::Done => self.is_new_message = self.has_text,
                // Signed blocks cannot go back in a text, and calls are the program's.
                ReplyEvent::Block(_)
                | ReplyEvent::ToolCall(_)
                | ReplyEvent::Stop(_)
                | ReplyEvent::Typing
                | ReplyEvent::Accepted
                | ReplyEvent::Called { .. }
                | ReplyEvent::Node { .. }
                | ReplyEvent::Queued => {}
            }
        }
        events
    }

    /// The last line: the usage of all requests that were made, and how it went.
    fn result(&mut self, line: &str) -> Events {
        let result: Value = serde_json::from_str(line).unwrap_or_default();
        let said = text(&result, "result");
        let mut events: Events = result.get("usage").and_then(count).into_iter().collect();
        let is_error = result.get("is_error").and_then(Value::as_bool);
        if is_error == Some(true) || text(&result, "subtype") != "success" {
            events.push(Err(self.refused(&result)));
            return events;
        }
        if !self.has_text && !said.is_empty() {
            events.push(Ok(ReplyEvent::Text(said.to_owned())));
        }
        let stop = match text(&result, "stop_reason") {
            "" => StopReason::End,
            reason => StopReason::of(reason),
        };
        events.extend([Ok(ReplyEvent::Stop(stop)), Ok(ReplyEvent::Done)]);
        events
    }

    fn refused(&self, result: &Value) -> ProviderError {
        let errors = result.get("errors").and_then(Value::as_array);
        let errors = errors.into_iter().flatten().filter_map(Value::as_str);
        let said = [text(result, "result"), text(result, "subtype")];
        let mut said = errors.chain(said).filter(|said| !said.is_empty());
        let said = said.next().unwrap_or("it does not say why").to_owned();
        match number(result, "api_error_status").and_then(|status| u16::try_from(status).ok()) {
            Some(status) => ProviderError::Status {
                address: self.program.clone(),
                status,
                message: said,
                retry_after: None,
            },
            None if self.has_text => ProviderError::BrokeOff { message: said },
            None => self.failed(said),
        }
    }
}

/// The tokens of a result; none where nothing was billed.
fn count(usage: &Value) -> Option<Result<ReplyEvent, ProviderError>> {
    let of = |name| number(usage, name).unwrap_or_default();
    let cache_read = of("cache_read_input_tokens");
    let cache_write = of("cache_creation_input_tokens");
    let usage = Usage {
        input: of("input_tokens") + cache_read + cache_write,
        cache_read,
        cache_write,
        output: of("output_tokens"),
    };
    (usage != Usage::default()).then_some(Ok(ReplyEvent::Usage(usage)))
}

#[cfg(test)]
mod tests;
