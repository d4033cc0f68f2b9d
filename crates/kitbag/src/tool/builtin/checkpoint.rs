//! The tool that saves where a task stands, and takes it up again.

use jiff::Timestamp;
use kitbag_core::assembly::{AssemblySettings, OutputForm};
use kitbag_core::budget::{Share, TokenBudget};
use kitbag_core::chunk::Relevance;
use kitbag_core::envelope::{Artifact, TaskEnvelope, TaskType};
use kitbag_core::tokens::Tokens;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BUDGET, LARGEST, ToolScope};
use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointState, Checkpoints, SessionId};
use crate::pack::{prepare, truncatable};
use crate::tool::{Effect, Tool, ToolError, json_text};

pub(super) struct CheckpointTool(pub(super) ToolScope);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What to do
    action: Action,
    /// The session: ASCII letters, digits, `_`, `-` and `.`; needed for all but `list`
    session: Option<String>,
    /// What is to be done; begins a session, or changes what a session is about
    task: Option<String>,
    /// How far it is: running, paused, completed, failed, or a word of your own
    state: Option<String>,
    /// Files that the task has made or changed
    #[serde(default)]
    artifacts: Vec<String>,
    /// The most tokens of the prompt of `resume`, 8000 unless it is given
    budget: Option<u32>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// Saves where a task stands, with the code that it needs
    Save,
    /// Lists the sessions, the latest first
    List,
    /// Gives the prompt with which a session goes on
    Resume,
    /// Deletes a checkpoint
    Delete,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The sessions, or the one that was meant
    sessions: Vec<Session>,
    /// The prompt with which it goes on
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    /// True if the session's checkpoint was deleted
    is_deleted: bool,
    /// What did not go as asked
    problems: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Session {
    id: String,
    task: String,
    task_type: String,
    state: String,
    #[schemars(with = "String")]
    saved: Timestamp,
    /// The files that it has made or changed
    artifacts: Vec<String>,
}

/// So many sessions are listed.
const MOST: usize = 50;

impl Tool for CheckpointTool {
    type Arguments = Arguments;
    type Output = Output;
    const NAME: &'static str = "checkpoint";
    const DESCRIPTION: &'static str = "Saves where a task stands so that another conversation can resume it, lists what \
        was saved, gives the prompt with which a session goes on, or deletes it.";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(&self, asked: Arguments) -> Result<Output, ToolError> {
        let checkpoints = Checkpoints::in_root(&self.0.root);
        // The only action without a session.
        if matches!(asked.action, Action::List) {
            let listing = checkpoints.list()?;
            let sessions = listing.checkpoints.iter().take(MOST);
            return Ok(Output {
                sessions: sessions.map(Session::of).collect(),
                prompt: None,
                is_deleted: false,
                problems: listing.problems.iter().map(ToString::to_string).collect(),
            });
        }
        let Some(named) = &asked.session else {
            let problem = "`session` is missing";
            return Err(ToolError::arguments(Self::NAME, problem));
        };
        let id: SessionId = named
            .parse()
            .map_err(|error| ToolError::arguments(Self::NAME, error))?;
        let mut prompt = None;
        let checkpoint = match asked.action {
            Action::Save => self.save(&checkpoints, &id, &asked).await?,
            Action::Delete => {
                // Read first, so that the model is told what it has deleted.
                let gone = checkpoints.restore(&id)?;
                checkpoints.delete(&id)?;
                gone
            }
            // A list has returned above; the compiler wants the arm.
            Action::Resume | Action::List => {
                let former = checkpoints.restore(&id)?;
                // Made before the state changes: a prompt that does not fit has resumed nothing.
                prompt = Some(self.prompt(&former, asked.budget)?);
                let mut resumed = former.with_state(CheckpointState::Running);
                resumed.timestamp = (self.0.clock)();
                checkpoints.save(&resumed)?;
                resumed
            }
        };
        Ok(Output {
            sessions: vec![Session::of(&checkpoint)],
            prompt,
            is_deleted: matches!(asked.action, Action::Delete),
            problems: Vec::new(),
        })
    }

    fn text(output: &Output) -> String {
        match (&output.prompt, output.sessions.as_slice()) {
            (Some(prompt), _) => prompt.clone(),
            (None, [gone]) if output.is_deleted => format!(
                "deleted the checkpoint of session `{}`, {}, saved {}: {}",
                gone.id, gone.state, gone.saved, gone.task
            ),
            _ => json_text(output),
        }
    }
}

