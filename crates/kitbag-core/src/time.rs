//! Reads times as people and programs write them: with a zone, without one (then UTC), or in
//! seconds since 1970. No clock is read here.

use alloc::format;
use alloc::string::String;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

/// Returns the time that `text` names.
///
/// ```
/// use kitbag_core::time::parse;
///
/// assert_eq!(parse("2024-01-15T10:30:00"), parse("2024-01-15T11:30:00+01:00"));
/// assert_eq!(parse("yesterday"), None);
/// ```
#[must_use]
pub fn parse(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| {
        // A timestamp wants a zone.
        let local: DateTime = text.parse().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

/// Returns the time in a metadata field: text, or seconds since 1970.
#[must_use]
pub fn from_json(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => parse(text),
        Value::Number(seconds) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a fraction of a second does not matter, and the cast saturates"
            )]
            let seconds = seconds
                .as_i64()
                .or_else(|| Some(seconds.as_f64()? as i64))?;
            Timestamp::from_second(seconds).ok()
        }
        _ => None,
    }
}

/// Reads a field that other programs may have written without a zone.
pub(crate) fn lenient<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text).ok_or_else(|| {
        de::Error::custom(format!(
            "`{text}` is not a time; expected one such as 2024-01-15T10:30:00Z"
        ))
    })
}
