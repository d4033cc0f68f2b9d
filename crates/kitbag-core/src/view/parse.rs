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
    pub fn read(name: &str, value: Value) -> Result<Self, ViewError> {
        let base = Self::builtin(name).cloned().unwrap_or_else(|| Self {
            name: Cow::Owned(name.to_owned()),
            reasoning: ReasoningView {
                past_turns: RECENT_SUMMARIES,
                ..ReasoningView::default()
            },
            ..Self::default()
        });
        let top = Fields::new("", value)?;
        top.expect(&["entity", "conversation", "reasoning", "additions"])?;
        Ok(Self {
            name: base.name,
            entity: entity(top.section("entity")?, base.entity)?,
            conversation: conversation(top.section("conversation")?, base.conversation)?,
            reasoning: reasoning(top.section("reasoning")?, base.reasoning)?,
            additions: top.get("additions")?.map_or(base.additions, Cow::Owned),
        })
    }
}

/// As [`View::read`], with the name among the fields.
impl TryFrom<Value> for View {
    type Error = ViewError;

    fn try_from(mut value: Value) -> Result<Self, Self::Error> {
        let name = match value.as_object_mut().and_then(|map| map.remove("name")) {
            None => String::new(),
            Some(Value::String(name)) => name,
            Some(other) => {
                return Err(ViewError {
                    field: "name".to_owned(),
                    problem: format!("`{other}` is not a name"),
                });
            }
        };
        Self::read(&name, value)
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

fn entity(fields: Fields, base: EntityView) -> Result<EntityView, ViewError> {
    fields.expect(&["active", "generated", "retained"])?;
    Ok(EntityView {
        active: fields.get("active")?.unwrap_or(base.active),
        generated: fields.get("generated")?.unwrap_or(base.generated),
        retained: fields.get("retained")?.unwrap_or(base.retained),
    })
}

fn conversation(fields: Fields, base: ConversationView) -> Result<ConversationView, ViewError> {
    fields.expect(&["depth", "also", "recent_turns"])?;
    Ok(ConversationView {
        depth: fields.get("depth")?.unwrap_or(base.depth),
        also: fields.get("also")?.map_or(base.also, Cow::Owned),
        recent_turns: fields.count("recent_turns")?.unwrap_or(base.recent_turns),
    })
}

fn reasoning(fields: Fields, base: ReasoningView) -> Result<ReasoningView, ViewError> {
    fields.expect(&[
        "past_steps",
        "past_turns",
        "current_steps",
        "curation",
        "phase",
    ])?;
    Ok(ReasoningView {
        past_steps: fields.get("past_steps")?.unwrap_or(base.past_steps),
        past_turns: fields.count("past_turns")?.unwrap_or(base.past_turns),
        current_steps: fields.get("current_steps")?.unwrap_or(base.current_steps),
        curation: fields.get("curation")?.unwrap_or(base.curation),
        phase: fields.get("phase")?.unwrap_or(base.phase),
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

    /// A number of turns.
    fn count(&self, name: &str) -> Result<Option<usize>, ViewError> {
        let Some(value) = self.map.get(name) else {
            return Ok(None);
        };
        let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
        let wrong = || ViewError {
            field: self.path_of(name),
            problem: format!("`{value}` is not a number of turns"),
        };
        count.map(Some).ok_or_else(wrong)
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }
}
