//! Saves a checkpoint: from JSON, from options, or what was saved before with some of it changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kitbag::checkpoint::{Checkpoint, CheckpointError, CheckpointState, Checkpoints, SessionId};
use kitbag::core::budget::{Share, TokenBudget, parse_input};
use kitbag::core::envelope::{Artifact, TaskType};
use kitbag::core::tokens::Tokens;
use kitbag::pack::PackRequest;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::commands::pack::prepared;
use crate::counter::CounterArgs;
use crate::failure::Failure;
use crate::input;
use crate::output::{self, grouped};

/// Saves a checkpoint
///
/// The JSON is a checkpoint as `kitbag checkpoint show` prints it, or a `TaskEnvelope`; only the field
/// `user_request` is required. Without JSON, the options change the earlier checkpoint of the session; the
/// first checkpoint of a session needs `--task`. The code for the task is packed and saved with the first checkpoint,
/// and again whenever `--task`, `--task-type` or `--budget` is given.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag checkpoint save redirect --task \"fix the login redirect\"
  kitbag checkpoint save redirect --state paused --artifact src/login.rs
  my-agent | kitbag checkpoint save redirect -")]
pub(super) struct Args {
    /// The name of the session: ASCII letters, digits, `_`, `-` and `.`
    id: SessionId,
    /// The file with the checkpoint's JSON; `-` for stdin
    json: Option<PathBuf>,
    /// The task
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Type of the task: implement, debug, refactor, test, analyze or review [default: as before, or
    /// inferred from the task]
    #[arg(long, value_name = "TYPE")]
    task_type: Option<TaskType>,
    /// State of the task: running, paused, completed, failed, or a word of your own
    #[arg(long, value_name = "STATE")]
    state: Option<CheckpointState>,
    /// A file that the task has made or changed; may be repeated
    #[arg(long = "artifact", value_name = "FILE")]
    artifacts: Vec<String>,
    /// Limit the saved code to this many tokens, as for `kitbag pack` [default: 32k]
    #[arg(short, long, value_name = "TOKENS", value_parser = parse_input, allow_negative_numbers = true)]
    budget: Option<Tokens>,
    #[command(flatten)]
    counter: CounterArgs,
    /// Folder for the cache
    #[arg(
        long,
        value_name = "FOLDER",
        env = "KITBAG_CACHE_DIR",
        hide_env_values = true
    )]
    cache_dir: Option<PathBuf>,
    /// Save no code
    #[arg(long, conflicts_with = "budget")]
    no_context: bool,
}

pub(super) fn run(args: &Args, checkpoints: &Checkpoints, root: &Path) -> Result<(), Failure> {
    let now = Timestamp::now();
    let mut checkpoint = match &args.json {
        Some(path) => {
            let (name, json) = input::read_data(path, "the checkpoint")?;
            from_json(&json, &name, args, now)?
        }
        None => match checkpoints.restore(&args.id) {
            Ok(former) => former,
            Err(CheckpointError::NotFound { .. }) => begun(args, now)?,
            Err(error) => return Err(error.into()),
        },
    };
    // JSON may come from elsewhere, and keeps the time that it was made.
    if args.json.is_none() {
        checkpoint.timestamp = now;
    }
    change(&mut checkpoint, args);
    // The same task at the same budget would give the same code again.
    let is_changed = args.task.is_some() || args.task_type.is_some() || args.budget.is_some();
    if args.no_context {
        checkpoint.context = None;
    } else if args.json.is_none() && (checkpoint.context.is_none() || is_changed) {
        checkpoint = pack(checkpoint, args, root)?;
    }
    let file = checkpoints.save(&checkpoint)?;
    let context = checkpoint.context.as_ref();
    let kept = match context.map_or(0, |context| context.chunks.len()) {
        0 => String::new(),
        chunks => format!(" with {} chunks of context", grouped(chunks as u64)),
    };
    output::say(format_args!("saved {}{kept}", file.display()));
    Ok(())
}

