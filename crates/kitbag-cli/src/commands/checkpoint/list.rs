//! Lists the checkpoints of a project, the latest first.

use jiff::Timestamp;
use kitbag::checkpoint::{Checkpoint, CheckpointError, CheckpointState, Checkpoints, SessionId};
use kitbag::core::envelope::TaskType;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, beginning};

/// Lists the checkpoints, the latest first
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag checkpoint list")]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, checkpoints: &Checkpoints) -> Result<(), Failure> {
    let listing = checkpoints.list()?;
    // A damaged file must not hide the others.
    // On stderr, so that the JSON on stdout can be parsed.
    for problem in &listing.problems {
        output::say_error(&problem.to_string(), Some(&problem.hint()));
    }
    if args.json {
        let problems = listing.problems.iter().map(CheckpointError::to_string);
        return Ok(output::print_json(&Report {
            checkpoints: listing.checkpoints.iter().map(Row::of).collect(),
            problems: problems.collect(),
        })?);
    }
    if listing.checkpoints.is_empty() {
        let folder = checkpoints.folder().display();
        output::say(format_args!("no checkpoints in {folder}"));
    }
    Ok(output::print(&table(&listing.checkpoints))?)
}

#[derive(Serialize)]
struct Report<'a> {
    checkpoints: Vec<Row<'a>>,
    problems: Vec<String>,
}

/// A checkpoint without its artifacts and messages.
#[derive(Serialize)]
struct Row<'a> {
    session_id: &'a SessionId,
    timestamp: Timestamp,
    task_type: TaskType,
    user_request: &'a str,
    state: &'a CheckpointState,
    artifact_count: usize,
    message_count: usize,
}

impl<'a> Row<'a> {
    fn of(checkpoint: &'a Checkpoint) -> Self {
        Self {
            session_id: &checkpoint.session_id,
            timestamp: checkpoint.timestamp,
            task_type: checkpoint.task_type,
            user_request: &checkpoint.user_request,
            state: &checkpoint.state,
            artifact_count: checkpoint.artifacts.len(),
            message_count: checkpoint.conversation_history.len(),
        }
    }
}

fn table(checkpoints: &[Checkpoint]) -> String {
    let row = |checkpoint: &Checkpoint| {
        [
            checkpoint.session_id.to_string(),
            beginning(checkpoint.state.as_str(), 16),
            checkpoint.task_type.as_str().to_owned(),
            format!("{:.0}", checkpoint.timestamp),
            beginning(&checkpoint.user_request, 60),
        ]
    };
    let header = ["session", "state", "task", "saved", "request"];
    output::grid(&header, checkpoints.iter().map(row))
}
