//! `kitbag key audit`: the actions that were done with keys.

use kitbag::store::AuditEntry;

use crate::commands::memory::cut::{Keep, cut, one_more};
use crate::failure::Failure;
use crate::output;
use crate::store::StoreArgs;

/// Lists what clients did with their keys, the latest first: asked, remembered, forgotten, exported, refused
///
/// An entry names the key, the action and the id of what it concerned; it holds no text of messages. Entries
/// are kept until everything of their tenant is forgotten.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag key audit --key 3f9a1c20 -n 10")]
pub(super) struct Args {
    /// Only actions with the key of this id
    #[arg(long, value_name = "ID")]
    key: Option<String>,
    /// Maximum number of entries
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let log = store.audit_log(args.key.as_deref(), one_more(args.limit));
    let mut entries = log.await?;
    cut(&mut entries, args.limit, Keep::First, "the latest entries");
    if args.json {
        return Ok(output::print_json_list("entries", &entries)?);
    }
    if entries.is_empty() {
        output::say("no key was used yet");
    }
    let row = |entry: &AuditEntry| {
        [
            format!("{:.0}", entry.at),
            entry.actor.clone().unwrap_or_default(),
            entry.action.clone(),
            entry.subject.clone().unwrap_or_default(),
        ]
    };
    let header = ["at", "key", "action", "subject"];
    Ok(output::print(&output::grid(
        &header,
        entries.iter().map(row),
    ))?)
}