/// Keeps the code that a pack for the task would show.
fn pack(checkpoint: Checkpoint, args: &Args, root: &Path) -> Result<Checkpoint, Failure> {
    let (counter, _) = args.counter.counter()?;
    let mut request = PackRequest::new(root, checkpoint.user_request.as_str());
    request.survey.task_type = Some(checkpoint.task_type);
    request.survey.cache_folder.clone_from(&args.cache_dir);
    if let Some(budget) = args.budget {
        request = request.with_budget(budget);
    }
    let prepared = prepared(&request)?;
    let mut envelope = checkpoint.resume();
    envelope.token_budget =
        // All of the budget, since the checkpoint keeps only the context and no answer.
        TokenBudget::new(request.options.budget).with_input_share(Share::percent(100));
    prepared.fill(&mut envelope, &request.options, &counter)?;
    Ok(checkpoint.with_context(&envelope.context))
}

/// A checkpoint of a task that has just begun.
fn begun(args: &Args, now: Timestamp) -> Result<Checkpoint, Failure> {
    if args.task.is_none() {
        let what = format!(
            "session `{}` has no checkpoint, and no task is given",
            args.id
        );
        let hint = "give the task with `--task TEXT`, or the checkpoint as JSON";
        return Err(Failure::usage(what).hint(hint));
    }
    from_json("{}", "the options", args, now)
}

/// The checkpoint in `json`, with what it may leave out.
fn from_json(json: &str, name: &str, args: &Args, now: Timestamp) -> Result<Checkpoint, Failure> {
    let wrong = |reason: String| {
        Failure::new(format_args!("{name} is not a checkpoint: {reason}"))
            .hint("`kitbag checkpoint show` prints what one looks like")
    };
    // The fields stay as they are written, down to the blocks of messages.
    let mut fields: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    default(&mut fields, "session_id", &args.id)?;
    default(&mut fields, "timestamp", &now)?;
    if let Some(task) = &args.task {
        default(&mut fields, "user_request", task)?;
    }
    let Some(request) = fields.get("user_request") else {
        return Err(wrong("it has no `user_request`".into()));
    };
    if !fields.contains_key("task_type") {
        let task_type = args.task_type.unwrap_or_else(|| inferred(request.get()));
        default(&mut fields, "task_type", &task_type)?;
    }
    let json = serde_json::to_string(&fields).map_err(|error| wrong(error.to_string()))?;
    let mut reader = serde_json::Deserializer::from_str(&json);
    let checkpoint: Checkpoint =
        serde_path_to_error::deserialize(&mut reader).map_err(|error| wrong(error.to_string()))?;
    // Two names for one checkpoint would let `resume` find the wrong one.
    if checkpoint.session_id != args.id {
        let (found, id) = (&checkpoint.session_id, &args.id);
        let what = format!("{name} is the checkpoint of session `{found}`, not of `{id}`");
        let hint = "leave out its `session_id`, or save it under that name";
        return Err(Failure::usage(what).hint(hint));
    }
    Ok(checkpoint)
}

/// Sets a field that is not there.
fn default(
    fields: &mut BTreeMap<String, Box<RawValue>>,
    name: &str,
    value: &impl Serialize,
) -> Result<(), Failure> {
    if !fields.contains_key(name) {
        let value = serde_json::value::to_raw_value(value).map_err(Failure::new)?;
        fields.insert(name.to_owned(), value);
    }
    Ok(())
}

/// Returns the type of task that a request seems to be, as JSON writes it.
fn inferred(request: &str) -> TaskType {
    let request: String = serde_json::from_str(request).unwrap_or_default();
    let inferred = TaskType::infer(&request);
    output::say(format_args!("note: the task type is {inferred}"));
    inferred.task_type
}

/// Changes what the options name.
fn change(checkpoint: &mut Checkpoint, args: &Args) {
    if let Some(task) = &args.task {
        checkpoint.user_request.clone_from(task);
    }
    if let Some(task_type) = args.task_type {
        checkpoint.task_type = task_type;
    }
    if let Some(state) = &args.state {
        checkpoint.state = state.clone();
    }
    for path in &args.artifacts {
        let artifact = Artifact::file(path);
        let is_same = |other: &Artifact| other.kind == artifact.kind && other.path == artifact.path;
        // Saving twice with the same `--artifact` lists the file once.
        if !checkpoint.artifacts.iter().any(is_same) {
            checkpoint.artifacts.push(artifact);
        }
    }
}
