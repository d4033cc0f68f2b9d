//! A template's context that somebody else put together, such as another program.
//!
//! What it brings is taken as it is; nothing of a project is added to it.

use serde::de::DeserializeOwned;

use crate::key::SecurityKey;
use crate::reserved::neutralise_value;
use crate::turn::{Mode, PlatformError, Turn};
use crate::value::{Map, Value};

/// What the operator wrote: it stays as it is.
const OPERATOR: [&str; 5] = ["agent", "agentMetadata", "layout", "props", "skills"];

/// What changes from turn to turn, and has a place of its own in a prompt.
const OF_THE_TURN: [&str; 3] = ["user_input", "messages", "tools"];

/// Where a context repeats parts of itself.
const MIRRORS: [&str; 3] = ["vars", "session", "context"];

/// The part of a context that is the same from turn to turn, with texts from outside neutralised,
/// and with this key and no other.
#[must_use]
pub fn lasting(context: &Map, key: &SecurityKey) -> Map {
    let mut lasting: Map = context
        .iter()
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
    without_turn(&mut lasting, key);
    lasting
}

/// Takes away what belongs to the turn, here and wherever it is repeated.
fn without_turn(context: &mut Map, key: &SecurityKey) {
    context.retain(|name, _| !OF_THE_TURN.contains(&name.as_str()));
    if let Some(known) = context.get_mut("security_key") {
        *known = key.as_str().into();
    }
    for name in MIRRORS {
        if let Some(Value::Map(mirror)) = context.get_mut(name) {
            without_turn(mirror, key);
        }
    }
}

/// Every text of a context but its keys: if one of them contains the key, another must be drawn.
#[must_use]
pub fn texts(context: &Map) -> Vec<&str> {
    let mut texts = Vec::new();
    for (name, value) in context {
        match value {
            Value::Map(mirror) if MIRRORS.contains(&name.as_str()) => {
                texts.extend(self::texts(mirror));
            }
            _ if name == "security_key" => {}
            _ => value.collect_texts(&mut texts),
        }
    }
    texts
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
    if let Some(Value::Map(metadata)) = context.get("metadata") {
        turn.metadata.clone_from(metadata);
    }
    let tools = context.get("tools").and_then(|tools| tools.get("list"));
    turn.tools = read_list("tools.list", tools)?;
    turn.messages = read_list("messages", context.get("messages"))?;
    Ok(turn)
}

/// Reads a list of things that JSON describes.
fn read_list<T: DeserializeOwned>(
    name: &'static str,
    list: Option<&Value>,
) -> Result<Vec<T>, GivenError> {
    let items = list.and_then(Value::as_list).unwrap_or_default();
    let read = |(index, item)| {
        let json = serde_json::to_string(item);
        json.and_then(|json| serde_json::from_str(&json))
            .map_err(|error| GivenError::Item {
                name,
                index,
                reason: error.to_string(),
            })
    };
    items.iter().enumerate().map(read).collect()
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
    /// A message or a tool is none.
    #[error("{name}[{index}]: {reason}")]
    Item {
        /// The list.
        name: &'static str,
        /// Which one, from 0.
        index: usize,
        /// Why.
        reason: String,
    },
}
