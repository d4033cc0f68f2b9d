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
/// It is made again from what was archived and compared with what was sent. If it cannot be rebuilt,
/// or comes out differently, nothing is printed, and the reason is told. Secrets that were typed into
/// it are masked in the archive: the prompt is then printed with their marks, and compared as it was
/// without them. Internal messages, which are
/// for the model alone, are shown only with --internal.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The turn, such as 7.12.3
    turn: TurnId,
    /// Prompt of the turn, counted from 0 [default: the last]
    #[arg(long, value_name = "N")]
    inference: Option<u32>,
    #[command(flatten)]
    internal: InternalArgs,
    /// Print JSON: the prompt with its figures and its ledger
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
        let is_missing = matches!(error, StoreError::Missing { .. });
        Failure::from(error).hint_if(is_missing.then_some(LISTS))
    })?;
    let body = args.internal.body_of_replayed(&replayed);
    if replayed.prompt.masked > 0 && !args.json {
        let masked = replayed.prompt.masked;
        output::say(format_args!(
            "secrets that were sent and are masked in the store: {masked}"
        ));
    }
    if !args.json {
        return Ok(output::print_exactly(&body)?);
    }
    Ok(output::print_json(&ReplayReport::of(&replayed, &body))?)
}

const LISTS: &str = "`kitbag memory history` lists the conversations";
