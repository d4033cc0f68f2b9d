//! `kitbag memory repair`: rebuilds indexes and counts, and removes damaged rows.

use std::io::Write as _;
use std::path::PathBuf;

use kitbag::store::Remedy;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, FileWriter, Rights, counted, one_line};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Rebuilds indexes, counts and totals from the messages, and reports the repairs
///
/// Rows that cannot be read, or that belong to nothing, are written to a file of JSON lines before they are
/// removed, so that nothing is lost. In conversations only unreadable cells are removed. If a fact has two
/// current values, the later one holds. Prompts that contained removed rows can no longer be rebuilt. Then
/// the store is checked; problems that remain are printed, and the exit code is 1. Make a backup first:
/// `kitbag memory backup`.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory repair --set-aside damaged.jsonl")]
pub(super) struct Args {
    /// The file for damaged rows, written only if there are any [default: kitbag-damaged.jsonl]
    #[arg(
        long,
        value_name = "FILE",
        default_value = "kitbag-damaged.jsonl",
        hide_default_value = true
    )]
    set_aside: PathBuf,
    /// List problems and the rows that would be removed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    mended: Vec<String>,
    left: Vec<String>,
    set_aside: usize,
    file: Option<String>,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let progress = Progress::start("looking for damaged rows");
    // Found before anything changes, so that the same rows are written to the file and removed.
    let damaged = store.damaged_rows().await?;
    let set_aside = damaged.len();
    if args.dry_run {
        let left = store.check().await?;
        drop(progress);
        let rows = damaged.iter().map(|row| {
            let fate = match row.remedy {
                Remedy::Remove => "would be removed",
                Remedy::Mend => "would be repaired",
            };
            format!("{fate}: {}: {}", row.table, row.reason)
        });
        return report(
            args,
            Report {
                mended: rows.collect(),
                left,
                set_aside,
                file: None,
            },
        );
    }
    let mut file = None;
    if !damaged.is_empty() {
        // The file may be all that is left of rows of an earlier repair, so it is never overwritten.
        if args.set_aside.exists() || place.location()?.is_file_of(&args.set_aside) {
            let what = format!("{} already exists", args.set_aside.display());
            return Err(Failure::usage(what).hint("name another file with `--set-aside`"));
        }
        let mut writer = FileWriter::open(&args.set_aside, Rights::OwnerAlone)?;
        for row in &damaged {
            writeln!(writer, "{}", row.to_json())?;
        }
        // On the disk before the rows are removed.
        writer.finish()?;
        file = Some(args.set_aside.display().to_string());
    }
    progress.stage("repairing".to_owned());
    let repaired = store.repair(damaged).await?;
    drop(progress);
    let is_left = |problem: &String| repaired.left.contains(problem);
    let mended = repaired.found.iter().filter(|problem| !is_left(problem));
    report(
        args,
        Report {
            mended: mended.cloned().collect(),
            left: repaired.left.clone(),
            set_aside,
            file,
        },
    )
}

/// Prints the result, and fails if something is still wrong.
fn report(args: &Args, report: Report) -> Result<(), Failure> {
    let is_whole = report.left.is_empty();
    if args.json {
        output::print_json(&report)?;
    } else {
        say(args, &report);
    }
    // A dry run has done its job by listing the problems.
    match is_whole || args.dry_run {
        true => Ok(()),
        false => Err(Failure::reported()),
    }
}

fn say(args: &Args, report: &Report) {
    let done = if args.dry_run { "" } else { "repaired: " };
    for problem in &report.mended {
        output::say(format_args!("{done}{}", one_line(problem)));
    }
    for problem in &report.left {
        let left = if args.dry_run {
            "problem"
        } else {
            "still a problem"
        };
        output::say(format_args!("{left}: {}", one_line(problem)));
    }
    if let Some(file) = &report.file {
        let rows = counted(report.set_aside as u64, "damaged row", "damaged rows");
        output::say(format_args!("wrote {rows} to {file}"));
    }
    if report.left.is_empty() {
        output::say(match report.mended.is_empty() {
            true => "no problems found",
            false => "no problems left",
        });
    }
}
