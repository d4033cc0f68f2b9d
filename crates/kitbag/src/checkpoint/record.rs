//! A checkpoint and its JSON. Fields that are not known here are kept, in every part of it.

use jiff::Timestamp;
use kitbag_core::chunk::ContextChunk;
use kitbag_core::envelope::{Artifact, CompressedContext, TaskEnvelope, TaskType};
use kitbag_core::message::Message;
use kitbag_core::tokens::Tokens;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use super::{SessionId, SessionIdError};

/// The state of a task at one moment, to resume it later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The session that works on the task.
    pub session_id: SessionId,
    /// The time of the checkpoint.
    #[serde(deserialize_with = "lenient_time")]
    pub timestamp: Timestamp,
    /// The kind of task.
    pub task_type: TaskType,
    pub user_request: String,
    /// The progress.
    #[serde(default)]
    pub state: CheckpointState,
    /// The figures of the context that was used last.
    #[serde(default)]
    pub context_summary: ContextSummary,
    /// The chunks of that context, where they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<SavedContext>,
    /// The results so far.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// The messages so far, oldest first.
    #[serde(default)]
    pub conversation_history: Vec<Message>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Checkpoint {
    /// A running task as it is now, with nothing said yet.
    ///
    /// # Errors
    /// When the session's id cannot name a file.
    pub fn of(task: &TaskEnvelope, now: Timestamp) -> Result<Self, SessionIdError> {
        Ok(Self {
            // The id becomes a file name, so what cannot be one is refused here.
            session_id: task.session_id.parse()?,
            timestamp: now,
            task_type: task.task_type,
            user_request: task.user_request.clone(),
            state: CheckpointState::Running,
            context_summary: ContextSummary::of(&task.context),
            // An empty context would look as if code had been chosen and none was found.
            context: (!task.context.chunks.is_empty()).then(|| SavedContext::of(&task.context)),
            artifacts: task.artifacts.clone(),
            conversation_history: Vec::new(),
            extra: Map::new(),
        })
    }

    /// The same with the context that was chosen.
    #[must_use]
    pub fn with_context(mut self, context: &CompressedContext) -> Self {
        self.context_summary = ContextSummary::of(context);
        self.context = Some(SavedContext::of(context));
        self
    }

    /// The same in another state.
    #[must_use]
    pub fn with_state(mut self, state: CheckpointState) -> Self {
        self.state = state;
        self
    }

    /// The task to continue, with the saved context.
    #[must_use]
    pub fn resume(&self) -> TaskEnvelope {
        let mut task = TaskEnvelope::new(
            self.task_type,
            self.user_request.as_str(),
            self.session_id.as_str(),
            self.timestamp,
        );
        task.artifacts.clone_from(&self.artifacts);
        if let Some(context) = &self.context {
            task.context.chunks.clone_from(&context.chunks);
            // As it was counted then: another tokenizer may count the same chunks differently now.
            task.context.tokens_used = self.context_summary.tokens_used;
        }
        task
    }
}

/// The chunks of a context, each at the level that was chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedContext {
    /// The chunks, the best first.
    #[serde(default)]
    pub chunks: Vec<ContextChunk>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl SavedContext {
    fn of(context: &CompressedContext) -> Self {
        Self {
            chunks: context.chunks.clone(),
            extra: Map::new(),
        }
    }
}

/// The progress of a task. An open set: programs have states of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", rename_all = "lowercase")]
#[non_exhaustive]
pub enum CheckpointState {
    /// Someone is at it, or was when it stopped.
    #[default]
    Running,
    /// It waits to be resumed.
    Paused,
    /// It is done.
    Completed,
    /// It ended without being done.
    Failed,
    /// Another state.
    #[serde(untagged)]
    Other(String),
}

impl CheckpointState {
    /// The state as it is spelled in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Other(state) => state,
        }
    }
}

impl From<String> for CheckpointState {
    fn from(text: String) -> Self {
        let known = [Self::Running, Self::Paused, Self::Completed, Self::Failed];
        let known = known.into_iter().find(|state| state.as_str() == text);
        // Through `as_str`, so that a state is spelled in one place for both directions.
        known.unwrap_or(Self::Other(text))
    }
}

/// The figures of a context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ContextSummary {
    /// The number of chunks.
    pub chunks_included: usize,
    /// The number of their tokens.
    pub tokens_used: Tokens,
    /// The share of the budget that this was.
    pub utilization: f64,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ContextSummary {
    /// The figures of this context, the share to a thousandth.
    #[must_use]
    pub fn of(context: &CompressedContext) -> Self {
        Self {
            chunks_included: context.chunks.len(),
            tokens_used: context.tokens_used,
            utilization: f64::from(context.utilization_permille()) / 1_000.0,
            extra: Map::new(),
        }
    }
}

/// Also reads a time without a zone, which then is UTC.
fn lenient_time<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let value = Value::deserialize(from)?;
    kitbag_core::time::from_json(&value).ok_or_else(|| {
        de::Error::custom(format!(
            "{value} is not a time; expected one such as \"2024-01-15T10:30:00Z\""
        ))
    })
}
