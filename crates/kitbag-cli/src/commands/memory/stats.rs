//! `kitbag memory stats`: how much is remembered.

use kitbag::store::Stats;

use crate::failure::Failure;
use crate::output::{self, grouped};
use crate::store::{self, StoreArgs};

/// Counts what is remembered
#[derive(clap::Args)]
pub(super) struct Args {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let store = store.open().await?;
    let stats = store.stats().await.map_err(store::failure)?;
    if args.json {
        return Ok(output::print_json(&stats)?);
    }
    Ok(output::print(&told(&stats))?)
}

fn told(stats: &Stats) -> String {
    let counts = [
        ("senders", Some(stats.senders)),
        ("conversations", Some(stats.conversations)),
        ("messages", Some(stats.messages)),
        ("facts", Some(stats.facts)),
        ("past facts", Some(stats.past_facts)),
        ("summaries", Some(stats.summaries)),
        ("turns", Some(stats.turns)),
        ("prompts", Some(stats.prompts)),
        ("bytes of prompts", Some(stats.prompt_bytes)),
        ("bytes of the file", stats.file_bytes),
    ];
    let counts = counts
        .iter()
        .filter_map(|(what, count)| Some((what, grouped((*count)?))));
    let rows: Vec<_> = counts.collect();
    let width = rows.iter().map(|(_, count)| count.len()).max().unwrap_or(0);
    let rows: Vec<String> = rows
        .iter()
        .map(|(what, count)| format!("{count:>width$} {what}"))
        .collect();
    rows.join("\n")
}
