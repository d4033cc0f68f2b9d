//! `kitbag memory senders`: lists the senders, with the time since when they are known.

use jiff::Timestamp;
use kitbag::store::Sender;
use serde::Serialize;

use super::cut::{Keep, cut, one_more};
use crate::failure::Failure;
use crate::output::{self, grouped, one_line};
use crate::store::StoreArgs;

/// Lists the senders by name, with their channels, conversations and messages
///
/// The number of messages covers all conversations of a sender and includes the answers. A sender with facts
/// but no messages has no channel.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory senders --json")]
pub(super) struct Args {
    /// Maximum number of senders, in the order of their names
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A sender on all channels.
#[derive(Serialize)]
struct Row {
    sender: String,
    channels: Vec<String>,
    conversations: u64,
    messages: u64,
    began: Option<Timestamp>,
    active: Option<Timestamp>,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    // All rows: a limit of rows could cut a sender between two channels.
    let senders = store.open().await?.senders(u32::MAX).await?;
    let mut rows = by_name(senders);
    rows.truncate(usize::try_from(one_more(args.limit)).unwrap_or(usize::MAX));
    cut(
        &mut rows,
        args.limit,
        Keep::First,
        "the first senders by name",
    );
    if args.json {
        return Ok(output::print_json_list("senders", &rows)?);
    }
    if rows.is_empty() {
        output::say("there are no senders");
    }
    let row = |row: &Row| {
        let channels: Vec<String> = row.channels.iter().map(|name| one_line(name)).collect();
        [
            one_line(&row.sender),
            channels.join(", "),
            grouped(row.conversations),
            grouped(row.messages),
            day(row.began),
            day(row.active),
        ]
    };
    let header = [
        "sender",
        "channels",
        "conversations",
        "messages",
        "first",
        "latest",
    ];
    Ok(output::print(&output::grid(&header, rows.iter().map(row)))?)
}

/// The day of a time, as a list shows it.
pub(super) fn day(at: Option<Timestamp>) -> String {
    at.map_or_else(String::new, |at| at.strftime("%Y-%m-%d").to_string())
}

/// Joins the channels of each sender, whose rows are neighbours because they are sorted by name.
fn by_name(senders: Vec<Sender>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for one in senders {
        let channel = Some(one.channel).filter(|name| !name.is_empty());
        match rows.last_mut().filter(|row| row.sender == one.sender) {
            Some(row) => {
                row.channels.extend(channel);
                row.conversations += one.conversations;
                row.messages += one.messages;
                // Not `min` of the options: `None` would be the least.
                row.began = row.began.into_iter().chain(one.began).min();
                row.active = row.active.max(one.active);
            }
            None => rows.push(Row {
                sender: one.sender,
                channels: Vec::from_iter(channel),
                conversations: one.conversations,
                messages: one.messages,
                began: one.began,
                active: one.active,
            }),
        }
    }
    rows
}
