//! `kitbag memory edit`: replaces the text of a message; the older text stays as its history.

use std::io::{self, Read as _};

use jiff::Timestamp;
use kitbag::store::MessageId;
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::store::StoreArgs;

/// Replaces the text of a message, and shows the difference
///
/// From then on recall finds only the new text. Facts and summaries that came from the older text are
/// removed. The older text stays: `kitbag memory history ID` shows all versions, and `kitbag memory forget
/// --message ID` removes them.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory edit 7.12#3 \"We fly to Porto in October\"")]
pub(super) struct Args {
    /// The message, such as 7.12#3
    id: MessageId,
    /// The new text; `-` reads it from stdin
    text: String,
    /// Show the difference, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    id: MessageId,
    before: &'a str,
    after: &'a str,
    changed: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let mut text = args.text.clone();
    if text == "-" {
        text.clear();
        let read = io::stdin().lock().read_to_string(&mut text);
        read.map_err(|error| Failure::new(format_args!("cannot read the new text: {error}")))?;
        // Shell commands end their output with a newline that is no part of the text.
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
    }
    let store = store.open().await?;
    let before = store.message(args.id).await?.text().into_owned();
    let changed = match args.dry_run {
        true => before != store.as_stored(text.clone()),
        false => {
            let edited = store.edit_message(args.id, text.as_str(), Timestamp::now());
            edited.await.map_err(crate::store::wrong)?
        }
    };
    // Shown as they are stored, with secrets masked. A message from before masking may still hold one.
    let (before, text) = (store.as_stored(before), store.as_stored(text));
    if args.json {
        let (before, after) = (before.as_str(), text.as_str());
        let id = args.id;
        return Ok(output::print_json(&Report {
            id,
            before,
            after,
            changed,
        })?);
    }
    if !changed {
        output::say(format_args!("message {} already has this text", args.id));
    }
    Ok(output::print(&difference(&before, &text))?)
}

/// The changed lines, without the equal ones before and after them.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let first = before.iter().zip(&after).take_while(same).count();
    // Without this limit a line could count as equal from both ends.
    let most = before.len().min(after.len()) - first;
    let last = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(most)
        .take_while(same)
        .count();
    let changed = |lines: &[&str], mark: &str| -> String {
        let lines = lines.iter().skip(first).take(lines.len() - first - last);
        lines.map(|line| format!("{mark} {line}\n")).collect()
    };
    changed(&before, "-") + &changed(&after, "+")
}
