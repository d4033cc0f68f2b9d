//! A call of a model, from its request to the end of its answer.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;
use kitbag::core::record::Usage;
use kitbag::core::role::Role;
use kitbag::provider::Reply;
use kitbag::secrets::redact;
use kitbag::wire::Dialect;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Telemetry;
use super::json::{attributes, time};
use crate::App;

/// A call that has begun. It is reported when it is dropped, however it ends.
#[derive(Debug)]
pub(crate) struct Call {
    telemetry: Arc<Telemetry>,
    began: Instant,
    span: Option<Span>,
}

/// A call that has ended.
#[derive(Debug)]
pub(super) struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    /// Unset where whoever asked keeps no trace of it.
    pub(super) is_sampled: bool,
    at: Timestamp,
    pub(super) provider: &'static str,
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) took: Duration,
    pub(super) first_chunk: Option<Duration>,
    pub(super) error: Option<String>,
    attributes: Vec<(&'static str, Value)>,
}

/// The most bytes of a message to send.
const LARGEST: usize = 64 << 10;

impl Call {
    /// Begins a call, if calls are reported. The headers of its request may name the trace that it belongs to.
    pub(crate) fn begin(app: &App, headers: &HeaderMap) -> Option<Self> {
        let telemetry = Arc::clone(app.telemetry.as_ref()?);
        let parent = headers.get("traceparent").and_then(|it| it.to_str().ok());
        let parent = parent.and_then(Parent::read);
        // An id of zeros is invalid; without random numbers every trace has the same id, which loses less
        // than the call.
        let random = || getrandom::u64().unwrap_or(1);
        let span = Span {
            trace: match &parent {
                Some(parent) => parent.trace.clone(),
                None => format!("{:016x}{:016x}", random(), random()),
            },
            id: format!("{:016x}", random()),
            // Who began the trace has decided if it is kept; a trace that begins here always is.
            is_sampled: parent.as_ref().is_none_or(|parent| parent.is_sampled),
            parent: parent.map(|parent| parent.span),
            at: (app.clock)(),
            provider: "openai",
            model: None,
            usage: None,
            took: Duration::ZERO,
            first_chunk: None,
            error: None,
            attributes: Vec::new(),
        };
        Some(Self {
            telemetry,
            began: Instant::now(),
            span: Some(span),
        })
    }

    /// Names the provider by the API that it speaks.
    pub(crate) fn speaks(&mut self, dialect: Dialect) {
        if let (Some(span), Dialect::Anthropic) = (&mut self.span, dialect) {
            span.provider = "anthropic";
        }
    }

    /// Tells nothing of it: no model was asked.
    pub(crate) fn forget(mut self) {
        self.span = None;
    }

    /// Tells what the request asks for, as far as it is no content.
    pub(crate) fn asks(&mut self, body: &[u8]) {
        // A body that cannot be read is the provider's to refuse: telemetry must not fail the request.
        let asked: RequestFields = serde_json::from_slice(body).unwrap_or_default();
        if let Value::String(model) = asked.model {
            self.names(model);
        }
        let most = [
            asked.max_tokens,
            asked.max_completion_tokens,
            asked.max_output_tokens,
        ];
        // Each API has another name for the same limit; a request has one of them.
        let most = most.into_iter().find(Value::is_number).unwrap_or_default();
        for (name, value) in [
            ("gen_ai.request.max_tokens", most),
            ("gen_ai.request.temperature", asked.temperature),
            ("gen_ai.request.top_p", asked.top_p),
            ("gen_ai.request.top_k", asked.top_k),
            ("gen_ai.request.seed", asked.seed),
        ] {
            if value.is_number() {
                self.tell(name, value);
            }
        }
        self.tell("gen_ai.request.stream", asked.stream == Value::Bool(true));
    }

    /// Names the model that is asked.
    pub(crate) fn names(&mut self, model: impl Into<String>) {
        if let Some(span) = &mut self.span {
            span.model = Some(model.into());
        }
    }

    /// Adds an attribute.
    pub(crate) fn tell(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.span {
            span.attributes.push((name, value.into()));
        }
    }

    /// Set if the texts of messages are sent, too.
    pub(crate) fn tells_content(&self) -> bool {
        self.telemetry.tells_content
    }

    /// Tells what was said, the newest of it.
    pub(crate) fn said(&mut self, messages: impl DoubleEndedIterator<Item = (Role, String)>) {
        let mut room = LARGEST;
        // From the end, since the newest messages say what the call was about.
        let newest = messages.rev().map_while(|(role, text)| {
            room = room.checked_sub(text.len())?;
            Some(message(role.as_str(), &text))
        });
        let mut newest: Vec<Value> = newest.collect();
        newest.reverse();
        self.tell("gen_ai.input.messages", Value::from(newest).to_string());
    }