impl CheckpointTool {
    async fn save(
        &self,
        checkpoints: &Checkpoints,
        id: &SessionId,
        asked: &Arguments,
    ) -> Result<Checkpoint, ToolError> {
        let now = (self.0.clock)();
        let former = match checkpoints.restore(id) {
            Ok(former) => Some(former),
            Err(CheckpointError::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let mut checkpoint = match (former, &asked.task) {
            (Some(former), _) => former,
            (None, Some(task)) => {
                let task_type = TaskType::infer(task).task_type;
                let envelope = TaskEnvelope::new(task_type, task, id.as_str(), now);
                Checkpoint::of(&envelope, now).map_err(ToolError::new)?
            }
            (None, None) => {
                // A model often forgets the task of a session that it takes for an old one.
                let problem =
                    format!("session `{id}` has no checkpoint yet, and `task` is missing");
                return Err(ToolError::arguments(Self::NAME, problem));
            }
        };
        checkpoint.timestamp = now;
        if let Some(task) = &asked.task {
            checkpoint.user_request.clone_from(task);
        }
        if let Some(state) = &asked.state {
            checkpoint.state = state.clone().into();
        }
        for path in &asked.artifacts {
            let artifact = Artifact::file(path);
            let is_same =
                |other: &Artifact| other.kind == artifact.kind && other.path == artifact.path;
            if !checkpoint.artifacts.iter().any(is_same) {
                checkpoint.artifacts.push(artifact);
            }
        }
        // Packing takes a second, and the same task would give the same code.
        if checkpoint.context.is_none() || asked.task.is_some() {
            checkpoint = self.with_code(checkpoint).await?;
        }
        checkpoints.save(&checkpoint)?;
        Ok(checkpoint)
    }

    /// Keeps the code that a pack for the task would show.
    async fn with_code(&self, checkpoint: Checkpoint) -> Result<Checkpoint, ToolError> {
        let mut request = self.0.pack_request(&checkpoint.user_request, None);
        request.survey.task_type = Some(checkpoint.task_type);
        let prepared = prepare(&request.survey).await?;
        let mut envelope = checkpoint.resume();
        envelope.token_budget =
            TokenBudget::new(request.options.budget).with_input_share(Share::percent(100));
        prepared.fill(&mut envelope, &request.options, &self.0.counter)?;
        Ok(checkpoint.with_context(&envelope.context))
    }

    fn prompt(&self, checkpoint: &Checkpoint, budget: Option<u32>) -> Result<String, ToolError> {
        let budget = budget.map_or(BUDGET, |tokens| Tokens(tokens.min(LARGEST)));
        // What was kept was chosen already: only the budget may leave some of it out.
        let settings =
            AssemblySettings::new(OutputForm::Markdown, budget).with_floor(Relevance::from_ppm(0));
        let context = checkpoint.context.as_ref();
        let mut chunks = context
            .map(|context| context.chunks.clone())
            .unwrap_or_default();
        chunks.iter_mut().for_each(truncatable);
        let composed = checkpoint.prompt(chunks, settings, &self.0.counter);
        let composed = composed.map_err(|error| ToolError::new(&error).hint(Some(error.hint())))?;
        // The tool's caller may be a person's agent, which must not see internal messages.
        Ok(composed.body_for_people().text.into_owned())
    }
}

impl Session {
    fn of(checkpoint: &Checkpoint) -> Self {
        let artifacts = checkpoint.artifacts.iter();
        Self {
            id: checkpoint.session_id.to_string(),
            task: checkpoint.user_request.clone(),
            task_type: checkpoint.task_type.as_str().to_owned(),
            state: checkpoint.state.as_str().to_owned(),
            saved: checkpoint.timestamp,
            artifacts: artifacts.filter_map(|one| one.path.clone()).collect(),
        }
    }
}

impl From<CheckpointError> for ToolError {
    fn from(error: CheckpointError) -> Self {
        Self::new(&error).hint(Some(error.hint()))
    }
}
