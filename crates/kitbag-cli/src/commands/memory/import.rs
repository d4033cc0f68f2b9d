//! `kitbag memory import`: brings in conversations from JSON lines and from chat exports.
//!
//! Lines are stored in batches, each a transaction. If an import ends early, all lines before that point
//! are kept, or with `--atomic` none. Ctrl-C ends it after the batch under way.

mod interrupt;
mod keep;
mod report;

use std::path::PathBuf;

use kitbag::core::message::{Message, MessageMetadata};
use kitbag::memory::{ImportDefaults, ImportError, ImportFormat, ImportLine, Place, read_import};
use kitbag::store::{Import, MessageTime, NewFact, NewMessage};
use serde_json::Value;

use super::source;
use crate::failure::Failure;
use crate::project;
use crate::store::StoreArgs;
use keep::{Keeper, RestoreForgotten, Unit};
use report::{Problem, Skipped};

/// Imports conversations from an export of ChatGPT or Claude, or from JSON lines
///
/// Give an export as the zip file that was downloaded, or its conversations.json. Messages of the branch
/// that was shown last are imported, with titles and summaries. Canvas documents, artifacts and created
/// files become messages in their latest version; what ChatGPT was told to remember becomes facts. Calls
/// and results of tools, thoughts, hidden messages and custom instructions are left out. The report counts
/// every kind.
///
/// Each JSON line is a message, {"channel", "sender", "conversation", "title", "ref", "at", "role",
/// "speaker", "text", "visibility", "metadata", "facts", "summary"}, of which only `text` is required. With
/// the visibility `internal` it is for the model and never shown. Messages of chat APIs, {"role",
/// "content"}, and conversations of them, {"messages"}, are read too.
///
/// The same file can be imported again: a message is skipped if the conversation already has its `ref`. If
/// its text has changed, it is updated, and its older text stays in its history. Forgotten messages are not
/// imported again.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag memory import chatgpt-export.zip
  kitbag memory import messages.jsonl --channel slack --sender ann
  my-program | kitbag memory import -")]
pub(super) struct Args {
    /// The file, in UTF-8 or UTF-16, or a zip archive of such files; `-` for stdin
    file: PathBuf,
    /// Format of the file: lines, chatgpt or claude [default: detected]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ImportFormat>,
    /// Channel of messages that name none [default: import, chatgpt or claude, by the format]
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// Sender of messages that name none [default: user]
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Stop at the first bad record instead of reporting and skipping it
    #[arg(long)]
    strict: bool,
    /// Import all messages, or none if one is bad; needs memory for all of them
    #[arg(long)]
    atomic: bool,
    /// Import forgotten messages too
    #[arg(long)]
    forgotten: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    // A broken configuration may restrict what is kept, which could not be undone afterwards.
    project::refuse_broken_config("nothing was imported")?;
    let source = source::open(&args.file)?;
    let store = store.open_or_make().await?;
    let mut defaults = ImportDefaults::default();
    defaults.channel.clone_from(&args.channel);
    defaults.sender.clone_from(&args.sender);
    let unit = match args.atomic {
        true => Unit::All,
        false => Unit::Batch,
    };
    let stops = args.strict || args.atomic;
    let mut import = read_import(source, args.format, &defaults);
    let mut keeper = Keeper::new(store, unit, args.forgotten.then_some(RestoreForgotten));
    let mut skipped = Skipped::default();
    let mut is_empty = true;
    while let Some(line) = import.next() {
        let message = match line {
            Ok(line) => message(line, &import.place()),
            Err(error) => Err(unreadable(&error)),
        };
        match message {
            Ok(message) => {
                is_empty = false;
                keeper.take(message).await?;
            }
            Err(problem) if stops || problem.is_final => {
                if is_empty {
                    // With no message at all, the records that were left out explain the failure.
                    report::say_left_out(import.tally());
                }
                return Err(keeper.end_early(problem.into()).await);
            }
            Err(problem) => skipped.add(problem),
        }
    }
    let kept = keeper.end().await?;
    if is_empty && let Some(failure) = skipped.as_failure() {
        return Err(failure.and("nothing was imported"));
    }
    // A download that was cut off at once may not even begin like an archive.
    let is_named_archive = args.file.extension();
    let is_named_archive = is_named_archive.is_some_and(|name| name.eq_ignore_ascii_case("zip"));
    if is_empty && is_named_archive {
        let what = format!("{} is not a zip archive", args.file.display());
        let failure = Failure::new(format_args!("{what}, and has no conversation in it"));
        return Err(failure.hint("download the file again: it is incomplete"));
    }
    report::tell(kept, import.tally(), &skipped, args.json)
}

fn unreadable(error: &ImportError) -> Problem {
    let hint = match error.is_final() {
        true => error.hint(),
        false => "correct it and import the file again: messages with a `ref` are not stored twice",
    };
    Problem {
        what: error.to_string(),
        hint: Some(hint),
        is_final: error.is_final(),
    }
}

/// The message of a line, or the problem with it.
fn message(line: ImportLine, place: &Place) -> Result<Import, Problem> {
    // A record may hold many messages; the reference tells which one has the problem.
    let place = match &line.reference {
        Some(reference) => format!("{place} (`{}`)", reference.escape_debug()),
        None => place.to_string(),
    };
    let mut said = Message::new(line.role, line.text).with_visibility(line.visibility);
    if !line.metadata.is_empty() {
        let metadata = serde_json::from_value::<MessageMetadata>(Value::Object(line.metadata));
        let metadata =
            metadata.map_err(|error| Problem::new(format!("{place}: metadata: {error}")));
        said.metadata = Some(metadata?);
    }
    let mut message = NewMessage::from(said);
    if let Some(at) = line.at {
        let Some(at) = MessageTime::parse(&at) else {
            return Err(Problem::new(format!(
                "{place}: `at` is `{}`, expected a time such as 2024-01-15T10:30:00Z, seconds since 1970, or null",
                at.escape_debug()
            )));
        };
        message = message.at(at);
    }
    message.reference = line.reference;
    message.message.name = line.speaker;
    // A repeated memory must not be found as if it had been said twice.
    message.recallable = !line.recalled;
    let mut import = Import::new(line.channel, line.sender, line.conversation, message);
    import.title = line.title;
    import.summary = line.summary;
    let facts = line.facts.into_iter();
    import.facts = facts.map(|(key, value)| NewFact::new(key, value)).collect();
    let checked = import.check();
    checked.map_err(|error| Problem::new(format!("{place}: {error}")))?;
    Ok(import)
}
