//! JSON text that is kept exactly as it arrived.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON value that is kept as text: numbers, key order and escapes stay as they were.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Keeps `json` after checking that it is one JSON value.
    ///
    /// # Errors
    /// When it is not valid JSON.
    pub fn from_text(json: String) -> Result<Self, RawJsonError> {
        Ok(Self(RawValue::from_string(json)?))
    }

    /// Writes `value` as JSON.
    ///
    /// # Errors
    /// When the value cannot be written as JSON, such as a map whose keys are not strings.
    pub fn from_value(value: &impl Serialize) -> Result<Self, RawJsonError> {
        Ok(Self(serde_json::value::to_raw_value(value)?))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Reads the JSON into `T`.
    ///
    /// # Errors
    /// When it has another shape than `T`.
    pub fn parse_as<T: DeserializeOwned>(&self) -> Result<T, RawJsonError> {
        Ok(serde_json::from_str(self.as_str())?)
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        // Compared as text: an equal value in another spelling is another request.
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl Default for RawJson {
    /// `null`.
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

/// Text that is not the JSON that was expected.
#[derive(Debug, thiserror::Error)]
#[error("not the expected JSON: {0}")]
pub struct RawJsonError(#[from] serde_json::Error);
