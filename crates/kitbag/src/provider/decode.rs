//! Turns the events of an API into those of an answer.
//!
//! Unknown events, fields and reasons are skipped: providers add some every month.

mod anthropic;
mod chat;
mod responses;
pub(super) mod whole;

use kitbag_core::content::RawJson;
use kitbag_core::message::ToolCall;
use serde_json::Value;

use super::sse::SseEvent;
use super::{ProviderError, ReplyEvent};
use crate::wire::Dialect;

/// The dialects that are spoken over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Anthropic,
    Chat,
    Responses,
}

impl Api {
    /// The API of a dialect, or `None` for one that is not spoken over HTTP.
    pub(super) const fn of(dialect: Dialect) -> Option<Self> {
        Some(match dialect {
            Dialect::Anthropic => Self::Anthropic,
            Dialect::OpenAi => Self::Chat,
            Dialect::Responses => Self::Responses,
            Dialect::Flat => return None,
        })
    }
}

/// Reads the events of one answer.
#[derive(Debug)]
pub(super) enum Decoder {
    Anthropic(anthropic::Decoder),
    Chat(chat::Decoder),
    Responses(responses::Decoder),
}

impl Decoder {
    pub(super) fn new(api: Api) -> Self {
        match api {
            Api::Anthropic => Self::Anthropic(anthropic::Decoder::default()),
            Api::Chat => Self::Chat(chat::Decoder::default()),
            Api::Responses => Self::Responses(responses::Decoder::default()),
        }
    }

    /// Reads an event.
    pub(super) fn read(&mut self, event: &SseEvent) -> Result<Vec<ReplyEvent>, ProviderError> {
        match self {
            Self::Anthropic(decoder) => decoder.read(&event.data),
            Self::Chat(decoder) => decoder.read(&event.data),
            Self::Responses(decoder) => decoder.read(&event.data),
        }
    }

    /// Handles the end of the connection: some servers omit the mark of the end. Fails if the answer was
    /// not over.
    pub(super) fn end(&mut self) -> Result<Vec<ReplyEvent>, ProviderError> {
        match self {
            Self::Chat(decoder) => decoder.end(),
            Self::Anthropic(_) | Self::Responses(_) => Err(cut()),
        }
    }
}

fn cut() -> ProviderError {
    ProviderError::Cut {
        problem: "the connection was closed before its end".to_owned(),
    }
}

/// The JSON of an event.
fn json(data: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(data).map_err(|error| {
        let shown: String = data.chars().take(80).collect();
        ProviderError::Malformed {
            problem: format!("an event is not JSON ({error}): `{}`", shown.escape_debug()),
        }
    })
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64)
}

/// An error in the midst of an answer.
fn broke_off(error: &Value) -> ProviderError {
    let message = match error.as_str() {
        Some(text) => text.to_owned(),
        None => {
            let kind = [text(error, "type"), text(error, "code")];
            let kind = kind.into_iter().find(|kind| !kind.is_empty());
            let said = [kind.unwrap_or_default(), text(error, "message")];
            let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
            said.join(": ")
        }
    };
    ProviderError::BrokeOff {
        message: match message.is_empty() {
            true => "it does not say why".to_owned(),
            false => message,
        },
    }
}

/// A call whose arguments came as a string of JSON. Arguments that are not JSON stay a string: the tool
/// then reports to the model what is wrong with them.
fn tool_call(id: String, name: String, arguments: &str) -> Option<ToolCall> {
    let arguments = match arguments.trim() {
        "" => "{}",
        arguments => arguments,
    };
    let raw = RawJson::from_text(arguments.to_owned());
    let arguments = raw.or_else(|_| RawJson::from_value(&arguments)).ok()?;
    Some(ToolCall {
        id,
        name,
        arguments,
    })
}

#[cfg(test)]
mod tests;
