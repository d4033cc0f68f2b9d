//! Prints what a model needs to go on with a task, and marks the task as running.

use jiff::Timestamp;
use kitbag::checkpoint::{Checkpoint, CheckpointState, Checkpoints, SessionId};
use kitbag::core::assembly::{AssemblySettings, Draft, OutputForm, render};
use kitbag::core::envelope::Artifact;
use kitbag::core::neutral::{json_line, one_line};
use kitbag::core::tokens::Tokens;

use super::failure;
use crate::failure::Failure;
use crate::output::{self, grouped};

/// Prints what a model needs to go on with a task, and marks it as running
///
/// The state, what was made, what was said, and the request. The code is not in it: pack that anew,
/// as it is now.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The session: ASCII letters, digits, `_`, `-` and `.`
    id: SessionId,
    /// Prints the checkpoint as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, checkpoints: &Checkpoints) -> Result<(), Failure> {
    let former = checkpoints.restore(&args.id).map_err(failure)?;
    let mut resumed = former.clone().with_state(CheckpointState::Running);
    resumed.timestamp = Timestamp::now();
    if args.json {
        output::print_json(&resumed)?;
    } else {
        output::print(&told(&former))?;
    }
    // Only what somebody has received is taken up.
    checkpoints.save(&resumed).map_err(failure)?;
    Ok(())
}

/// The checkpoint in words: nothing that was said or made can pass for a heading or a request.
fn told(checkpoint: &Checkpoint) -> String {
    let mut draft = Draft::new(checkpoint.user_request.as_str());
    draft.identity = summary(checkpoint);
    draft.history.clone_from(&checkpoint.conversation_history);
    let settings = AssemblySettings::new(OutputForm::Markdown, Tokens(u32::MAX));
    render(&draft, &[], &settings).body
}

fn summary(checkpoint: &Checkpoint) -> String {
    let (id, time) = (&checkpoint.session_id, checkpoint.timestamp);
    let task_type = checkpoint.task_type.as_str();
    let state = one_line(checkpoint.state.as_str());
    let mut summary = format!(
        "This continues session {id}, of type {task_type}, which was {state} at {time:.0}."
    );
    let context = &checkpoint.context_summary;
    if context.chunks_included > 0 {
        summary.push_str(&format!(
            " Its context had {} chunks with {} tokens.",
            grouped(context.chunks_included as u64),
            grouped(context.tokens_used.0)
        ));
    }
    if !checkpoint.artifacts.is_empty() {
        summary.push_str("\n\n## Artifacts");
        for artifact in &checkpoint.artifacts {
            summary.push_str(&format!("\n- {}", described(artifact)));
        }
    }
    summary
}

fn described(artifact: &Artifact) -> String {
    let kind = one_line(&artifact.kind);
    let path = artifact.path.as_deref().map(one_line).unwrap_or_default();
    let mut described = format!("{kind}: {path}");
    if !artifact.extra.is_empty() {
        described.push_str(&format!(" {}", json_line(&artifact.extra.clone().into())));
    }
    described
}
