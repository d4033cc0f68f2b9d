//! `kitbag memory stats`: how much is remembered.

use crate::failure::Failure;
use crate::output::{self, grouped};
use crate::store::StoreArgs;

/// Counts senders, conversations, messages, facts and prompts
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory stats --json")]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let stats = store.open().await?.stats().await?;
    if args.json {
        return Ok(output::print_json(&stats)?);
    }
    let counts = [
        (["sender", "senders"], Some(stats.senders)),
        (["conversation", "conversations"], Some(stats.conversations)),
        (["message", "messages"], Some(stats.messages)),
        (["fact", "facts"], Some(stats.facts)),
        (["past fact", "past facts"], Some(stats.past_facts)),
        (["summary", "summaries"], Some(stats.summaries)),
        (["turn", "turns"], Some(stats.turns)),
        (
            ["refused message", "refused messages"],
            Some(stats.refusals).filter(|count| *count > 0),
        ),
        (["key", "keys"], Some(stats.keys).filter(|count| *count > 0)),
        (["prompt", "prompts"], Some(stats.prompts)),
        (
            ["byte of prompts", "bytes of prompts"],
            Some(stats.prompt_bytes),
        ),
        (["byte of the file", "bytes of the file"], stats.file_bytes),
    ];
    let counts = counts.map(|([one, many], count)| match count {
        Some(1) => (one, count.map(grouped)),
        _ => (many, count.map(grouped)),
    });
    // Figures are aligned to the right, so that their sizes can be compared at a glance.
    let lengths = counts.iter().flat_map(|(_, count)| count).map(String::len);
    let width = lengths.max().unwrap_or(0);
    let rows = counts.iter();
    let rows: Vec<String> = rows
        .filter_map(|(what, count)| Some(format!("{:>width$} {what}", count.as_ref()?)))
        .collect();
    Ok(output::print(&rows.join("\n"))?)
}
