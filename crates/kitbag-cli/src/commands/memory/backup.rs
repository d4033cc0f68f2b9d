//! `kitbag memory backup`: a store in one file, as it was at one moment.

use std::path::PathBuf;

use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, grouped, one_line};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Writes a backup to a new file while other programs read and write
///
/// The backup is itself a store that any command can open with `--store`, and `kitbag memory restore` brings
/// it back. A backup of a file holds all tenants, one of a PostgreSQL database only the tenant that
/// `--tenant` names. It is written under a temporary name until it is complete; a file that an interrupted
/// backup left behind is reported, and stays.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory backup memory-2024-05-01.db")]
pub(super) struct Args {
    /// The file to write, whole or not at all; it must not exist, and only its owner can read it
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    file: String,
    bytes: u64,
    /// Files of interrupted backups.
    left_over: Vec<String>,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let store = store.open().await?;
    let progress = Progress::start("backing up");
    let backup = store.back_up(&args.file).await?;
    drop(progress);
    let left_over = backup.left_over.iter();
    let report = Report {
        file: args.file.display().to_string(),
        bytes: backup.bytes,
        left_over: left_over.map(|file| file.display().to_string()).collect(),
    };
    if args.json {
        return Ok(output::print_json(&report)?);
    }
    let (file, bytes) = (one_line(&report.file), grouped(report.bytes));
    output::say(format_args!("wrote {file}, {bytes} bytes"));
    for file in &report.left_over {
        let file = one_line(file);
        output::say(format_args!(
            "{file} is left over from a backup that was interrupted, and can be removed"
        ));
    }
    Ok(())
}
