//! `kitbag memory summaries`: the summaries that closed conversations left.

use jiff::Timestamp;
use kitbag::store::{Summary, SummaryMaker};
use serde::Serialize;

use super::cut::{Keep, cut, one_more};
use super::said;
use super::sender::{channels_of, named_or_only, say_unknown};
use crate::failure::Failure;
use crate::output;
use crate::store::{self, StoreArgs};

/// Lists the summaries of closed conversations, oldest first
#[derive(clap::Args)]
pub(super) struct Args {
    /// Whose conversations; needed only if the store knows several senders
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Only those on this channel
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// The most summaries of a channel: the latest
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    conversation: String,
    channel: String,
    messages: (u32, u32),
    made: Timestamp,
    by: &'static str,
    text: String,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let sender = named_or_only(&store, args.sender.as_deref()).await?;
    let channels = match &args.channel {
        Some(channel) => vec![channel.clone()],
        None => channels_of(&store, &sender).await?,
    };
    let mut rows = Vec::new();
    for channel in channels {
        let summaries = store.summaries(&channel, &sender, one_more(args.limit));
        let mut summaries = summaries.await.map_err(store::failure)?;
        cut(&mut summaries, args.limit, Keep::Last, "the latest summaries");
        rows.extend(summaries.into_iter().map(|summary| row(&channel, summary)));
    }
    if args.json {
        return Ok(output::print_json(&rows)?);
    }
    if rows.is_empty() {
        if !say_unknown(&store, Some(&sender), args.channel.as_deref()).await? {
            output::say(format_args!("no summary is kept: `kitbag memory close` makes them"));
        }
        return Ok(());
    }
    let mut text = String::new();
    for row in &rows {
        said::add(&mut text, Some(row.made.into()), row.by, &row.conversation, &row.text);
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
            SummaryMaker::Model => "by a model",
            _ => "by rules",
        },
        text: summary.text,
    }
}
