//! `kitbag memory summaries`: lists the summaries of closed conversations.

use jiff::Timestamp;
use kitbag::recall::said;
use kitbag::store::{Summary, SummaryMaker};
use serde::Serialize;

use super::cut::{Keep, cut, one_more};
use super::sender::{channels_of, named_or_only, say_unknown};
use crate::failure::Failure;
use crate::output;
use crate::store::StoreArgs;

/// Lists the summaries of closed conversations, oldest first
///
/// Summaries are made after an answer, or by `kitbag memory close`. They contain nothing from internal
/// messages.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory summaries --sender ann")]
pub(super) struct Args {
    /// Sender of the conversations; required if the store has several
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Only those on this channel
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// Maximum number of summaries for each channel; the latest are kept
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    conversation: String,
    channel: String,
    /// The numbers of the first and the last message that it covers.
    messages: (u32, u32),
    made: Timestamp,
    by: &'static str,
    text: String,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let sender = named_or_only(&store, args.sender.as_deref()).await?;
    // The store keeps summaries by channel, so all channels of the sender are asked.
    let channels = match &args.channel {
        Some(channel) => vec![channel.clone()],
        None => channels_of(&store, &sender).await?,
    };
    let mut summaries = Vec::new();
    for channel in channels {
        let found = store.summaries(&channel, &sender, one_more(args.limit));
        let mut found = found.await?;
        let what = "the latest summaries of a channel";
        cut(&mut found, args.limit, Keep::Last, what);
        summaries.extend(found.into_iter().map(|summary| row(&channel, summary)));
    }
    let channel = args.channel.as_deref();
    if summaries.is_empty() && !say_unknown(&store, Some(&sender), channel).await? {
        output::say("there are no summaries; `kitbag memory close` makes them");
    }
    if args.json {
        return Ok(output::print_json_list("summaries", &summaries)?);
    }
    let mut text = String::new();
    for row in &summaries {
        let (by, made) = (format!("by {}", row.by), Some(row.made.into()));
        said::add(&mut text, made, &by, &row.conversation, &row.text);
    }
    Ok(output::print(&text)?)
}

fn row(channel: &str, summary: Summary) -> Row {
    Row {
        conversation: summary.conversation.to_string(),
        channel: channel.to_owned(),
        messages: (summary.first, summary.last),
        made: summary.made,
        by: match summary.by {
            SummaryMaker::Model => "a model",
            _ => "rules",
        },
        text: summary.text,
    }
}
