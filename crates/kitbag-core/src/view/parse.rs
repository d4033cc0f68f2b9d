//! Reads a view from configuration, with errors that name the field.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::View;
use crate::conversation::ConversationView;
use crate::entity::EntityView;
use crate::reasoning::{RECENT_SUMMARIES, ReasoningView};

impl TryFrom<Value> for View {
    type Error = ViewError;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let top = Fields::new("", value)?;
        top.expect(&["name", "entity", "conversation", "reasoning", "additions"])?;
        let view = Self {
            name: Cow::Owned(top.get("name")?.unwrap_or_default()),
            entity: entity(top.section("entity")?)?,
            conversation: conversation(top.section("conversation")?)?,
            reasoning: reasoning(top.section("reasoning")?)?,
            additions: Cow::Owned(top.get("additions")?.unwrap_or_default()),
        };
        Ok(view)
    }
}

/// A view that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("view field `{field}`: {problem}")]
pub struct ViewError {
    /// The field, such as `entity.active`.
    pub field: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

fn entity(fields: Fields) -> Result<EntityView, ViewError> {
    fields.expect(&["active", "generated", "retained"])?;
    Ok(EntityView {
        active: fields.get("active")?.unwrap_or_default(),
        generated: fields.get("generated")?.unwrap_or_default(),
        retained: fields.get("retained")?.unwrap_or_default(),
    })
}

fn conversation(fields: Fields) -> Result<ConversationView, ViewError> {
    fields.expect(&["depth", "also", "recent_turns"])?;
    let default = ConversationView::default();
    Ok(ConversationView {
        depth: fields.get("depth")?.unwrap_or(default.depth),
        also: Cow::Owned(fields.get("also")?.unwrap_or_default()),
        recent_turns: fields.get("recent_turns")?.unwrap_or(default.recent_turns),
    })
}

fn reasoning(fields: Fields) -> Result<ReasoningView, ViewError> {
    fields.expect(&[
        "past_steps",
        "past_turns",
        "current_steps",
        "curation",
        "phase",
    ])?;
    Ok(ReasoningView {
        past_steps: fields.get("past_steps")?.unwrap_or_default(),
        past_turns: fields.get("past_turns")?.unwrap_or(RECENT_SUMMARIES),
        current_steps: fields.get("current_steps")?.unwrap_or_default(),
        curation: fields.get("curation")?.unwrap_or_default(),
        phase: fields.get("phase")?.unwrap_or_default(),
    })
}

/// The fields of a section, and where it stands.
struct Fields {
    path: &'static str,
    map: Map<String, Value>,
}

impl Fields {
    fn new(path: &'static str, value: Value) -> Result<Self, ViewError> {
        match value {
            Value::Object(map) => Ok(Self { path, map }),
            Value::Null => Ok(Self {
                path,
                map: Map::new(),
            }),
            other => {
                let field = if path.is_empty() { "view" } else { path };
                let problem = format!("`{other}` is not a map of fields");
                Err(ViewError {
                    field: field.to_owned(),
                    problem,
                })
            }
        }
    }

    fn section(&self, name: &'static str) -> Result<Self, ViewError> {
        Self::new(name, self.map.get(name).cloned().unwrap_or_default())
    }

    /// Refuses fields that are not `known`: a misspelt one would silently hide something.
    fn expect(&self, known: &[&str]) -> Result<(), ViewError> {
        match self.map.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let problem = format!("unknown field, expected one of {}", known.join(", "));
                Err(ViewError {
                    field: self.path_of(name),
                    problem,
                })
            }
        }
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ViewError> {
        let Some(value) = self.map.get(name) else {
            return Ok(None);
        };
        serde_json::from_value(value.clone())
            .map(Some)
            .map_err(|error| ViewError {
                field: self.path_of(name),
                problem: error.to_string(),
            })
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }
}
