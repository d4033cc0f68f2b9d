//! Reads a line: a message, or a conversation of messages.

use std::collections::BTreeMap;

use kitbag_core::role::{Role, Visibility};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{ImportDefaults, ImportError, ImportFormat, ImportLine, Place, parsed, time_of};

#[derive(Deserialize)]
struct RawLine {
    #[serde(default, deserialize_with = "text_or_number")]
    channel: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    sender: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    conversation: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    title: Option<String>,
    #[serde(rename = "ref", default, deserialize_with = "text_or_number")]
    reference: Option<String>,
    at: Option<Value>,
    role: Option<Role>,
    #[serde(default, deserialize_with = "text_or_number")]
    speaker: Option<String>,
    text: Option<String>,
    recalled: Option<bool>,
    visibility: Option<Visibility>,
    metadata: Option<Map<String, Value>>,
    facts: Option<BTreeMap<String, String>>,
    summary: Option<String>,
    /// The text, in messages of chat APIs.
    content: Option<Value>,
    /// The speaker, in messages of chat APIs.
    #[serde(default, deserialize_with = "text_or_number")]
    name: Option<String>,
    messages: Option<Vec<Self>>,
    mapping: Option<IgnoredAny>,
    chat_messages: Option<IgnoredAny>,
    conversations_memory: Option<IgnoredAny>,
}

/// The contents of a line.
pub(super) enum Line {
    /// Messages, some of which may be without text.
    Said(Vec<ImportLine>),
    /// A conversation of an export.
    Exported(ImportFormat),
}

/// Reads one record.
pub(super) fn parse(
    record: &[u8],
    defaults: &ImportDefaults,
    place: &Place,
) -> Result<Line, ImportError> {
    let record = record.trim_ascii();
    // The parser would accept an array as the fields in their order.
    if !record.starts_with(b"{") {
        let found: String = String::from_utf8_lossy(record).chars().take(24).collect();
        let found = found.escape_debug();
        let problem = format!("expected a JSON object, found `{found}`");
        return Err(ImportError::Json {
            place: place.clone(),
            problem,
        });
    }
    let mut written: RawLine = parsed(record, || place.clone())?;
    if written.mapping.is_some() {
        return Ok(Line::Exported(ImportFormat::ChatGpt));
    }
    if written.chat_messages.is_some() || written.conversations_memory.is_some() {
        return Ok(Line::Exported(ImportFormat::Claude));
    }
    let Some(messages) = written.messages.take() else {
        return Ok(Line::Said(vec![written.line(defaults, place)?]));
    };
    // The messages have no names, so a second import recognises the conversation by its whole text.
    let hash = blake3::hash(record).to_hex();
    let hash: String = hash.chars().take(16).collect();
    let name = written
        .conversation
        .get_or_insert(format!("messages-{hash}"));
    let name = name.clone();
    let mut lines = Vec::with_capacity(messages.len());
    for (index, mut message) in messages.into_iter().enumerate() {
        message.conversation = Some(name.clone());
        message.channel = message.channel.or_else(|| written.channel.clone());
        message.sender = message.sender.or_else(|| written.sender.clone());
        message.title = message.title.or_else(|| written.title.clone());
        message.at = message.at.or_else(|| written.at.clone());
        message.metadata = message.metadata.or_else(|| written.metadata.clone());
        // The place in the conversation names a message, so that a second import finds it known.
        message.reference = message.reference.or_else(|| Some((index + 1).to_string()));
        lines.push(message.line(defaults, place)?);
    }
    Ok(Line::Said(lines))
}

impl RawLine {
    fn line(self, defaults: &ImportDefaults, place: &Place) -> Result<ImportLine, ImportError> {
        let at = match &self.at {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.trim().is_empty() => None,
            Some(value) => Some(time_of(value).ok_or_else(|| ImportError::Field {
                place: place.clone(),
                field: "at",
                found: value.to_string(),
                expected: match value {
                    Value::Number(_) => {
                        // Milliseconds are the usual mistake, and are too large to be a time in seconds.
                        "seconds since 1970, not milliseconds, before the year 10000"
                    }
                    _ => "a time such as 2024-01-15T10:30:00Z, seconds since 1970, or null",
                },
            })?),
        };
        let text = match (self.text, self.content, self.role) {
            (Some(text), _, _) => text,
            (None, Some(content), _) => said_in(&content),
            // A message that only calls tools has no text.
            (None, None, Some(Role::Assistant)) => String::new(),
            (None, None, _) => {
                return Err(ImportError::Json {
                    place: place.clone(),
                    problem: "missing field `text`".to_owned(),
                });
            }
        };
        let mut line = defaults.line("import", self.role.unwrap_or(Role::User), text);
        line.channel = self.channel.unwrap_or(line.channel);
        line.sender = self.sender.unwrap_or(line.sender);
        line.conversation = self.conversation;
        line.title = self.title;
        line.reference = self.reference;
        line.at = at;
        line.speaker = self.speaker.or(self.name);
        line.recalled = self.recalled.unwrap_or_default();
        line.visibility = self.visibility.unwrap_or_default();
        line.metadata = self.metadata.unwrap_or_default();
        line.facts = self.facts.unwrap_or_default();
        line.summary = self.summary;
        Ok(line)
    }
}

/// The text of a content, which is a text or a list of parts.
fn said_in(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| {
                // Parts may be bare texts or objects, depending on the program that wrote them.
                let text = part.as_str().or_else(|| part.get("text")?.as_str());
                let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
                text.or_else(|| kind.contains("image").then_some("[image]"))
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// An id or a name, which some programs write as a number. `null` and blank texts give `None`.
pub(in crate::memory) fn text_or_number<'de, D>(from: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    match Value::deserialize(from)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => {
            let found: String = other.to_string().chars().take(24).collect();
            Err(D::Error::custom(format!(
                "invalid type: `{found}`, expected text or a number"
            )))
        }
    }
}
