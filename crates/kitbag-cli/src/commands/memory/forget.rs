//! `kitbag memory forget`: deletes what was said, with all that was made of it.

use std::io::{self, BufRead as _, IsTerminal as _};

use clap::ArgGroup;
use kitbag::store::{ConversationId, Forget, Forgotten, MessageId, Store};

use super::sender::named_or_only;
use crate::failure::Failure;
use crate::output::{self, counted, one_line};
use crate::store::StoreArgs;

/// Deletes a message, a fact, a conversation, or all about a sender, for good
///
/// It is gone from rows, indexes and archived prompts, and so is what was derived from it. Prompts
/// that held it can no longer be rebuilt.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("what").args(["message", "fact", "conversation"]))]
pub(super) struct Args {
    /// A message, such as 7.12#3
    #[arg(long, value_name = "ID", conflicts_with = "sender")]
    message: Option<MessageId>,
    /// A fact with its history, by its key; of the only sender, or of --sender
    #[arg(long, value_name = "KEY")]
    fact: Option<String>,
    /// A conversation, such as 7.12
    #[arg(long, value_name = "ID", conflicts_with = "sender")]
    conversation: Option<ConversationId>,
    /// All about this sender: conversations on every channel, facts, summaries
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Does not ask
    #[arg(long)]
    yes: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let store = store.open().await?;
    let what = what(args, &store).await?;
    if !args.yes {
        confirm(&what)?;
    }
    let gone = store.forget(what).await?;
    if args.json {
        return Ok(output::print_json(&gone)?);
    }
    Ok(output::print(&told(&gone))?)
}

async fn what(args: &Args, store: &Store) -> Result<Forget, Failure> {
    if let Some(message) = args.message {
        return Ok(Forget::Message(message));
    }
    if let Some(conversation) = args.conversation {
        return Ok(Forget::Conversation(conversation));
    }
    match (&args.fact, &args.sender) {
        (Some(key), sender) => Ok(Forget::Fact {
            sender: named_or_only(store, sender.as_deref()).await?,
            key: key.clone(),
        }),
        // The only sender is not meant unless it is named: this would be everything.
        (None, Some(sender)) => Ok(Forget::Sender(sender.clone())),
        (None, None) => Err(Failure::usage("what to forget is not named")
            .hint("give `--message`, `--fact`, `--conversation` or `--sender`")),
    }
}

/// Asks whoever sits at the terminal.
fn confirm(what: &Forget) -> Result<(), Failure> {
    let named = match what {
        Forget::Message(id) => format!("message {id}"),
        Forget::Fact { sender, key } => format!("the fact `{key}` of {sender}"),
        Forget::Conversation(id) => format!("conversation {id}"),
        Forget::Sender(sender) => format!("all about {sender}"),
        _ => "it".to_owned(),
    };
    let named = one_line(&named);
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let what = format!("nobody can be asked whether to forget {named}");
        return Err(Failure::usage(what).hint("say so with `--yes`"));
    }
    output::say(format_args!("Forget {named} for good? [y/N]"));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    let is_yes = matches!(answer.trim(), "y" | "Y" | "yes");
    match read {
        Ok(_) if is_yes => Ok(()),
        _ => Err(Failure::new("nothing was forgotten")),
    }
}

fn told(gone: &Forgotten) -> String {
    let counts = [
        (gone.messages, "message", "messages"),
        (gone.facts, "value of facts", "values of facts"),
        (gone.conversations, "conversation", "conversations"),
        (gone.summaries, "summary", "summaries"),
        (
            gone.prompts,
            "prompt that cannot be rebuilt",
            "prompts that cannot be rebuilt",
        ),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|&(count, one, several)| counted(count, one, several))
        .collect();
    if counts.is_empty() {
        return "forgot nothing".to_owned();
    }
    let log = match gone.is_log_clear {
        true => "",
        false => {
            "; another process reads the file, so that its log still holds it: \
             `kitbag memory vacuum` clears it afterwards"
        }
    };
    format!("forgot {}{log}", counts.join(", "))
}
