//! `kitbag key revoke`: the end of a key.

use jiff::Timestamp;
use kitbag::store::StoreError;

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::StoreArgs;

/// Revokes a key for good; a running server notices within five seconds
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag key revoke 3f9a1c20")]
pub(super) struct Args {
    /// The key's id, as `kitbag key list` prints it: the eight digits after the tenant, never the whole key
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    if args.id.len() > 8 {
        let what = "this is longer than the id of a key, which has eight digits";
        return Err(Failure::usage(what).hint("`kitbag key list` shows the ids"));
    }
    let revoked = store.revoke_key(&args.id, Timestamp::now()).await;
    let key = revoked.map_err(|error| {
        let is_missing = matches!(error, StoreError::Missing { .. });
        Failure::from(error).hint_if(is_missing.then_some("`kitbag key list` shows the ids"))
    })?;
    if args.json {
        return Ok(output::print_json(&key)?);
    }
    let name = one_line(&key.name);
    Ok(output::print(&format!("revoked {} ({name})", key.id))?)
}
