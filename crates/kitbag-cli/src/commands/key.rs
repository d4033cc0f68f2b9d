//! `kitbag key`: the keys with which clients of a server show who they are.

mod audit;
mod create;
mod list;
mod revoke;

use clap::Subcommand;

use crate::failure::Failure;
use crate::store::{self, StoreArgs};

/// Makes, lists and revokes the keys of a server's clients
///
/// A key belongs to a tenant, `--tenant`, and reaches nothing of another. Without keys a server answers on
/// this machine alone. From the first key on every client of the tenant needs one.
///
/// Examples:
///   kitbag key create laptop --scope proxy,read --expires 90d
///   kitbag key revoke 3f9a1c20
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
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