    /// Notes that the answer has begun.
    pub(crate) fn begins_to_answer(&mut self) {
        let after = self.began.elapsed();
        if let Some(span) = &mut self.span {
            // Only the first time counts; later pieces call this too.
            span.first_chunk.get_or_insert(after);
        }
    }

    /// Tells of the answer, as much as has come.
    pub(crate) fn answered(&mut self, reply: &Reply) {
        let stop = reply.stop.as_ref().map(|stop| stop.as_str().to_owned());
        if let Some(stop) = stop {
            self.tell("gen_ai.response.finish_reasons", json!([stop]));
        }
        if self.tells_content() && !reply.text().is_empty() {
            let said = json!([message("assistant", &reply.text())]);
            self.tell("gen_ai.output.messages", said.to_string());
        }
        self.billed(reply.usage);
    }

    /// Tells what the provider billed.
    pub(crate) fn billed(&mut self, usage: Option<Usage>) {
        if let Some(span) = &mut self.span {
            span.usage = usage;
        }
    }

    /// Notes that there is no answer, or not all of it.
    pub(crate) fn failed(&mut self, kind: impl Into<String>) {
        if let Some(span) = &mut self.span {
            span.error = Some(kind.into());
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(mut span) = self.span.take() {
            span.took = self.began.elapsed();
            self.telemetry.add(span);
        }
    }
}

/// A message without its secrets.
fn message(role: &str, text: &str) -> Value {
    // A collector is another place where secrets would be stored.
    let text = redact(text, "").text;
    json!({ "role": role, "parts": [{ "type": "text", "content": text }] })
}

impl Span {
    /// The span as OTLP has it.
    pub(super) fn json(&self) -> Value {
        let model = self.model.as_deref();
        let mut told: Vec<(&str, Value)> = vec![
            ("gen_ai.operation.name", "chat".into()),
            ("gen_ai.provider.name", self.provider.into()),
        ];
        told.extend(model.map(|model| ("gen_ai.request.model", model.into())));
        told.extend(self.attributes.iter().cloned());
        if let Some(usage) = &self.usage {
            told.extend([
                ("gen_ai.usage.input_tokens", usage.input.into()),
                ("gen_ai.usage.output_tokens", usage.output.into()),
                (
                    "gen_ai.usage.cache_read.input_tokens",
                    usage.cache_read.into(),
                ),
                (
                    "gen_ai.usage.cache_creation.input_tokens",
                    usage.cache_write.into(),
                ),
            ]);
        }
        let first = self.first_chunk.map(|first| first.as_secs_f64());
        told.extend(first.map(|first| ("gen_ai.response.time_to_first_chunk", first.into())));
        let error = self.error.as_deref();
        told.extend(error.map(|error| ("error.type", error.into())));
        let mut span = json!({
            // The kind 3 is CLIENT: the model answers elsewhere.
            "traceId": self.trace, "spanId": self.id, "kind": 3,
            "name": model.map_or_else(|| "chat".to_owned(), |model| format!("chat {model}")),
            "startTimeUnixNano": time(self.at),
            "endTimeUnixNano": time(self.at.checked_add(self.took).unwrap_or(self.at)),
            "attributes": attributes(told),
            "status": match error {
                Some(_) => json!({ "code": 2 }),
                None => json!({}),
            },
        });
        if let (Some(parent), Some(fields)) = (&self.parent, span.as_object_mut()) {
            fields.insert("parentSpanId".to_owned(), parent.as_str().into());
        }
        span
    }
}

/// The fields of a request that conventions have a name for. Whatever else they hold is the provider's to refuse.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RequestFields {
    model: Value,
    max_tokens: Value,
    max_completion_tokens: Value,
    max_output_tokens: Value,
    temperature: Value,
    top_p: Value,
    top_k: Value,
    seed: Value,
    stream: Value,
}

/// The span that a request belongs to, as the W3C's `traceparent` names it.
struct Parent {
    trace: String,
    span: String,
    is_sampled: bool,
}

impl Parent {
    fn read(header: &str) -> Option<Self> {
        let parts: Vec<&str> = header.trim().split('-').collect();
        let is_id = |id: &str, length: usize| {
            let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            id.len() == length && id.chars().all(is_hex) && id.chars().any(|c| c != '0')
        };
        match parts.as_slice() {
            [version, trace, span, flags, ..]
                // The W3C forbids the version `ff` and ids of zeros; later versions may have more parts.
                if *version != "ff" && is_id(trace, 32) && is_id(span, 16) =>
            {
                Some(Self {
                    trace: (*trace).to_owned(),
                    span: (*span).to_owned(),
                    is_sampled: u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1),
                })
            }
            _ => None,
        }
    }
}
