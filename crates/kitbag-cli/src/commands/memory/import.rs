//! `kitbag memory import`: brings in conversations from JSON lines and from chat exports.
//!
//! Lines are stored in batches, each a transaction. If an import ends early, all lines before that point
//! are kept, or with `--atomic` none. Ctrl-C ends it after the batch under way.

mod interrupt;
mod keep;
mod messages;
mod report;

use std::path::PathBuf;

use kitbag::memory::{ImportDefaults, ImportFormat, read_import};
use kitbag::store::{Import, ImportBatch, ImportBatches};

use super::source;
use crate::failure::Failure;
use crate::project;
use crate::store::StoreArgs;
use keep::{Keeper, RestoreForgotten, Unit};
use messages::Messages;

/// Imports conversations from an export of ChatGPT or Claude, or from JSON lines
///
/// Give an export as the zip file that was downloaded, or its conversations.json. Messages of the branch
/// that was shown last are imported, with titles and summaries. Canvas documents, artifacts and created
/// files become messages in their latest version; what either was told to remember becomes facts. Calls
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
    let secrets = store.secrets();
    let mut messages = Messages::new(read_import(source, args.format, &defaults), stops);
    let mut keeper = Keeper::new(store, unit, args.forgotten.then_some(RestoreForgotten));
    match unit {
        Unit::All => {
            let all: Vec<Import> = messages.by_ref().collect();
            if messages.problem.is_none() && !all.is_empty() {
                keeper
                    .keep(ImportBatch::with_secrets(all, secrets)?)
                    .await?;
            }
        }
        Unit::Batch => {
            let mut batches = ImportBatches::of(messages, secrets)?;
            while let Some(batch) = batches.next().await {
                match batch {
                    Ok(batch) => keeper.keep(batch).await?,
                    Err(error) => return Err(keeper.with_counts(error.into()).await),
                }
            }
            messages = match batches.into_source() {
                Ok(messages) => messages,
                Err(error) => return Err(keeper.with_counts(error.into()).await),
            };
        }
    }
    let Messages {
        lines,
        skipped,
        is_empty,
        problem,
        ..
    } = messages;
    if let Some(problem) = problem {
        if is_empty {
            // With no message at all, the records that were left out explain the failure.
            report::say_left_out(lines.tally());
        }
        return Err(keeper.with_counts(problem.into()).await);
    }
    let kept = keeper.end().await;
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
    report::tell(kept, lines.tally(), &skipped, args.json)
}
