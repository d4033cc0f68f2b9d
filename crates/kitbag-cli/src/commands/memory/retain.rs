//! `kitbag memory retain`: forgets what is older than the configuration says.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use kitbag::layout::FileProblem;
use kitbag::store::{ExportFilter, Forget, MessageFilter, Store};
use serde::Serialize;

use super::forget::{confirm, told};
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::progress::Progress;
use crate::project::ProjectArgs;
use crate::store::StoreArgs;
use kitbag::command::ForgetPreview;

/// Forgets messages that are older than the configuration keeps them
///
/// `memory.retention` in kitbag.yaml says how long messages are kept, such as 90d, 12w or 1y, and
/// `memory.channels.NAME.retention` how long on one channel. Older ones go as `kitbag memory forget` would
/// remove them, with all that was made of them, and so do refusals of messages. Messages without a time
/// stay. Nothing is forgotten by itself: run this command when it suits you, with `--yes` where nobody sits
/// at a terminal.
///
/// Example: kitbag memory retain --dry-run
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    project: ProjectArgs,
    /// List what would go, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Most messages to list for each channel
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: u32,
    /// Do not ask for confirmation
    #[arg(long)]
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
    // An age that cannot be read would give its channel another one.
    if project.problems.iter().any(FileProblem::is_error) {
        return Err(Failure::new(
            "nothing was forgotten: the configuration has errors",
        ));
    }
    let settings = &project.config.memory;
    if settings.retention.is_none() && settings.channels.is_empty() {
        let what = "no configuration says how long messages are kept";
        return Err(Failure::new(what).hint("write `memory: {retention: 90d}` into kitbag.yaml"));
    }
    let store = place.open().await?;
    let now = Timestamp::now();
    let mut due = Vec::new();
    for channel in channels(&store).await? {
        let Some(age) = settings.retention_of(&channel) else {
            continue;
        };
        let age = SignedDuration::try_from(age).ok();
        let before = age.and_then(|age| now.checked_sub(age).ok());
        // Longer than there has been time: nothing is older.
        let Some(before) = before else { continue };
        let old = MessageFilter::default().until(before);
        let filter = ExportFilter::new(None, Some(channel.clone())).among(old);
        due.push((channel.clone(), before, Forget::Messages(filter)));
        let refusals = Forget::Refusals {
            channel: channel.clone(),
            before,
        };
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
            confirm(&store, &what, args.limit).await?;
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
    let line = |row: &Row<_>| format!("{}: {}\n", one_line(&row.channel), told(&row.what));
    Ok(output::print(&rows.iter().map(line).collect::<String>())?)
}

/// Prints what would go.
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
    let refused = store.refusals(u32::MAX).await?.into_iter();
    let channels = channels.chain(refused.map(|refusal| refusal.channel));
    Ok(channels.filter(|channel| !channel.is_empty()).collect())
}
