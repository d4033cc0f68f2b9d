//! `kitbag remind`: context messages that a conversation's prompts hold until they are removed.

use clap::{Subcommand, ValueEnum};
use jiff::Timestamp;
use kitbag::command::reminder_key;
use kitbag::core::inject::{ContextMessage, ContextMessageTarget, EntryAction};
use kitbag::core::role::Visibility;
use kitbag::store::{ConversationChoice, ConversationId, Store};
use serde::Serialize;

use super::memory::sender::{like_conversations, named_or_only, say_unknown};
use crate::conversation::ConversationArg;
use crate::failure::Failure;
use crate::output::{self, counted, one_line};
use crate::store::{self, StoreArgs};

/// Adds, lists and removes reminders that every prompt of a conversation shows
///
/// A reminder stays until it is removed. When the conversation ends, the sender's next one on the channel
/// takes over its reminders.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag remind add \"Answer in Portuguese\" --key language
  kitbag remind list
  kitbag remind remove language")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// Sender of the conversation; required if the store has several
    #[arg(long, global = true, value_name = "NAME")]
    sender: Option<String>,
    /// The channel of the conversation
    #[arg(long, global = true, value_name = "NAME", default_value = "cli")]
    channel: String,
    /// The conversation, by its name or by its id, such as 7.12 [default: the sender's latest without
    /// a name on the channel]
    #[arg(long, global = true, value_name = "NAME")]
    conversation: Option<ConversationArg>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Adds a reminder, or replaces the one with its key
    Add(AddArgs),
    /// Lists the reminders
    ///
    /// Internal ones, which a program added for the model alone, are counted but not shown.
    #[command(after_help = "Example: kitbag remind list --conversation trip")]
    List,
    /// Removes a reminder
    #[command(after_help = "Example: kitbag remind remove language")]
    Remove {
        /// The key of the reminder
        key: String,
    },
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag remind add \"Answer in Portuguese\" --key language
  kitbag remind add \"Run the tests first\" --cooldown 5")]
