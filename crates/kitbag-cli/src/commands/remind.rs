//! `kitbag remind`: context messages that a conversation's prompts hold until they are removed.

use clap::{Subcommand, ValueEnum};
use jiff::Timestamp;
use kitbag::core::inject::{ContextMessage, ContextMessageTarget, EntryAction};
use kitbag::store::{ConversationId, Incoming, MemoryRequest, Store};
use serde::Serialize;

use super::memory::sender::named_or_only;
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::{self, StoreArgs};

/// Adds, lists and removes reminders of a conversation
///
/// A reminder stands in the prompts of a conversation until it is removed. It stays when the
/// conversation ends by silence and the sender's next message begins another.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// Whose conversation; needed only if the store knows several senders
    #[arg(long, global = true, value_name = "NAME")]
    sender: Option<String>,
    /// The channel of the conversation
    #[arg(long, global = true, value_name = "NAME", default_value = "cli")]
    channel: String,
    /// The conversation, such as 7.12 [default: the open one]
    #[arg(long, global = true, value_name = "ID")]
    conversation: Option<ConversationId>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Adds a reminder, or replaces the one with its key
    Add {
        /// The text
        text: String,
        /// The name by which it is replaced and removed [default: made from the text]
        #[arg(long, value_name = "NAME")]
        key: Option<String>,
        /// The place in the prompt
        #[arg(long, value_enum, default_value_t = TargetArg::Suffix)]
        target: TargetArg,
        /// The number of prompts to skip after one that held it
        #[arg(long, value_name = "N", default_value_t = 0)]
        cooldown: u32,
        /// Remove it once a prompt that held it was sent
        #[arg(long)]
        once: bool,
    },
    /// Lists the reminders
    List,
    /// Removes a reminder
    Remove {
        /// Its key
        key: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum TargetArg {
    /// Right after the base prompt; a change costs the cache of everything behind it
    System,
    /// Before the history
    Session,
    /// After the history, at the very end; costs no cache
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

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    store::run(async {
        match &args.command {
            Command::Add { .. } => add(args, &place.open_or_make().await?).await,
            Command::List => list(args, &place.open().await?).await,
            Command::Remove { key } => remove(args, &place.open().await?, key).await,
        }
    })
}

async fn add(args: &Args, store: &Store) -> Result<(), Failure> {
    let Command::Add {
        text,
        key,
        target,
        cooldown,
        once,
    } = &args.command
    else {
        return Ok(());
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the reminder is empty").hint("say what to remind of"));
    }
    let key = match key {
        Some(key) => key.clone(),
        None => made_key(text),
    };
    let entry = ContextMessage::new(&key, text)
        .with_target((*target).into())
        .with_cooldown_turns(*cooldown)
        .with_consume_after_emit(*once);
    let conversation = match args.conversation {
        Some(id) => id,
        None => {
            let sender = named_or_only(store, args.sender.as_deref()).await?;
            let incoming = Incoming::new(&args.channel, sender, "");
            let choice = &incoming.conversation;
            let made = store.get_or_create_conversation(
                &incoming.channel,
                &incoming.sender,
                choice,
                Timestamp::now(),
            );
            made.await.map_err(store::wrong)?.id
        }
    };
    let actions = vec![EntryAction::Upsert {
        message: entry.clone(),
    }];
    let changed = store.change_entries(conversation, actions).await;
    changed.map_err(store::failure)?;
    if args.json {
        return Ok(output::print_json(&entry)?);
    }
    output::say(format_args!(
        "`{}` is in the prompts of {conversation} from now on",
        one_line(&key)
    ));
    Ok(())
}

async fn list(args: &Args, store: &Store) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Report<'a> {
        conversation: String,
        reminders: &'a [ContextMessage],
    }
    let (conversation, entries) = entries(args, store).await?;
    if args.json {
        return Ok(output::print_json(&Report {
            conversation: conversation.to_string(),
            reminders: &entries,
        })?);
    }
    if entries.is_empty() {
        output::say(format_args!("{conversation} has no reminder"));
        return Ok(());
    }
    let row = |entry: &ContextMessage| {
        [
            one_line(&entry.key),
            entry.target.as_str().to_owned(),
            entry.cooldown_turns.to_string(),
            if entry.consume_after_emit { "once" } else { "" }.to_owned(),
            one_line(&entry.content),
        ]
    };
    let header = ["key", "target", "cooldown", "", "text"];
    Ok(output::print(&output::grid(&header, entries.iter().map(row)))?)
}

async fn remove(args: &Args, store: &Store, key: &str) -> Result<(), Failure> {
    let (conversation, entries) = entries(args, store).await?;
    if !entries.iter().any(|entry| entry.key == key) {
        return Err(Failure::new(format_args!(
            "{conversation} has no reminder `{}`",
            one_line(key)
        ))
        .hint("`kitbag remind list` shows which it has"));
    }
    let actions = vec![EntryAction::Remove {
        key: key.to_owned(),
    }];
    let changed = store.change_entries(conversation, actions).await;
    changed.map_err(store::failure)?;
    if !args.json {
        output::say(format_args!("removed `{}`", one_line(key)));
    }
    Ok(())
}

/// The conversation that is meant, and its reminders.
async fn entries(
    args: &Args,
    store: &Store,
) -> Result<(ConversationId, Vec<ContextMessage>), Failure> {
    let id = match args.conversation {
        Some(id) => id,
        None => {
            let sender = named_or_only(store, args.sender.as_deref()).await?;
            let incoming = Incoming::new(&args.channel, &sender, "");
            let request = MemoryRequest::new(incoming, Timestamp::now());
            let found = store.read_conversation(&request).await;
            let found = found.map_err(store::wrong)?.ok_or_else(|| {
                Failure::new(format_args!(
                    "no conversation of {} is open on channel {}",
                    one_line(&sender),
                    one_line(&args.channel)
                ))
                .hint("`kitbag memory history` lists conversations; name one with --conversation")
            })?;
            found.id
        }
    };
    let state = store.state(id).await.map_err(store::failure)?;
    Ok((id, state.entries.as_slice().to_vec()))
}

/// A key that the same text always gets.
fn made_key(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .take(4)
        .map(str::to_lowercase)
        .collect();
    match words.is_empty() {
        true => "reminder".to_owned(),
        false => words.join("-"),
    }
}
