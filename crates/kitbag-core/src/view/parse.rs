//! Reads a view from configuration, with errors that name the field.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value};

use super::View;

/// The fields that can be written, each with the fields inside it.
const FIELDS: [(&str, &[&str]); 4] = [
    ("entity", &["active", "generated", "retained"]),
    ("conversation", &["depth", "also", "recent_turns"]),
    (
        "reasoning",
        &[
            "past_steps",
            "past_turns",
            "current_steps",
            "curation",
            "phase",
        ],
    ),
    ("additions", &[]),
];

impl View {
    /// Reads the view of the node `name`.
    ///
    /// A node named like a built-in one starts as that, and only the fields that are written
    /// change; any other starts with nothing shown.
    ///
    /// ```
    /// use kitbag_core::view::View;
    /// use serde_json::json;
    ///
    /// let think = View::read("think", json!({"conversation": {"recent_turns": 4}})).unwrap();
    /// assert_eq!(think.conversation.recent_turns, 4);
    /// assert_eq!(think.entity, View::builtin("think").unwrap().entity);
    /// ```
    ///
    /// # Errors
    /// If a field is unknown or has a value that it cannot have; the error names the field.
    pub fn read(name: &str, written: Value) -> Result<Self, ViewError> {
        let mut view = Self::builtin(name).cloned().unwrap_or_else(|| Self {
            name: Cow::Owned(name.to_owned()),
            ..Self::default()
        });
        for (field, value) in fields("view", written)? {
            let known = FIELDS.iter().find(|(known, _)| *known == field);
            let Some((layer, known)) = known else {
                return Err(unknown(field, &FIELDS.map(|(known, _)| known)));
            };
            if known.is_empty() {
                view = view.with(field, value)?;
                continue;
            }
            // Field by field, so that fields which are not written keep the built-in value.
            for (name, value) in fields(layer, value)? {
                let field = format!("{layer}.{name}");
                if !known.contains(&name.as_str()) {
                    return Err(unknown(field, known));
                }
                view = view.with(field, value)?;
            }
        }
        Ok(view)
    }

    /// Returns the view with another value of a field.
    fn with(&self, field: String, value: Value) -> Result<Self, ViewError> {
        let changed = || {
            // Through JSON, where each field checks its own value.
            let mut view = serde_json::to_value(self)?;
            let pointer = format!("/{}", field.replace('.', "/"));
            // `FIELDS` has only fields that every view writes.
            if let Some(old) = view.pointer_mut(&pointer) {
                *old = value;
            }
            serde_json::from_value(view)
        };
        changed().map_err(|error: serde_json::Error| ViewError {
            problem: error.to_string(),
            field,
        })
    }
}

/// A view that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("view field `{field}`: {problem}")]
pub struct ViewError {
    /// The field, such as `entity.active`.
    pub field: String,
    /// The mistake, and the expected value.
    pub problem: String,
}

/// Returns the fields of a map; none for `null`.
fn fields(path: &str, value: Value) -> Result<Map<String, Value>, ViewError> {
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        other => Err(ViewError {
            field: path.to_owned(),
            problem: format!("`{other}` is not a map of fields"),
        }),
    }
}

/// Refuses a field that is not `known`: a misspelt one would silently hide something.
fn unknown(field: String, known: &[&str]) -> ViewError {
    let problem = format!("unknown field, expected one of {}", known.join(", "));
    ViewError { field, problem }
}

/// Reads a number of turns.
pub(crate) fn number_of_turns<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let value = Value::deserialize(from)?;
    let number = value.as_u64().and_then(|count| usize::try_from(count).ok());
    number.ok_or_else(|| D::Error::custom(format!("`{value}` is not a number of turns")))
}
