//! `kitbag memory close`: ends conversations, and keeps a summary of each.

use jiff::Timestamp;
use kitbag::core::tokens::Tokens;
use kitbag::store::{CloseOutcome, Closing, ConversationId, ExportFilter, IDLE, Store};
use kitbag::tokens::{Counter, Vocabulary};
use serde::Serialize;

use super::sender::say_unknown;
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::StoreArgs;

/// Closes conversations and keeps a summary of each
///
/// The sender's next message begins another conversation, whose prompts can show the summary. The
/// summary consists of the most telling sentences that were said, without internal messages. No model
/// is asked.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The conversations to close, such as 7.12
    #[arg(required_unless_present = "silent", value_name = "CONVERSATION")]
    conversations: Vec<ConversationId>,
    /// Close every open conversation whose last message came at least 30 minutes ago
    #[arg(long, conflicts_with = "conversations")]
    silent: bool,
    /// With --silent: only those of this sender
    #[arg(long, value_name = "NAME", conflicts_with = "conversations")]
    sender: Option<String>,
    /// With --silent: only those on this channel
    #[arg(long, value_name = "NAME", conflicts_with = "conversations")]
    channel: Option<String>,
    /// The most tokens of a summary
    #[arg(long, value_name = "TOKENS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(20..))]
    tokens: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    conversation: String,
    outcome: &'static str,
    #[serde(skip)]
    words: &'static str,
    summary: Option<String>,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let counter = Counter::for_vocabulary(Vocabulary::O200kBase)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    let mut closed = Vec::new();
    if args.silent {
        for id in silent(args, &store).await? {
            let closing = store.closing(id).await?;
            closed.push(close(args, &store, closing, &counter).await?);
        }
    } else {
        // All are read before the first is closed: a mistyped name should close none.
        let mut closings = Vec::new();
        for id in &args.conversations {
            closings.push(store.closing(*id).await?);
        }
        for closing in closings {
            closed.push(close(args, &store, closing, &counter).await?);
        }
    }
    if args.json {
        return Ok(output::print_json_list("closed", &closed)?);
    }
    let mut text = String::new();
    for row in &closed {
        text.push_str(&format!("{} {}\n", row.conversation, row.words));
        for line in row.summary.iter().flat_map(|summary| summary.lines()) {
            text.push_str(&format!("  {}\n", one_line(line)));
        }
    }
    Ok(output::print(&text)?)
}

/// The conversations that ended by silence; says so where there are none.
async fn silent(args: &Args, store: &Store) -> Result<Vec<ConversationId>, Failure> {
    let (sender, channel) = (args.sender.as_deref(), args.channel.as_deref());
    let filter = ExportFilter::new(args.sender.clone(), args.channel.clone());
    let found = store.silent_conversations(&filter, IDLE, u32::MAX, Timestamp::now());
    let found = found.await?;
    if found.is_empty() && !say_unknown(store, sender, channel).await? {
        output::say("no open conversation has ended by silence");
    }
    Ok(found)
}

async fn close(
    args: &Args,
    store: &Store,
    closing: Closing,
    counter: &Counter,
) -> Result<Row, Failure> {
    let conversation = closing.conversation.id.to_string();
    let closed = store.close(closing, Tokens(args.tokens), counter, Timestamp::now());
    let (outcome, words, summary) = match closed.await? {
        CloseOutcome::Closed(summary) => ("closed", "is closed", summary),
        CloseOutcome::AlreadyClosed => ("already_closed", "was closed before", None),
        _ => (
            "still_active",
            "stays open: a turn of it is under way",
            None,
        ),
    };
    Ok(Row {
        conversation,
        outcome,
        words,
        summary: summary.map(|summary| summary.text),
    })
}
