//! `kitbag checkpoint`: saves the state of a task, and resumes it.

mod list;
mod resume;
mod save;

use std::path::PathBuf;

use clap::Subcommand;
use kitbag::checkpoint::{CheckpointError, Checkpoints, SessionId};

use crate::failure::Failure;
use crate::output;

/// Saves the state of a task and its context, to resume it later
///
/// A checkpoint is a JSON file in .kitbag/sessions below the root, named after its session. It holds
/// the request, the type and state of the task, the code that was packed for it, the files that it made, and
/// the conversation. Packs never include it, and git ignores it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag checkpoint save redirect --task \"fix the login redirect\"
  kitbag checkpoint save redirect --state paused --artifact src/login.rs
  kitbag checkpoint resume redirect")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// The folder of the project
    #[arg(
        short = 'C',
        long,
        global = true,
        value_name = "FOLDER",
        default_value = "."
    )]
    root: PathBuf,
    /// The folder of the checkpoints [default: .kitbag/sessions below the root]
    #[arg(long, global = true, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    Save(save::Args),
    List(list::Args),
    /// Prints a checkpoint as JSON
    #[command(after_help = "Example: kitbag checkpoint show redirect")]
    Show(Session),
    Resume(resume::Args),
    /// Deletes a checkpoint
    #[command(after_help = "Example: kitbag checkpoint delete redirect")]
    Delete(Session),
}

#[derive(clap::Args)]
struct Session {
    /// The name of the session: ASCII letters, digits, `_`, `-` and `.`
    id: SessionId,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let root = &args.root;
    let checkpoints = match &args.folder {
        Some(folder) => Checkpoints::new(folder),
        None => Checkpoints::in_root(root),
    };
    match &args.command {
        Command::Save(args) => save::run(args, &checkpoints, root),
        Command::List(args) => list::run(args, &checkpoints),
        Command::Show(session) => Ok(output::print_json(&checkpoints.restore(&session.id)?)?),
        Command::Resume(args) => resume::run(args, &checkpoints, root),
        Command::Delete(session) => {
            checkpoints.delete(&session.id)?;
            let id = &session.id;
            output::say(format_args!("deleted the checkpoint of session {id}"));
            Ok(())
        }
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        let hint = match &error {
            CheckpointError::NotFound { .. } => {
                "`kitbag checkpoint list` shows which sessions have one".into()
            }
            other => other.hint(),
        };
        Self::new(&error).hint(hint)
    }
}
