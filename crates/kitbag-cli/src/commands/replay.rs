//! `kitbag replay`: a prompt that was sent, made again byte for byte.

use jiff::Timestamp;
use kitbag::core::assembly::{Ledger, OutputForm};
use kitbag::core::tokens::Tokens;
use kitbag::engine::replay as replay_prompt;
use kitbag::store::{StoreError, TurnId};
use serde::Serialize;

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

#[derive(Serialize)]
struct Report<'a> {
    turn: String,
    inference: u32,
    sent: Timestamp,
    form: OutputForm,
    tokens: Tokens,
    tokenizer: &'a str,
    hash: &'a str,
    masked: usize,
    prompt: &'a str,
    ledger: &'a Ledger,
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
    let prompt = &replayed.prompt;
    Ok(output::print_json(&Report {
        turn: prompt.turn.to_string(),
        inference: prompt.inference,
        sent: prompt.sent,
        form: prompt.settings.form,
        tokens: prompt.tokens,
        tokenizer: &prompt.tokenizer,
        hash: &prompt.hash,
        masked: prompt.masked,
        prompt: &body,
        ledger: &prompt.ledger,
    })?)
}

const LISTS: &str = "`kitbag memory history` lists the conversations";
