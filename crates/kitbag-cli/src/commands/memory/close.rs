//! `kitbag memory close`: ends conversations, and keeps a summary of each.

use jiff::Timestamp;
use kitbag::core::tokens::Tokens;
use kitbag::store::{CloseOutcome, ConversationId, ExportFilter, IDLE, Store, Summary};
use kitbag::tokens::Counter;
use serde::Serialize;

use super::sender::say_unknown;
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::{self, StoreArgs};

/// Closes conversations and keeps a summary of each
///
/// The sender's next message begins another conversation, whose prompts are given the summary. It is
/// made of the most telling sentences that were said; no model is asked.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The conversations to close, such as 7.12
    #[arg(required_unless_present = "silent")]
    conversations: Vec<ConversationId>,
    /// Close the conversations that ended by silence, 30 minutes of it
    #[arg(long, conflicts_with = "conversations")]
    silent: bool,
    /// With --silent: only those of this sender
    #[arg(long, value_name = "NAME", requires = "silent")]
    sender: Option<String>,
    /// With --silent: only those on this channel
    #[arg(long, value_name = "NAME", requires = "silent")]
    channel: Option<String>,
    /// The most tokens of a summary
    #[arg(long, value_name = "TOKENS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(20..))]
    tokens: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let counter = Counter::for_vocabulary(kitbag::tokens::Vocabulary::O200kBase)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    let ids = match args.silent {
        true => silent(args, &store).await?,
        false => args.conversations.clone(),
    };
    let mut rows = Vec::new();
    for id in ids {
        let closing = store.closing(id).await.map_err(store::failure)?;
        let now = Timestamp::now();
        let closed = store.close(closing, Tokens(args.tokens), &counter, now).await;
        rows.push(Row::of(id, closed.map_err(store::failure)?));
    }
    if args.json {
        return Ok(output::print_json(&rows)?);
    }
    if rows.is_empty() {
        output::say(format_args!("no conversation is open that ended by silence"));
        return Ok(());
    }
    let mut text = String::new();
    for row in &rows {
        text.push_str(&format!("{} {}\n", row.conversation, row.outcome));
        for line in row.summary.iter().flat_map(|summary| summary.lines()) {
            text.push_str(&format!("  {}\n", one_line(line)));
        }
    }
    Ok(output::print(&text)?)
}

async fn silent(args: &Args, store: &Store) -> Result<Vec<ConversationId>, Failure> {
    let filter = ExportFilter::new(args.sender.clone(), args.channel.clone());
    let found = store.silent_conversations(&filter, IDLE, u32::MAX, Timestamp::now());
    let found = found.await.map_err(store::failure)?;
    if found.is_empty() {
        say_unknown(store, args.sender.as_deref(), args.channel.as_deref()).await?;
    }
    Ok(found)
}

#[derive(Serialize)]
struct Row {
    conversation: String,
    outcome: &'static str,
    summary: Option<String>,
}

impl Row {
    fn of(id: ConversationId, outcome: CloseOutcome) -> Self {
        let text = |summary: Summary| summary.text;
        let (outcome, summary) = match outcome {
            CloseOutcome::Closed(None) => ("closed; nothing was said in it", None),
            CloseOutcome::Closed(summary) => ("closed", summary.map(text)),
            CloseOutcome::AlreadyClosed => ("was closed before", None),
            _ => ("is still active: something was said meanwhile", None),
        };
        Self {
            conversation: id.to_string(),
            outcome,
            summary,
        }
    }
}
