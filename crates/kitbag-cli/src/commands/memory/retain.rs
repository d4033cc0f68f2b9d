//! `kitbag memory retain`: forgets messages that are older than the configuration allows.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use kitbag::layout::FileProblem;
use kitbag::store::{ExportFilter, Forget, MessageFilter, Store};
use serde::Serialize;

use super::forget::{confirm, in_words};
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::progress::Progress;
use crate::project::ProjectArgs;
use crate::store::StoreArgs;
use kitbag::command::ForgetPreview;

/// Forgets messages that are older than the retention in kitbag.yaml
///
/// `memory.retention` in kitbag.yaml says how long messages are kept, such as 90d, 12w or 1y, and
/// `memory.channels.NAME.retention` says so for one channel. Older messages are deleted as by `kitbag memory
/// forget`, with everything that was derived from them; so are refusals. Messages without a time stay.
/// Nothing is deleted automatically: run this command from time to time, with `--yes` in scripts.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory retain --dry-run")]
pub(super) struct Args {
    #[command(flatten)]
    project: ProjectArgs,
    /// List what would be deleted, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Maximum number of messages to list for each channel
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: u32,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result for one channel.
#[derive(Serialize)]
struct Row<T> {
    channel: String,
    before: Timestamp,
    #[serde(flatten)]
    what: T,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let project = args.project.open_and_tell()?;
    // A retention that cannot be read would leave its channel to the general one, which may be shorter.
    if project.problems.iter().any(FileProblem::is_error) {
        return Err(Failure::new(
            "nothing was forgotten: the configuration has errors",
        ));
    }
    let settings = &project.config.memory;
    if settings.retention.is_none() && settings.channels.is_empty() {
        let what = "kitbag.yaml sets no retention";
        return Err(Failure::new(what).hint("add `memory: {retention: 90d}`, for example"));
    }
    let store = place.open().await?;
    // One moment for all channels, so that the same age means the same day.
    let now = Timestamp::now();
    let mut due = Vec::new();
    for channel in channels(&store).await? {
        let Some(age) = settings.retention_of(&channel) else {
            continue;
        };
        let age = SignedDuration::try_from(age).ok();
        let before = age.and_then(|age| now.checked_sub(age).ok());
        // The age reaches back beyond the first time there is: nothing is older.
        let Some(before) = before else { continue };
        let old = MessageFilter::default().until(before);
        let filter = ExportFilter::new(None, Some(channel.clone())).among(old);
        due.push((channel.clone(), before, Forget::Messages(filter)));
        let refusals = Forget::Refusals {
            channel: channel.clone(),
            before,
        };
        // Most channels have no refusals, and a question about none would only disturb.
        if !ForgetPreview::of(&store, &refusals, 0).await?.is_empty() {
            due.push((channel, before, refusals));
        }
    }
    if args.dry_run {
        return list(args, &store, due).await;
    }
    let files: Vec<String> = project
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    output::say(format_args!(
        "retention as in {}",
        one_line(&files.join(", "))
    ));
    let mut rows = Vec::new();
    for (channel, before, what) in due {
        if !args.yes {
            let preview = ForgetPreview::of(&store, &what, args.limit).await?;
            confirm(&preview, &what)?;
        }
        let progress = Progress::start("forgetting");
        let what = store.forget(what).await?;
        drop(progress);
        rows.push(Row {
            channel,
            before,
            what,
        });
    }
    if args.json {
        return Ok(output::print_json_list("channels", &rows)?);
    }
    let line = |row: &Row<_>| format!("{}: {}\n", one_line(&row.channel), in_words(&row.what));
    Ok(output::print(&rows.iter().map(line).collect::<String>())?)
}

/// Prints the messages that would go.
async fn list(
    args: &Args,
    store: &Store,
    due: Vec<(String, Timestamp, Forget)>,
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (channel, before, what) in due {
        let what = ForgetPreview::of(store, &what, args.limit).await?;
        rows.push(Row {
            channel,
            before,
            what,
        });
    }
    if args.json {
        return Ok(output::print_json_list("channels", &rows)?);
    }
    let text = |row: &Row<ForgetPreview>| {
        let text = row.what.text("would forget");
        format!("{}: {}\n", one_line(&row.channel), text.trim_end())
    };
    Ok(output::print(&rows.iter().map(text).collect::<String>())?)
}

async fn channels(store: &Store) -> Result<BTreeSet<String>, Failure> {
    let names = store.sender_names(u32::MAX).await?.into_iter();
    let channels = names.map(|(_, channel)| channel);
    // A channel on which everybody was refused has no sender in the store.
    let refused = store.refusals(u32::MAX).await?.into_iter();
    let channels = channels.chain(refused.map(|refusal| refusal.channel));
    Ok(channels.filter(|channel| !channel.is_empty()).collect())
}
