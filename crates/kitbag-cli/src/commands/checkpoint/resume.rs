//! Prints the prompt that resumes a task, and marks the task as running.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use kitbag::checkpoint::{Checkpoint, CheckpointState, Checkpoints, SessionId};
use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::budget::parse_input;
use kitbag::core::chunk::{ChunkType, ContextChunk, Relevance};
use kitbag::core::tokens::Tokens;
use kitbag::pack::truncatable;

use crate::counter::CounterArgs;
use crate::failure::Failure;
use crate::internal::InternalArgs;
use crate::output::{self, one_line};
use crate::prompt::{Show, deliver};

/// Prints the prompt that continues a task, and marks the task as running
///
/// The prompt holds the state, the saved code, the artifacts, the conversation and the request, as far as
/// they fit into the budget. Files that have changed since the checkpoint are named; `kitbag checkpoint save
/// ID --budget 32k` packs them again.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag checkpoint resume redirect --budget 16k")]
pub(super) struct Args {
    /// The name of the session: ASCII letters, digits, `_`, `-` and `.`
    id: SessionId,
    /// Limit the prompt to this many tokens, as for `kitbag pack`
    #[arg(short, long, value_name = "TOKENS", value_parser = parse_input, default_value = "32k", allow_negative_numbers = true)]
    budget: Tokens,
    #[command(flatten)]
    counter: CounterArgs,
    #[command(flatten)]
    internal: InternalArgs,
    /// Print the checkpoint as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, checkpoints: &Checkpoints, root: &Path) -> Result<(), Failure> {
    let former = checkpoints.restore(&args.id)?;
    let mut resumed = former.clone().with_state(CheckpointState::Running);
    resumed.timestamp = Timestamp::now();
    if args.json {
        output::print_json(&resumed)?;
    } else {
        print(&former, args)?;
        say_changed(&former, root);
    }
    // Saved last: a prompt that could not be printed has not resumed the task.
    checkpoints.save(&resumed)?;
    Ok(())
}

/// Prints the checkpoint as a prompt, in which no message or artifact can imitate a heading or a request.
fn print(checkpoint: &Checkpoint, args: &Args) -> Result<(), Failure> {
    let (counter, traits) = args.counter.counter()?;
    // The saved chunks were chosen already, so no relevance is too low: only the budget may leave some out.
    let settings = AssemblySettings::new(OutputForm::Markdown, args.budget)
        .with_floor(Relevance::from_ppm(0))
        .with_traits(traits.unwrap_or_default());
    let mut chunks = chunks(checkpoint).to_vec();
    // Saved chunks have one level; with shorter ones a smaller budget shows parts instead of nothing.
    chunks.iter_mut().for_each(truncatable);
    let composed = checkpoint
        .prompt(chunks, settings, &counter)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    let body = args.internal.body_of(&composed);
    deliver(Show::Prompt, &composed, &body, &counter)
}

fn chunks(checkpoint: &Checkpoint) -> &[ContextChunk] {
    let context = checkpoint.context.as_ref();
    context.map_or(&[], |context| &context.chunks)
}

/// Names the files that have changed since the checkpoint, as far as their times show.
fn say_changed(checkpoint: &Checkpoint, root: &Path) {
    let is_newer = |chunk: &&ContextChunk| {
        let modified = fs::metadata(root.join(&chunk.source)).and_then(|file| file.modified());
        let modified = modified
            .ok()
            .and_then(|time| Timestamp::try_from(time).ok());
        // A missing file counts as changed: the saved text of it is out of date as well.
        modified.is_none_or(|modified| modified > checkpoint.timestamp)
    };
    let files = chunks(checkpoint).iter();
    let files = files.filter(|chunk| chunk.chunk_type == ChunkType::File);
    for changed in files.filter(is_newer) {
        let path = one_line(&changed.source);
        output::say(format_args!("note: {path} was changed or deleted since"));
    }
}
