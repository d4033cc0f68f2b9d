//! A task on its way to a model: the request, with its context, tools and budget.

mod context;
mod infer;
mod wording;

pub use context::{CompressedContext, ExcludedChunk};
pub use infer::{Inferred, asks_for_review};
pub use wording::{context_note, ending};

use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::budget::TokenBudget;
use crate::time;

/// A task with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskEnvelope {
    /// The kind of task.
    pub task_type: TaskType,
    pub user_request: String,
    /// The input as it came in.
    pub original_input: String,
    /// The context that was gathered and fitted.
    #[serde(default)]
    pub context: CompressedContext,
    /// The tools on offer.
    #[serde(default)]
    pub tools: Vec<ToolDefinition>,
    /// The results of the task so far.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// The session it belongs to.
    pub session_id: String,
    /// The time at which it came in.
    #[serde(deserialize_with = "time::lenient")]
    pub created_at: Timestamp,
    /// The tokens that it may use.
    #[serde(default)]
    pub token_budget: TokenBudget,
}

impl TaskEnvelope {
    /// Creates a task with no context, no tools and the default budget.
    #[must_use]
    pub fn new(
        task_type: TaskType,
        request: impl Into<String>,
        session_id: impl Into<String>,
        created_at: Timestamp,
    ) -> Self {
        let request = request.into();
        Self {
            task_type,
            // The same at first; a router may rewrite the request later, and the input stays.
            original_input: request.clone(),
            user_request: request,
            context: CompressedContext::default(),
            tools: Vec::new(),
            artifacts: Vec::new(),
            session_id: session_id.into(),
            created_at,
            token_budget: TokenBudget::default(),
        }
    }
}

/// The kinds of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskType {
    /// Build something new.
    Implement,
    /// Find and mend a fault.
    Debug,
    /// Change the shape, not the behaviour.
    Refactor,
    /// Write tests.
    Test,
    /// Understand and explain.
    Analyze,
    /// Judge a change.
    Review,
}

names!(TaskType {
    Implement = "implement",
    Debug = "debug",
    Refactor = "refactor",
    Test = "test",
    Analyze = "analyze",
    Review = "review",
});

impl FromStr for TaskType {
    type Err = TaskTypeError;

    fn from_str(text: &str) -> Result<Self, TaskTypeError> {
        Self::ALL
            .into_iter()
            // Other programs write these words in capitals.
            .find(|task_type| task_type.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| TaskTypeError { value: text.into() })
    }
}

/// A task type that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown task type `{value}`; expected implement, debug, refactor, test, analyze or review"
)]
pub struct TaskTypeError {
    /// The rejected value.
    pub value: String,
}

/// A tool that the model may call. The schema's keys are kept sorted, so that equal tools are
/// equal bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name, unique among the tools.
    pub name: String,
    /// Its purpose, in words for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON schema of its arguments.
    // OpenAI calls it `parameters`.
    #[serde(default = "no_arguments", alias = "parameters")]
    pub input_schema: Value,
}

impl ToolDefinition {
    /// Creates a tool.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
        }
    }
}

fn no_arguments() -> Value {
    // Providers refuse a tool whose schema is missing or is no object.
    serde_json::json!({ "type": "object", "properties": {} })
}

/// Something that a task produced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Artifact {
    /// Its kind, such as `file`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Artifact {
    /// Creates a file that the task wrote.
    #[must_use]
    pub fn file(path: impl Into<String>) -> Self {
        Self {
            kind: "file".into(),
            path: Some(path.into()),
            extra: Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p01_envelope_json_round_trip() {
        let mut envelope = TaskEnvelope::new(
            TaskType::Implement,
            "add a login",
            "session_abc123",
            "2024-01-15T10:30:00Z".parse().unwrap(),
        );
        envelope.artifacts.push(Artifact::file("src/auth.py"));
        envelope
            .tools
            .push(ToolDefinition::new("read", "Reads a file.", no_arguments()));
        let json = serde_json::to_value(&envelope).unwrap();
        assert_eq!(json["task_type"], "implement");
        assert_eq!(json["artifacts"][0]["type"], "file");
        assert_eq!(json["token_budget"]["total"], 8000);
        assert_eq!(
            serde_json::from_value::<TaskEnvelope>(json).unwrap(),
            envelope
        );
    }

    #[test]
    fn p01_a_minimal_envelope_loads_with_defaults() {
        let json = r#"{"task_type":"debug","user_request":"x","original_input":"x",
            "session_id":"s","created_at":"2024-01-15T10:30:00"}"#;
        let envelope: TaskEnvelope = serde_json::from_str(json).unwrap();
        assert_eq!(envelope.token_budget, TokenBudget::default());
        assert_eq!(envelope.created_at, "2024-01-15T10:30:00Z".parse().unwrap());
    }

    #[test]
    fn p01_six_task_types_and_no_other() {
        for task_type in TaskType::ALL {
            assert_eq!(task_type.as_str().parse(), Ok(task_type));
            assert!(ending(Some(task_type), "x").contains(task_type.as_str()));
        }
        let error = "deploy".parse::<TaskType>().unwrap_err();
        assert!(error.to_string().contains("deploy"));
    }
}
