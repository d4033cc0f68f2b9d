//! `kitbag memory forget`: deletes messages with everything that was derived from them.

use std::io::{self, BufRead as _, IsTerminal as _};

use clap::ArgGroup;
use kitbag::command::ForgetPreview;
use kitbag::store::{
    ConversationId, ExportFilter, Forget, Forgotten, MessageFilter, MessageId, MessageTime, Store,
};

use super::filter::{TimeArgs, parse_since};
use super::sender::named_or_only;
use crate::failure::Failure;
use crate::output::{self, counted, one_line};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Deletes messages, facts, conversations, or everything about a sender, for good
///
/// Deletes them from rows, indexes and archived prompts, with everything that was derived from them.
/// Prompts that contained them can no longer be rebuilt. `--matching`, `--before`, `--since`, `--until` and
/// `--channel` choose messages of all senders or of `--sender`; a message must satisfy all of them. The
/// messages are listed before anything is deleted; `--dry-run` only lists them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag memory forget --matching \"tax number\" --dry-run
  kitbag memory forget --sender ann --channel slack --before 90d --yes
  kitbag memory forget --message 7.12#3")]
#[command(group = ArgGroup::new("one").args(["message", "fact", "tenant_all"]))]
#[command(group = ArgGroup::new("some").multiple(true)
    .args(["matching", "before", "since", "until", "channel"]).conflicts_with("one"))]
pub(super) struct Args {
    /// A message, such as 7.12#3
    #[arg(long, value_name = "ID", conflicts_with_all = ["sender", "conversation"])]
    message: Option<MessageId>,
    /// A fact with its history, by its key, of --sender or of the only sender
    #[arg(long, value_name = "KEY", conflicts_with = "conversation")]
    fact: Option<String>,
    /// A conversation, such as 7.12, or only those of its messages that the other options choose
    #[arg(long, value_name = "ID", conflicts_with = "sender")]
    conversation: Option<ConversationId>,
    /// Everything about this sender: conversations on all channels, facts, summaries; with options that
    /// choose messages, only those messages
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Messages that have all of these words or words of the same stem, in any case, also in a text that an
    /// edit replaced
    #[arg(long, value_name = "WORDS")]
    matching: Option<String>,
    /// Messages before this time or older than this, such as 2024-05-01 or 90d
    #[arg(long, value_name = "TIME", value_parser = parse_since, conflicts_with = "until")]
    before: Option<MessageTime>,
    #[command(flatten)]
    times: TimeArgs,
    /// Messages on this channel
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// Everything of the tenant
    #[arg(long, conflicts_with_all = ["sender", "conversation"])]
    tenant_all: bool,
    /// List what would be deleted, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Maximum number of messages to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let store = store.open().await?;
    let what = what(args, &store).await?;
    if args.dry_run {
        let preview = ForgetPreview::of(&store, &what, args.limit).await?;
        return match args.json {
            true => Ok(output::print_json(&preview)?),
            false => Ok(output::print(&preview.text("would forget"))?),
        };
    }
    if !args.yes {
        let preview = ForgetPreview::of(&store, &what, args.limit).await?;
        // Nobody is asked about nothing.
        if preview.is_empty() {
            return say(args, &Forgotten::default());
        }
        confirm(&preview, &what)?;
    }
    // After the question: a line of progress would cover it.
    let progress = Progress::start("forgetting");
    let gone = store.forget(what).await?;
    drop(progress);
    say(args, &gone)
}

fn say(args: &Args, gone: &Forgotten) -> Result<(), Failure> {
    match args.json {
        true => Ok(output::print_json(gone)?),
        false => Ok(output::print(&in_words(gone))?),
    }
}

async fn what(args: &Args, store: &Store) -> Result<Forget, Failure> {
    // The narrowest choice first; clap refuses combinations that contradict each other.
    if let Some(message) = args.message {
        return Ok(Forget::Message(message));
    }
    if args.tenant_all {
        return Ok(Forget::Tenant);
    }
    if let Some(key) = &args.fact {
        return Ok(Forget::Fact {
            sender: named_or_only(store, args.sender.as_deref()).await?,
            key: key.clone(),
        });
    }
    let mut messages = MessageFilter::default();
    args.times.add_to(&mut messages);
    // `--before` takes an age as well; both bound the same end.
    messages.until = args.before.or(messages.until);
    if let Some(words) = &args.matching {
        messages = messages.with_words(words);
        if messages.words.is_empty() {
            return Err(Failure::usage("`--matching` has no words"));
        }
    }
    if messages.is_empty() && args.channel.is_none() {
        // Unlike elsewhere, the only sender must be named: without any choice this would delete everything.
        return match (args.conversation, &args.sender) {
            (Some(conversation), _) => Ok(Forget::Conversation(conversation)),
            (None, Some(sender)) => Ok(Forget::Sender(sender.clone())),
            (None, None) => Err(Failure::usage("no option says what to forget").hint(
                "give `--message`, `--fact`, `--conversation`, `--sender`, `--matching`, `--before` \
                 or another option of `kitbag memory forget --help`",
            )),
        };
    }
    if let Some(conversation) = args.conversation {
        messages = messages.in_conversation(conversation);
    }
    let filter = ExportFilter::new(args.sender.clone(), args.channel.clone()).among(messages);
    Ok(Forget::Messages(filter))
}

/// Lists the messages that would go, and asks the person at the terminal.
pub(super) fn confirm(preview: &ForgetPreview, what: &Forget) -> Result<(), Failure> {
    let named = one_line(&named(what));
    // Both: the question goes to stderr, and nobody must answer a question that nobody could read.
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let what = format!("cannot ask before forgetting {named}: this is not a terminal");
        return Err(Failure::usage(what).hint("`--yes` forgets without asking"));
    }
    output::say(preview.text("would forget").trim_end());
    output::say(format_args!("Forget {named} for good? [y/N]"));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    let is_yes = matches!(answer.trim(), "y" | "Y" | "yes");
    match read {
        Ok(_) if is_yes => Ok(()),
        _ => Err(Failure::new("nothing was forgotten")),
    }
}

/// The number of deleted things of each kind, in words.
pub(super) fn in_words(gone: &Forgotten) -> String {
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
        (gone.refusals, "refusal", "refusals"),
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
            "; the write-ahead log still has it, because another process is reading the file: \
             `kitbag memory vacuum` clears the log afterwards"
        }
    };
    let pages = match gone.in_pages {
        true => {
            "; the server's pages may have it until `kitbag memory vacuum --full`, and its \
             write-ahead log, replicas and backups until they are recycled"
        }
        false => "",
    };
    format!("forgot {}{log}{pages}", counts.join(", "))
}

/// Names the things to forget.
fn named(what: &Forget) -> String {
    match what {
        Forget::Message(id) => format!("message {id}"),
        Forget::Fact { sender, key } => format!("the fact `{key}` of {sender}"),
        Forget::Conversation(id) => format!("conversation {id}"),
        Forget::Sender(sender) => format!("everything about {sender}"),
        Forget::Refusals { channel, .. } => format!("the refusals on {channel}"),
        Forget::Tenant => "everything of the tenant".to_owned(),
        _ => "these messages".to_owned(),
    }
}
