//! A template's context that somebody else put together, such as another program.

use crate::key::SecurityKey;
use crate::reserved::neutralise_value;
use crate::turn::{Mode, PastMessage, PlatformError, Turn};
use crate::value::{Map, Value};

/// What the operator wrote: it stays as it is.
const OPERATOR: [&str; 5] = ["agent", "agentMetadata", "layout", "props", "skills"];

/// What changes from turn to turn, and has a place of its own in a prompt.
const OF_THE_TURN: [&str; 3] = ["user_input", "messages", "tools"];

/// The part of a context that is the same from turn to turn, with texts from outside neutralised.
#[must_use]
pub fn lasting(context: &Map, key: &SecurityKey) -> Map {
    let mut lasting: Map = context
        .iter()
        .filter(|(name, _)| !OF_THE_TURN.contains(&name.as_str()))
        .map(|(name, value)| {
            let value = match OPERATOR.contains(&name.as_str()) {
                true => value.clone(),
                false => neutralise_value(value),
            };
            (name.clone(), value)
        })
        .collect();
    let vars = lasting
        .entry("vars".to_owned())
        .or_insert_with(|| Value::Map(Map::new()));
    if let Value::Map(vars) = vars {
        vars.insert("security_key".to_owned(), key.as_str().into());
    }
    lasting
}

/// The key that a context brings, if it is one.
#[must_use]
pub fn key_of(context: &Map) -> Option<SecurityKey> {
    let key = context.get("vars")?.get("security_key")?.as_text()?;
    key.parse().ok()
}

/// The turn that a context describes.
///
/// # Errors
/// When its platform, its mode or a message is none.
pub fn turn_of(context: &Map, key: SecurityKey) -> Result<Turn, GivenError> {
    let text = |name: &str| context.get(name).and_then(Value::as_text);
    let mut turn = Turn::new(text("user_input").unwrap_or_default(), key);
    if let Some(platform) = text("platform") {
        turn.platform = platform.parse()?;
    }
    turn.mode = match text("mode") {
        None | Some("query") => Mode::Query,
        Some("execute") => Mode::Execute,
        Some(other) => {
            return Err(GivenError::Mode {
                mode: other.to_owned(),
            });
        }
    };
    for (index, message) in (0..).zip(
        context
            .get("messages")
            .and_then(Value::as_list)
            .unwrap_or_default(),
    ) {
        let read = serde_json::to_string(message)
            .and_then(|json| serde_json::from_str::<PastMessage>(&json));
        let message = read.map_err(|error| GivenError::Message {
            index,
            reason: error.to_string(),
        })?;
        turn.messages.push(message);
    }
    Ok(turn)
}

/// Why a context describes no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GivenError {
    /// The platform has no name that a channel can have.
    #[error("platform: {0}")]
    Platform(#[from] PlatformError),
    /// The mode is none.
    #[error("mode: expected `query` or `execute`, got `{mode}`")]
    Mode {
        /// What it is instead.
        mode: String,
    },
    /// A message is none.
    #[error("messages[{index}]: {reason}")]
    Message {
        /// Which one, from 0.
        index: usize,
        /// Why.
        reason: String,
    },
}
