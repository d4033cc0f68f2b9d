//! `kitbag memory vacuum`: removes old prompts, and returns unused space to the system.

use jiff::{Span, Timestamp, Zoned};
use kitbag::store::Pruned;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, counted, grouped};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Frees unused space, and removes archived prompts that the options choose
///
/// Turns stay when their prompts are removed; only these prompts can then not be rebuilt. In PostgreSQL,
/// pages keep forgotten text until they are reused; --full removes it from them. The server's write-ahead
/// log, replicas and backups keep it until they are recycled.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory vacuum --prompts-older-than 90d")]
pub(super) struct Args {
    /// Remove prompts older than this, such as 30d, 12h or 1y
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    prompts_older_than: Option<Span>,
    /// Remove the oldest prompts until the rest fits into this many bytes, such as 500MB or 1GB
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    prompts_max_bytes: Option<u64>,
    /// In PostgreSQL, rewrite the tables of all tenants, so that no page has forgotten text; locks them
    /// meanwhile
    #[arg(long)]
    full: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    prompts: u64,
    texts: u64,
    file_bytes_before: Option<u64>,
    file_bytes: Option<u64>,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    // Before the store is opened: an age that is too long is a mistake in the arguments.
    let before = args.prompts_older_than.map(before).transpose()?;
    let store = store.open().await?;
    let progress = Progress::start("compacting");
    // Before prompts are removed, so that the difference is that of the whole command.
    let file_bytes_before = store.stats().await?.file_bytes;
    let pruned = match (before, args.prompts_max_bytes) {
        (None, None) => Pruned::default(),
        (before, most) => store.prune_prompts(before, most).await?,
    };
    match args.full {
        true => store.vacuum_full().await?,
        false => store.vacuum().await?,
    }
    let report = Report {
        prompts: pruned.prompts,
        texts: pruned.texts,
        file_bytes_before,
        file_bytes: store.stats().await?.file_bytes,
    };
    drop(progress);
    if args.json {
        return Ok(output::print_json(&report)?);
    }
    let mut told = format!("removed {}", counted(report.prompts, "prompt", "prompts"));
    if let (Some(before), Some(after)) = (report.file_bytes_before, report.file_bytes) {
        let (before, after) = (grouped(before), grouped(after));
        told.push_str(&format!("; the file had {before} bytes and has {after}"));
    }
    output::say(told);
    Ok(())
}

/// The moment that an age reaches back to.
fn before(age: Span) -> Result<Timestamp, Failure> {
    let then = Zoned::now().checked_sub(age).map(|then| then.timestamp());
    then.map_err(|error| {
        Failure::usage(format_args!("`--prompts-older-than` is too long: {error}"))
    })
}

fn parse_age(text: &str) -> Result<Span, String> {
    match text.parse::<Span>() {
        Ok(age) if age.is_positive() => Ok(age),
        _ => Err("expected a time such as 30d, 12h or 1y".to_owned()),
    }
}

/// Parses bytes with or without a unit, whose steps are 1,000, or 1,024 with an `i`.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = text
        .split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or_default();
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (unit, thousand) = match unit.strip_suffix('i') {
        Some(unit) if !unit.is_empty() => (unit, 1_024_u64),
        _ => (unit, 1_000),
    };
    let power = ["", "k", "m", "g", "t"]
        .iter()
        .position(|known| *known == unit);
    let bytes = || {
        let factor = thousand.checked_pow(power?.try_into().ok()?)?;
        digits.parse::<u64>().ok()?.checked_mul(factor)
    };
    bytes().ok_or_else(|| "expected a number of bytes such as 500MB, 1GB or 1GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x01_bytes_are_read_with_their_unit() {
        for (text, bytes) in [
            ("0", 0),
            ("12", 12),
            ("12B", 12),
            ("3 kb", 3_000),
            ("500MB", 500_000_000),
            ("1g", 1_000_000_000),
            ("1GiB", 1 << 30),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "GB", "-1", "1.5GB", "1XB", "99999999999TB", "1 2"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
