//! One line of an import: its shape, and how it is read.

use jiff::Timestamp;
use kitbag_core::role::{Role, Visibility};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{ImportDefaults, ImportError, Place, parsed};

/// Something that was said and is to be remembered: one line of `kitbag memory import`.
///
/// As JSON `{"channel", "sender", "conversation", "ref", "at", "role", "speaker", "text",
/// "recalled", "visibility"}`. Only `text` is required; unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ImportLine {
    /// Where it was said; `import` if nothing else is known.
    pub channel: String,
    /// The person whose conversation it is; `user` if nothing else is known.
    pub sender: String,
    /// The conversation it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// What it is called where it comes from, so that it is not imported twice.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// When it was said: a date or time in ISO 8601, with a zone or without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// In which role it was said; the user's if nothing else is known.
    pub role: Role,
    /// Who said it, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// What was said.
    pub text: String,
    /// Whether it only repeats what was recalled, and must not be remembered again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recalled: bool,
    /// Who may see it; everybody if nothing else is known.
    #[serde(skip_serializing_if = "Visibility::is_all")]
    pub visibility: Visibility,
}

impl ImportLine {
    /// Something that was said, by nobody in particular.
    #[must_use]
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            channel: "import".to_owned(),
            sender: "user".to_owned(),
            conversation: None,
            reference: None,
            at: None,
            role,
            speaker: None,
            text: text.into(),
            recalled: false,
            visibility: Visibility::All,
        }
    }
}

/// A line as others write it.
#[derive(Deserialize)]
struct Written {
    #[serde(default, deserialize_with = "text_or_number")]
    channel: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    sender: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    conversation: Option<String>,
    #[serde(rename = "ref", default, deserialize_with = "text_or_number")]
    reference: Option<String>,
    at: Option<Value>,
    role: Option<Role>,
    #[serde(default, deserialize_with = "text_or_number")]
    speaker: Option<String>,
    text: String,
    recalled: Option<bool>,
    visibility: Option<Visibility>,
}

/// Reads one record.
pub(super) fn parse(
    record: &[u8],
    defaults: &ImportDefaults,
    place: Place,
) -> Result<ImportLine, ImportError> {
    let record = record.trim_ascii();
    // Before the parser does, which would take an array for the fields in their order.
    if !record.starts_with(b"{") {
        let found: String = String::from_utf8_lossy(record).chars().take(24).collect();
        let found = found.escape_debug();
        let problem = format!("expected a JSON object, found `{found}`");
        return Err(ImportError::Json { place, problem });
    }
    let written: Written = parsed(record, || place.clone())?;
    let at = match &written.at {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.trim().is_empty() => None,
        Some(value) => Some(time_of(value).ok_or_else(|| ImportError::Field {
            place,
            field: "at",
            found: value.to_string(),
            expected: match value {
                Value::Number(_) => "seconds since 1970, not milliseconds, before the year 10000",
                _ => "a time such as 2024-01-15T10:30:00Z, seconds since 1970, or null",
            },
        })?),
    };
    let mut line = defaults.line("import", written.role.unwrap_or(Role::User), written.text);
    line.channel = written.channel.unwrap_or(line.channel);
    line.sender = written.sender.unwrap_or(line.sender);
    line.conversation = written.conversation;
    line.reference = written.reference;
    line.at = at;
    line.speaker = written.speaker;
    line.recalled = written.recalled.unwrap_or_default();
    line.visibility = written.visibility.unwrap_or_default();
    Ok(line)
}

/// A time in ISO 8601: text that is one as it stands, or seconds since 1970.
pub(in crate::memory) fn time_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            kitbag_core::time::parse(text).map(|_| text.to_owned())
        }
        Value::Number(seconds) => {
            // The cast saturates, and what is out of range is no time.
            let milliseconds = (seconds.as_f64()? * 1_000.0).round() as i64;
            let time = Timestamp::from_millisecond(milliseconds).ok()?;
            Some(time.to_string())
        }
        _ => None,
    }
}

/// An id or a name, which some write as a number. `null` and nothing but blanks are none.
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
