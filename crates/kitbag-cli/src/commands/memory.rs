//! `kitbag memory`: commands that show, search, change and forget what is stored.

mod backup;
mod check;
mod close;
pub(super) mod cut;
mod edit;
mod entities;
mod export;
mod facts;
mod filter;
mod forget;
mod history;
mod import;
mod migrate;
mod model;
mod recall;
mod refusals;
mod repair;
mod restore;
mod retain;
pub(crate) mod sender;
mod senders;
mod source;
mod stats;
mod summaries;
mod tenants;
mod vacuum;

use clap::Subcommand;

use crate::failure::Failure;
use crate::store::{self, StoreArgs};

/// Searches, shows and changes memory: conversations, facts, summaries and prompts
///
/// Memory holds conversations, facts about people, and every prompt that was sent. It is one file, or a
/// PostgreSQL database: `--store` or KITBAG_STORE names it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag memory import chatgpt-export.zip
  kitbag memory recall \"what did we say about retries?\"
  kitbag memory history --since 7d
  kitbag memory forget --matching \"tax number\" --dry-run")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Import(import::Args),
    Export(export::Args),
    Recall(recall::Args),
    History(history::Args),
    Facts(facts::Args),
    Close(close::Args),
    Summaries(summaries::Args),
    Entities(entities::Args),
    Edit(edit::Args),
    Forget(forget::Args),
    Retain(retain::Args),
    Senders(senders::Args),
    Refusals(refusals::Args),
    Tenants(tenants::Args),
    Stats(stats::Args),
    Check(check::Args),
    Vacuum(vacuum::Args),
    Backup(backup::Args),
    Restore(restore::Args),
    Repair(repair::Args),
    Migrate(migrate::Args),
    Model(model::Args),
}

pub(crate) fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    // One runtime for all subcommands; those that need no store return at once.
    store::run(async {
        match &args.command {
            Command::Import(args) => import::run(args, store).await,
            Command::Export(args) => export::run(args, store).await,
            Command::Recall(args) => recall::run(args, store).await,
            Command::History(args) => history::run(args, store).await,
            Command::Facts(args) => facts::run(args, store).await,
            Command::Close(args) => close::run(args, store).await,
            Command::Summaries(args) => summaries::run(args, store).await,
            Command::Entities(args) => entities::run(args, store).await,
            Command::Edit(args) => edit::run(args, store).await,
            Command::Forget(args) => forget::run(args, store).await,
            Command::Retain(args) => retain::run(args, store).await,
            Command::Senders(args) => senders::run(args, store).await,
            Command::Refusals(args) => refusals::run(args, store).await,
            Command::Tenants(args) => tenants::run(args, store).await,
            Command::Stats(args) => stats::run(args, store).await,
            Command::Check(args) => check::run(args, store).await,
            Command::Vacuum(args) => vacuum::run(args, store).await,
            Command::Backup(args) => backup::run(args, store).await,
            Command::Restore(args) => restore::run(args, store).await,
            Command::Repair(args) => repair::run(args, store).await,
            Command::Migrate(args) => migrate::run(args, store).await,
            // The choice of a model concerns the machine, not a store.
            Command::Model(args) => model::run(args),
        }
    })
}