struct AddArgs {
    /// The text of the reminder
    text: String,
    /// Name by which to replace or remove the reminder later [default: its first words and a hash]
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    /// Place in the prompt
    #[arg(long, value_enum, default_value_t = TargetArg::Suffix)]
    target: TargetArg,
    /// After a prompt that shows it, leave it out of this many prompts
    #[arg(long, value_name = "N", default_value_t = 0)]
    cooldown: u32,
    /// Remove it after the first prompt that shows it
    #[arg(long)]
    once: bool,
    /// Begin the conversation that --conversation names if it does not exist
    #[arg(long, requires = "conversation")]
    new: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum TargetArg {
    /// After the base prompt; a change invalidates the provider's cache of everything after it
    System,
    /// Before the history
    Session,
    /// At the end, where a change keeps the cache valid
    Suffix,
}

impl From<TargetArg> for ContextMessageTarget {
    fn from(target: TargetArg) -> Self {
        match target {
            TargetArg::System => Self::System,
            TargetArg::Session => Self::Session,
            TargetArg::Suffix => Self::SuffixSystem,
        }
    }
}

/// A conversation and its reminders, as `list` and the others print it.
#[derive(Serialize)]
struct Report {
    conversation: String,
    reminders: Vec<ContextMessage>,
    /// The number of reminders for the model alone.
    internal: usize,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    store::run(async {
        let store = match &args.command {
            // Without a named sender the store must know one, so it must exist already.
            Command::Add(_) if args.sender.is_some() => place.open_or_make().await?,
            _ => place.open().await?,
        };
        match &args.command {
            Command::Add(given) => add(args, given, &store).await,
            Command::List => list(args, &store).await,
            Command::Remove { key } => remove(args, &store, key).await,
        }
    })
}

async fn add(args: &Args, given: &AddArgs, store: &Store) -> Result<(), Failure> {
    if given.text.trim().is_empty() {
        return Err(Failure::usage("the reminder is empty").hint("give its text"));
    }
    let key = given
        .key
        .clone()
        .unwrap_or_else(|| reminder_key(&given.text));
    // Visible, because its author may read it.
    let message = ContextMessage::new(&key, &given.text)
        .with_visibility(Visibility::All)
        .with_target(given.target.into())
        .with_cooldown_turns(given.cooldown)
        .with_consume_after_emit(given.once);
    let id = match chosen(args, store).await? {
        ReminderPlace::Conversation(id) => id,
        // A reminder may come before the first message.
        ReminderPlace::None { sender } => begun(args, given, store, &sender).await?,
    };
    // Asked before the change, which replaces silently.
    let done = match has_reminder(store, id, &key).await? {
        true => format!("replaced `{}` in", one_line(&key)),
        false => format!("added `{}` to", one_line(&key)),
    };
    change(args, store, id, EntryAction::Upsert { message }, &done).await
}

/// A conversation that a reminder begins.
async fn begun(
    args: &Args,
    given: &AddArgs,
    store: &Store,
    sender: &str,
) -> Result<ConversationId, Failure> {
    // A mistyped name would become a new sender.
    let is_empty = store.sender_names(1).await?.is_empty();
    if !is_empty && say_unknown(store, Some(sender), None).await? {
        let sender = one_line(sender);
        let what = format!("no reminder was added: the store has no sender `{sender}`");
        return Err(Failure::new(what).hint("a sender is known after the first message"));
    }
    let choice = match &args.conversation {
        Some(ConversationArg::Name(name)) if !given.new => {
            let near = like_conversations(store, name).await?;
            let what = format!("no reminder was added: {}", no_conversation(args, sender));
            return Err(Failure::new(what).hint(format!("{near} (`--new` begins one)")));
        }
        Some(ConversationArg::Name(name)) => ConversationChoice::Named(name.clone()),
        _ => ConversationChoice::default(),
    };
    let now = Timestamp::now();
    let made = store.get_or_create_conversation(&args.channel, sender, &choice, now);
    Ok(made.await.map_err(store::wrong)?.id)
}

async fn list(args: &Args, store: &Store) -> Result<(), Failure> {
    let id = match chosen(args, store).await? {
        ReminderPlace::Conversation(id) => id,
        ReminderPlace::None { sender } => {
            if !say_unknown(store, Some(&sender), Some(&args.channel)).await? {
                output::say(no_conversation(args, &sender));
            }
            if args.json {
                output::print_json(&None::<Report>)?;
            }
            return Ok(());
        }
    };
    let report = report(store, id).await?;
    if args.json {
        return Ok(output::print_json(&report)?);
    }
    // Counted, so that an empty list does not look like an empty conversation.
    if report.internal > 0 {
        let (one, several) = ("internal one is", "internal ones are");
        let count = counted(report.internal as u64, one, several);
        output::say(format_args!("{count} not shown"));
    }
    if report.reminders.is_empty() {
        output::say(format_args!("conversation {id} has no reminder"));
    }
    let row = |entry: &ContextMessage| {
        [
            one_line(&entry.key),
            entry.target.band().as_str().to_owned(),
            entry.cooldown_turns.to_string(),
            if entry.consume_after_emit { "once" } else { "" }.to_owned(),
            one_line(&entry.content),
        ]
    };
    let header = ["key", "target", "cooldown", "", "text"];
    let rows = report.reminders.iter().map(row);
    Ok(output::print(&output::grid(&header, rows))?)
}

async fn remove(args: &Args, store: &Store, key: &str) -> Result<(), Failure> {
    let id = match chosen(args, store).await? {
        ReminderPlace::Conversation(id) => id,
        ReminderPlace::None { sender } => {
            return Err(Failure::new(no_conversation(args, &sender))
                .hint("`kitbag memory history` lists conversations"));
        }
    };
    // The store removes a missing key without a word, and a typo would look like success.
    if !has_reminder(store, id, key).await? {
        let what = format_args!("conversation {id} has no reminder `{}`", one_line(key));
        return Err(Failure::new(what).hint("`kitbag remind list` shows those it has"));
    }
    let done = format!("removed `{}` from", one_line(key));
    let key = key.to_owned();
    change(args, store, id, EntryAction::Remove { key }, &done).await
}

/// Changes a reminder, and reports the change.
async fn change(
    args: &Args,
    store: &Store,
    id: ConversationId,
    action: EntryAction,
    done: &str,
) -> Result<(), Failure> {
    store.change_entries(id, vec![action]).await?;
    match args.json {
        true => output::print_json(&report(store, id).await?)?,
        false => output::say(format_args!("{done} conversation {id}")),
    }
    Ok(())
}

async fn has_reminder(store: &Store, id: ConversationId, key: &str) -> Result<bool, Failure> {
    let state = store.state(id).await?;
    let mut entries = state.entries.as_slice().iter();
    Ok(entries.any(|entry| entry.key == key))
}

async fn report(store: &Store, id: ConversationId) -> Result<Report, Failure> {
    let state = store.state(id).await?;
    let all = state.entries.as_slice();
    let shown = all.iter().filter(|entry| entry.visibility.is_all());
    let reminders: Vec<ContextMessage> = shown.cloned().collect();
    Ok(Report {
        conversation: id.to_string(),
        internal: all.len() - reminders.len(),
        reminders,
    })
}

/// The conversation that the options choose.
enum ReminderPlace {
    Conversation(ConversationId),
    /// The sender has none on the channel.
    None {
        sender: String,
    },
}

/// The named conversation, or the sender's latest one without a name: the open one, or the one whose
/// reminders the next takes over.
async fn chosen(args: &Args, store: &Store) -> Result<ReminderPlace, Failure> {
    // Before the store is asked: a sender next to an id is a mistake in the arguments.
    if let Some(named) = &args.conversation {
        named.check(args.sender.as_deref())?;
    }
    let name = match &args.conversation {
        Some(ConversationArg::Id(id)) => return Ok(ReminderPlace::Conversation(*id)),
        Some(ConversationArg::Name(name)) => Some(name),
        None => None,
    };
    let sender = named_or_only(store, args.sender.as_deref()).await?;
    let found = store.conversations(&args.channel, &sender, u32::MAX).await;
    let mut found = found.map_err(store::wrong)?.into_iter();
    // The list begins with the latest conversation.
    let found = found.find(|conversation| conversation.name.as_ref() == name);
    Ok(found.map_or(ReminderPlace::None { sender }, |found| {
        ReminderPlace::Conversation(found.id)
    }))
}

fn no_conversation(args: &Args, sender: &str) -> String {
    let named = match &args.conversation {
        Some(ConversationArg::Name(name)) => format!("`{}`", one_line(name)),
        _ => "without a name".to_owned(),
    };
    let (sender, channel) = (one_line(sender), one_line(&args.channel));
    format!("{sender} has no conversation {named} on channel {channel}")
}
