//! `kitbag memory migrate`: copies a store into another database, and compares the two.

use std::collections::BTreeMap;

use kitbag::store::Location;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, grouped};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Copies all memory of a tenant from one store to another, and compares them
///
/// Each of the stores may be SQLite or PostgreSQL. The target must have nothing of the tenant yet, and the
/// source stays as it is. Nothing should write to either store during the copy.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory migrate memory.db postgresql://kitbag@db/kitbag")]
pub(super) struct Args {
    /// Store to copy from: a file, or a postgresql:// address
    from: Location,
    /// Store to copy to
    to: Location,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    from: String,
    to: String,
    rows: &'a BTreeMap<&'static str, u64>,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    // Both stores are arguments; an option would suggest a third.
    store.refuse_store()?;
    let from = store.open_existing(&args.from).await?;
    let to = store.open_at(&args.to).await?;
    let progress = Progress::start("copying");
    let copied = from.copy_to(&to).await?;
    drop(progress);
    if args.json {
        return Ok(output::print_json(&Report {
            from: args.from.to_string(),
            to: args.to.to_string(),
            rows: &copied.rows,
        })?);
    }
    let rows = grouped(copied.rows.values().sum::<u64>());
    let (from, to) = (&args.from, &args.to);
    output::say(format_args!(
        "copied {rows} rows from {from} to {to}, and compared them"
    ));
    Ok(())
}
