//! `kitbag memory import`: brings in conversations from JSON lines and from chat exports.
//!
//! Lines are kept in batches, each a transaction; whatever ends an import early, all lines before it
//! are kept, or with `--atomic` none. Ctrl-C ends it after the batch that is being kept.

mod interrupt;
mod keep;

use std::path::PathBuf;

use kitbag::core::message::Message;
use kitbag::memory::{ImportDefaults, ImportError, ImportFormat, ImportLine, LeftOut, read_import};
use kitbag::store::{Import, MessageTime, NewMessage};
use serde::Serialize;

use super::source::Source;
use crate::failure::Failure;
use crate::output::{self, counted, grouped};
use crate::store::StoreArgs;
use keep::{Keeper, Kept, RestoreForgotten, Unit};

/// Brings in conversations from JSON lines, or from an export of ChatGPT or Claude
///
/// Each JSON line is a message, {"channel", "sender", "conversation", "ref", "at", "role", "speaker",
/// "text", "visibility"}, of which only `text` is needed; with the visibility `internal` it is for the
/// model, and never shown. A message whose `ref` the conversation has already is left out, so that the
/// same file can be imported again; one whose text has changed is updated, and keeps its older text as
/// its history. What was forgotten stays away. Of an export, give conversations.json.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The file; `-` for stdin
    file: PathBuf,
    /// What the file holds: lines, chatgpt or claude; found out unless it is given
    #[arg(long, value_name = "FORMAT")]
    format: Option<ImportFormat>,
    /// The channel of messages that name none; else import, chatgpt or claude, by the format
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// The sender of messages that name none; else user
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Keeps all messages or, if one is bad, none; they are held in memory until the end
    #[arg(long)]
    atomic: bool,
    /// Brings back messages that were forgotten
    #[arg(long)]
    forgotten: bool,
    /// Prints the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let source = Source::open(&args.file)?;
    let store = store.open_or_make().await?;
    let mut defaults = ImportDefaults::default();
    defaults.channel.clone_from(&args.channel);
    defaults.sender.clone_from(&args.sender);
    let unit = match args.atomic {
        true => Unit::All,
        false => Unit::Batch,
    };
    let lines = source.lines();
    let mut import = read_import(source, args.format, &defaults);
    let mut keeper = Keeper::new(store, unit, args.forgotten.then_some(RestoreForgotten));
    for line in import.by_ref() {
        let message = match line {
            Ok(line) => message(line, lines.last()),
            Err(error) => Err(unreadable(error)),
        };
        match message {
            Ok(message) => keeper.take(message).await?,
            Err(failure) => return Err(keeper.end_early(failure).await),
        }
    }
    let kept = keeper.end().await?;
    tell(kept, import.left_out(), args)
}

fn unreadable(error: ImportError) -> Failure {
    let hint = match &error {
        ImportError::Json { .. } | ImportError::Field { .. } | ImportError::TooLong { .. } => {
            "mend it and import the file again: messages with a `ref` are not kept twice"
        }
        other => other.hint(),
    };
    Failure::new(&error).hint(hint)
}

/// The message of a line, or why it is none.
fn message(line: ImportLine, number: u64) -> Result<Import, Failure> {
    // In an export, where lines mean little, it is the reference that tells which is meant.
    let place = match &line.reference {
        Some(reference) => format!("line {number} (`{}`)", reference.escape_debug()),
        None => format!("line {number}"),
    };
    let said = Message::new(line.role, line.text).with_visibility(line.visibility);
    let mut message = NewMessage::from(said);
    if let Some(at) = line.at {
        let Some(at) = MessageTime::parse(&at) else {
            return Err(Failure::new(format_args!(
                "{place}: `at` is `{}`, expected a time such as 2024-01-15T10:30:00Z, seconds since 1970, or null",
                at.escape_debug()
            )));
        };
        message = message.at(at);
    }
    message.reference = line.reference;
    message.message.name = line.speaker;
    message.recallable = !line.recalled;
    let import = Import::new(line.channel, line.sender, line.conversation, message);
    import
        .check()
        .map_err(|error| Failure::new(format_args!("{place}: {error}")))?;
    Ok(import)
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    kept: Kept,
    left_out: LeftOut,
}

fn tell(kept: Kept, left_out: LeftOut, args: &Args) -> Result<(), Failure> {
    if args.json {
        return Ok(output::print_json(&Report { kept, left_out })?);
    }
    let mut told = format!("imported {}", counted(kept.messages, "message", "messages"));
    let branches = match left_out.branches {
        1 => "abandoned branch left out",
        _ => "abandoned branches left out",
    };
    for (count, what) in [
        (kept.known, "known already"),
        (kept.changed, "changed"),
        (
            kept.forgotten,
            "left out that were forgotten (`--forgotten` brings them back)",
        ),
        (left_out.empty, "without text"),
        (left_out.hidden, "that nobody saw left out"),
        (left_out.branches, branches),
    ] {
        if count > 0 {
            told.push_str(&format!(", {} {what}", grouped(count)));
        }
    }
    output::say(told);
    if kept.nameless > 0 {
        let (nameless, have) = match kept.nameless {
            1 => ("one".to_owned(), "has"),
            several => (grouped(several), "have"),
        };
        output::say(format_args!(
            "{nameless} of them {have} no `ref`, and would be kept once more if the file were imported again"
        ));
    }
    Ok(())
}
