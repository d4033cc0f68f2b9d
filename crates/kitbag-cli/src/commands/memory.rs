//! `kitbag memory`: what is remembered, to look at, search, change and forget.

mod import;
mod recall;
mod sender;
mod source;
mod stats;

use clap::Subcommand;

use crate::failure::Failure;
use crate::store::{self, StoreArgs};

/// Looks at, searches and changes what is remembered
///
/// Memory holds conversations, facts about people, and every prompt that was sent. It is kept in one
/// file, or on a PostgreSQL server: `--store` or KITBAG_STORE says where.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Import(import::Args),
    Recall(recall::Args),
    Stats(stats::Args),
}

pub(crate) fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    store::run(async {
        match &args.command {
            Command::Import(args) => import::run(args, store).await,
            Command::Recall(args) => recall::run(args, store).await,
            Command::Stats(args) => stats::run(args, store).await,
        }
    })
}
