//! The structured payload: a prompt with everything that a provider, a log or another program
//! needs.
//!
//! The schema is generated from these types and kept in `docs/payload.schema.json`.

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::channel::{Mode, PastMessage, Platform};

/// The version of the payload's shape.
pub const PAYLOAD_VERSION: &str = "1.0";

/// A prompt with the data it was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Payload {
    /// The version of this shape, `1.0`.
    pub version: String,
    /// The agent that answers.
    pub agent: PayloadAgent,
    /// The whole prompt as one text.
    pub prompt: String,
    /// The context that the layout was rendered with, as JSON.
    #[serde(default)]
    pub context: String,
    /// The earlier messages.
    pub messages: Vec<PastMessage>,
    /// The facts about the turn.
    pub metadata: PayloadMetadata,
}

/// The agent that answers, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadAgent {
    /// The agent's id.
    pub id: String,
    /// The provider that it asks first.
    pub provider: String,
    /// The choice between answering and acting.
    pub mode: Mode,
    /// The model, if one is set.
    #[serde(default)]
    pub model: Option<String>,
}

/// The facts about a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayloadMetadata {
    /// The channel.
    pub platform: Platform,
    /// The history as the prompt shows it.
    #[serde(default)]
    pub formatted_history: String,
    /// The number of earlier messages.
    pub message_count: usize,
    /// The time when the payload was made, in ISO 8601, if the caller gave it.
    #[serde(default)]
    pub generated_at: Option<String>,
    /// The context as a caller brought it, as JSON, if it was changed.
    #[serde(default)]
    pub original_context: Option<String>,
    /// The thread, on channels that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Problems and omissions on the way to the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The layout, if one made the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
}

impl Payload {
    /// Reads a payload that another program wrote.
    ///
    /// # Errors
    /// When it is no JSON object of this shape, or has another major version.
    pub fn parse(json: &str) -> Result<Self, PayloadError> {
        let payload: Self = serde_json::from_str(json.trim())?;
        if payload.version.split('.').next() != PAYLOAD_VERSION.split('.').next() {
            return Err(PayloadError::Version {
                version: payload.version,
            });
        }
        Ok(payload)
    }

    /// The JSON schema of payloads.
    #[must_use]
    pub fn schema() -> Schema {
        schema_for!(Self)
    }
}

/// Reasons why a text is no payload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// It is no JSON of this shape.
    #[error("not a payload: {0}")]
    Shape(#[from] serde_json::Error),
    /// It has a version that is not known here.
    #[error("the payload is of version {version:?}, and only {PAYLOAD_VERSION:?} is known")]
    Version {
        /// The version that it names.
        version: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload() -> Payload {
        Payload {
            version: PAYLOAD_VERSION.to_owned(),
            agent: PayloadAgent {
                id: "ann".to_owned(),
                provider: "cli/claude".to_owned(),
                mode: Mode::Execute,
                model: None,
            },
            prompt: "You are Ann.".to_owned(),
            context: String::new(),
            messages: vec![PastMessage::user("hi"), PastMessage::assistant("hello")],
            metadata: PayloadMetadata {
                platform: "slack".parse().unwrap(),
                formatted_history: String::new(),
                message_count: 2,
                generated_at: None,
                original_context: None,
                thread_id: None,
                notes: Vec::new(),
                layout: None,
            },
        }
    }

    #[test]
    fn c08_a_payload_is_read_back() {
        let json = serde_json::to_string(&payload()).unwrap();
        assert_eq!(Payload::parse(&format!("\n {json} ")).unwrap(), payload());
        insta::assert_snapshot!(serde_json::to_string_pretty(&payload()).unwrap(), @r#"
        {
          "version": "1.0",
          "agent": {
            "id": "ann",
            "provider": "cli/claude",
            "mode": "execute",
            "model": null
          },
          "prompt": "You are Ann.",
          "context": "",
          "messages": [
            {
              "text": "hi",
              "isAssistant": false,
              "metadata": {}
            },
            {
              "text": "hello",
              "isAssistant": true,
              "metadata": {}
            }
          ],
          "metadata": {
            "platform": "slack",
            "formattedHistory": "",
            "messageCount": 2,
            "generatedAt": null,
            "originalContext": null
          }
        }
        "#);
    }

    #[test]
    fn c08_other_texts_are_refused() {
        let json = serde_json::to_string(&payload()).unwrap();
        for bad in [
            String::new(),
            "[]".to_owned(),
            json.replace("\"execute\"", "\"dance\""),
            json.replace("\"messages\":[", "\"messages\":{")
                .replace("}],\"metadata\"", "}},\"metadata\""),
            json.replace("\"1.0\"", "\"2.0\""),
            json.replace("\"id\":\"ann\"", "\"id\":7"),
        ] {
            assert!(Payload::parse(&bad).is_err(), "{bad}");
        }
        let newer = json.replace("\"1.0\"", "\"1.7\"");
        assert!(Payload::parse(&newer).is_ok());
    }

    #[test]
    fn c08_the_schema_in_the_documentation_is_the_one_of_the_code() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/payload.schema.json"
        );
        let schema = serde_json::to_string_pretty(&Payload::schema()).unwrap() + "\n";
        if std::env::var_os("KITBAG_UPDATE_SCHEMA").is_some() {
            std::fs::write(path, &schema).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            schema,
            "run this test with KITBAG_UPDATE_SCHEMA=1 to write the schema anew"
        );
    }
}
