//! `kitbag replay`: a prompt that was sent, made again byte for byte.

use kitbag::engine::replay as replay_prompt;
use kitbag::report::ReplayReport;
use kitbag::store::{StoreError, TurnId};

use crate::failure::Failure;
use crate::internal::InternalArgs;
use crate::output;
use crate::store::{self, StoreArgs};

/// Rebuilds a prompt that was sent, and prints it byte for byte
///
/// The prompt is made again from the archive and compared with the hash of what was sent. If it cannot be
/// rebuilt, or differs, an error says why and nothing is printed. Secrets in it are masked in the archive:
/// the prompt is then printed with the masks, and compared without the secrets. Internal messages, which
/// are for the model alone, are shown only with --internal.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag replay 7.12.3
  kitbag replay 7.12.3 --inference 0 --json")]
pub(crate) struct Args {
    /// The turn, such as 7.12.3
    turn: TurnId,
    /// Print this prompt of the turn, counted from 0, if it had several [default: the last]
    #[arg(long, value_name = "N")]
    inference: Option<u32>,
    #[command(flatten)]
    internal: InternalArgs,
    /// Print the prompt, its figures and its ledger as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    store::run(replay(args, store))
}

async fn replay(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let store = store.open().await?;
    let replayed = replay_prompt(&store, args.turn, args.inference).await;
    let replayed = replayed.map_err(|error| {
        // Only then does a list help; a damaged prompt has a hint of its own.
        let is_missing = matches!(error, StoreError::Missing { .. });
        Failure::from(error).hint_if(is_missing.then_some(LISTS))
    })?;
    let body = args.internal.body_of_replayed(&replayed);
    if replayed.prompt.masked > 0 && !args.json {
        let masked = replayed.prompt.masked;
        output::say(format_args!(
            "note: {masked} secrets of this prompt are masked in the store"
        ));
    }
    if !args.json {
        return Ok(output::print_exactly(&body)?);
    }
    Ok(output::print_json(&ReplayReport::of(&replayed, &body))?)
}

const LISTS: &str = "`kitbag memory history` lists the conversations";
