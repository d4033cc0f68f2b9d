//! `kitbag key`: the keys that identify the clients of a server.

mod audit;
mod create;
mod list;
mod revoke;

use clap::Subcommand;

use crate::failure::Failure;
use crate::store::{self, StoreArgs};

/// Creates, lists and revokes the keys of a server's clients
///
/// A key belongs to the tenant that `--tenant` names, and gives no access to others. Without keys, `kitbag
/// serve` answers only clients on this machine. As soon as a tenant has a key, all of its clients need one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag key create laptop --scope proxy,read --expires 90d
  kitbag key list
  kitbag key revoke 3f9a1c20")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Create(create::Args),
    List(list::Args),
    Revoke(revoke::Args),
    Audit(audit::Args),
}

pub(crate) fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    store::run(async {
        match &args.command {
            Command::Create(args) => create::run(args, store).await,
            Command::List(args) => list::run(args, store).await,
            Command::Revoke(args) => revoke::run(args, store).await,
            Command::Audit(args) => audit::run(args, store).await,
        }
    })
}
