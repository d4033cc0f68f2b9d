//! `kitbag memory stats`: how much is remembered.

use kitbag::store::Stats;
use serde::Serialize;

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
    let report = Report::of(&stats);
    if args.json {
        return Ok(output::print_json(&report)?);
    }
    Ok(output::print(&report.told())?)
}

#[derive(Serialize)]
struct Report {
    version: i64,
    senders: u64,
    conversations: u64,
    messages: u64,
    facts: u64,
    past_facts: u64,
    summaries: u64,
    turns: u64,
    prompts: u64,
    prompt_bytes: u64,
    file_bytes: Option<u64>,
}

impl Report {
    fn of(stats: &Stats) -> Self {
        Self {
            version: stats.version,
            senders: stats.senders,
            conversations: stats.conversations,
            messages: stats.messages,
            facts: stats.facts,
            past_facts: stats.past_facts,
            summaries: stats.summaries,
            turns: stats.turns,
            prompts: stats.prompts,
            prompt_bytes: stats.prompt_bytes,
            file_bytes: stats.file_bytes,
        }
    }

    fn told(&self) -> String {
        let counts = [
            ("senders", Some(self.senders)),
            ("conversations", Some(self.conversations)),
            ("messages", Some(self.messages)),
            ("facts", Some(self.facts)),
            ("past facts", Some(self.past_facts)),
            ("summaries", Some(self.summaries)),
            ("turns", Some(self.turns)),
            ("prompts", Some(self.prompts)),
            ("bytes of prompts", Some(self.prompt_bytes)),
            ("bytes of the file", self.file_bytes),
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
}
