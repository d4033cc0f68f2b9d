//! `kitbag memory history`: the list of conversations, and the messages of one.

mod turn;

use std::str::FromStr;

use kitbag::recall::said;
use kitbag::report::{ConversationReport, MessagesReport, VersionReport};
use kitbag::store::{
    ConversationId, ExportFilter, MessageFilter, MessageId, Store, StoreError, StoredMessage,
    TurnId,
};

use super::cut::{Keep, cut, one_more};
use super::filter::TimeArgs;
use super::sender::say_unknown;
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::StoreArgs;

/// The number of messages that are read at a time.
const PAGE: u32 = 1_000;

/// Lists conversations, the latest first, or prints the messages of one
///
/// Internal messages, which are for the model alone, are neither printed nor counted. With `--since` or
/// `--until`, only conversations and messages of that time are shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag memory history --since 7d
  kitbag memory history 7.12
  kitbag memory history 7.12.3")]
pub(super) struct Args {
    /// A conversation such as 7.12, a message with all its versions such as 7.12#3, or a turn with its
    /// stages, times and cost such as 7.12.3
    #[arg(value_name = "ID")]
    conversation: Option<HistoryItem>,
    /// Only conversations of this sender
    #[arg(long, value_name = "NAME", conflicts_with = "conversation")]
    sender: Option<String>,
    /// Only conversations on this channel
    #[arg(long, value_name = "NAME", conflicts_with = "conversation")]
    channel: Option<String>,
    #[command(flatten)]
    times: TimeArgs,
    /// Maximum number of conversations or messages, the latest first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The thing that the command prints.
#[derive(Debug, Clone, Copy)]
enum HistoryItem {
    Conversation(ConversationId),
    Message(MessageId),
    Turn(TurnId),
}

impl FromStr for HistoryItem {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        // The marks tell the ids apart: 7.12 is a conversation, 7.12#3 a message, 7.12.3 a turn.
        match (text.contains('#'), text.matches('.').count()) {
            (true, _) => text.parse().map(Self::Message),
            (false, 2) => text.parse().map(Self::Turn),
            (false, _) => text.parse().map(Self::Conversation),
        }
    }
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let store = store.open().await?;
    match args.conversation {
        Some(HistoryItem::Conversation(conversation)) => {
            print_messages(args, &store, conversation).await
        }
        Some(HistoryItem::Message(message)) => print_versions(args, &store, message).await,
        Some(HistoryItem::Turn(turn)) => turn::print(&store, turn, args.json).await,
        None => print_conversations(args, &store).await,
    }
}

async fn print_messages(args: &Args, store: &Store, id: ConversationId) -> Result<(), Failure> {
    let mut messages = match args.times.is_given() {
        false => store.visible_messages(id, one_more(args.limit)).await?,
        true => {
            // Fails for an unknown conversation, which would look like one without messages at that time.
            store.state(id).await?;
            of_times(args, store, id).await?
        }
    };
    cut(&mut messages, args.limit, Keep::Last, "the latest messages");
    if args.json {
        return Ok(output::print_json(&MessagesReport::of(id, messages))?);
    }
    let mut text = String::new();
    for stored in &messages {
        let message = &stored.message;
        let speaker = said::speaker(message.name.as_deref(), message.role);
        let name = stored.id.to_string();
        said::add(&mut text, stored.at, &speaker, &name, &words(stored));
    }
    if text.is_empty() {
        output::say(format_args!("conversation {id} has no messages"));
    }
    Ok(output::print(&text)?)
}

/// The messages of a conversation that a person may see and that were said at the times asked for, oldest
/// first.
async fn of_times(
    args: &Args,
    store: &Store,
    id: ConversationId,
) -> Result<Vec<StoredMessage>, Failure> {
    let mut filter = MessageFilter::default().in_conversation(id);
    args.times.add_to(&mut filter);
    let filter = ExportFilter::default().among(filter);
    let (mut messages, mut after) = (Vec::new(), None);
    loop {
        let (page, next) = store.export(&filter, after, PAGE).await?;
        for exported in page {
            let stored = exported?.message;
            // The export also has internal messages, which this command never shows.
            if stored.message.is_for_user() {
                messages.push(stored);
            }
        }
        if next.is_none() {
            return Ok(messages);
        }
        after = next;
    }
}

/// Prints all that a message ever said, oldest first.
async fn print_versions(args: &Args, store: &Store, id: MessageId) -> Result<(), Failure> {
    let stored = store.message(id).await?;
    // An error and no empty list: the id exists, and the reason should not look like a mistake.
    if !stored.message.is_for_user() {
        return Err(Failure::new(format_args!(
            "message {id} is for the model alone"
        )));
    }
    let older = store.message_versions(id).await?;
    let versions = VersionReport::all(older, &stored);
    if args.json {
        return Ok(output::print_json_list("versions", &versions)?);
    }
    let speaker = said::speaker(stored.message.name.as_deref(), stored.message.role);
    let mut text = String::new();
    for version in &versions {
        let number = version.number;
        let note = match version.replaced {
            Some(replaced) => format!("{id}, version {number} until {replaced:.0}"),
            None => format!("{id}, version {number}"),
        };
        said::add(&mut text, stored.at, &speaker, &note, &version.text);
    }
    Ok(output::print(&text)?)
}

/// The text of a message, or the names of the tools that it calls.
fn words(stored: &StoredMessage) -> String {
    let text = stored.text();
    let calls = stored.message.calls();
    // A message that only calls tools has no text, and an empty line would tell nothing.
    if calls.is_empty() || !text.trim().is_empty() {
        return text.into_owned();
    }
    let names: Vec<String> = calls.iter().map(|call| one_line(&call.name)).collect();
    format!("calls {}", names.join(", "))
}

/// The title in the chat service, which tells people more than the name there.
fn title(row: &ConversationReport) -> String {
    let title = row.title.as_deref().or(row.name.as_deref());
    title.map(one_line).unwrap_or_default()
}

async fn print_conversations(args: &Args, store: &Store) -> Result<(), Failure> {
    let (sender, channel) = (args.sender.as_deref(), args.channel.as_deref());
    let mut times = MessageFilter::default();
    args.times.add_to(&mut times);
    let filter = ExportFilter::new(args.sender.clone(), args.channel.clone()).among(times);
    // One row more than the limit, so that `cut` can say that there are others.
    let latest = store.latest_conversations(&filter, one_more(args.limit));
    let latest = latest.await?.into_iter();
    let mut conversations: Vec<ConversationReport> = latest.map(Into::into).collect();
    let what = "the latest conversations";
    cut(&mut conversations, args.limit, Keep::First, what);
    // A mistyped name gets suggestions; only for a known one the note says that it has no conversations.
    if conversations.is_empty() && !say_unknown(store, sender, channel).await? {
        output::say("there are no conversations");
    }
    if args.json {
        return Ok(output::print_json_list("conversations", &conversations)?);
    }
    let row = |row: &ConversationReport| {
        [
            row.id.clone(),
            said::seconds(row.active),
            row.messages.to_string(),
            one_line(&row.sender),
            one_line(&row.channel),
            title(row),
        ]
    };
    let header = "conversation active messages sender channel name";
    let header: Vec<&str> = header.split(' ').collect();
    let rows = conversations.iter().map(row);
    Ok(output::print(&output::grid(&header, rows))?)
}
