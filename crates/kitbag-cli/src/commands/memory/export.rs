//! `kitbag memory export`: all messages as JSON lines, which `import` takes back.

use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;

use kitbag::report::export_line;
use kitbag::store::{ExportFilter, Store};

use super::filter::FilterArgs;
use super::sender::{say_unknown, say_unknown_conversations};
use crate::failure::Failure;
use crate::input;
use crate::output::{self, FileWriter, Rights, counted, grouped, printable_json};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Messages held in memory at a time.
const PAGE: u32 = 1_000;

/// Prints all messages as JSON lines, which `kitbag memory import` reads
///
/// Messages come in the order of their arrival, from each sender on each channel, with their text, metadata
/// and the titles of conversations. Internal messages, tool calls, facts and prompts are left out;
/// `kitbag memory migrate` copies everything.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag memory export messages.jsonl
  kitbag memory export --conversation trip --since 2024-05-01")]
pub(super) struct Args {
    /// File to write, whole or not at all; only its owner can read a new one [default: `-`, stdout]
    file: Option<PathBuf>,
    /// Only messages of this sender
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Only messages on this channel
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Report and leave out messages that cannot be read, instead of stopping at the first
    #[arg(long)]
    skip_damaged: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let location = store.location()?;
    let store = store.open().await?;
    let named = args.file.as_deref().filter(|file| !input::is_stdin(file));
    let mut file = None;
    if let Some(named) = named {
        // Writing would replace the store with its own export.
        if location.is_file_of(named) {
            let what = format!("{} is the store itself", named.display());
            return Err(Failure::usage(what).hint("give another file"));
        }
        // It holds what people said, as the store does.
        file = Some(FileWriter::open(named, Rights::OwnerAlone)?);
    }
    let to: Box<dyn Write + '_> = match &mut file {
        Some(file) => Box::new(file),
        None => Box::new(io::stdout().lock()),
    };
    // Only a terminal obeys control characters; a program gets the bytes as they are.
    let reader = match named.is_none() && io::stdout().is_terminal() {
        true => Reader::Person,
        false => Reader::Program,
    };
    let mut to = io::BufWriter::new(to);
    let count = write(&store, args, &mut to, reader).await?;
    to.flush()?;
    // Ends the borrow of the file, which is then moved to its place.
    drop(to);
    if let Some(file) = file {
        file.finish()?;
    }
    // Nothing at all: a mistyped filter is more likely than an empty memory.
    if count == Count::default() {
        let (sender, channel) = (args.sender.as_deref(), args.channel.as_deref());
        if !say_unknown(&store, sender, channel).await? {
            say_unknown_conversations(&store, &args.filter.filter().conversations).await?;
        }
    }
    let messages = counted(count.written, "message", "messages");
    output::say(format_args!("exported {messages}"));
    if count.left_out > 0 {
        let messages = counted(count.left_out, "message", "messages");
        output::say(format_args!(
            "left out {messages} without text or for the model alone; `kitbag memory migrate` copies everything"
        ));
    }
    Ok(())
}

/// The reader of the lines: a person's terminal must not receive control characters.
#[derive(Clone, Copy)]
enum Reader {
    Person,
    Program,
}

/// Messages met so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    written: u64,
    left_out: u64,
}

async fn write(
    store: &Store,
    args: &Args,
    to: &mut impl Write,
    reader: Reader,
) -> Result<Count, Failure> {
    let filter =
        ExportFilter::new(args.sender.clone(), args.channel.clone()).among(args.filter.filter());
    let progress = Progress::start("exporting");
    let mut count = Count::default();
    let mut after = None;
    loop {
        let (page, next) = store.export(&filter, after, PAGE).await?;
        for exported in page {
            let exported = match exported {
                Ok(exported) => exported,
                Err(error) if args.skip_damaged => {
                    output::say(format_args!("left out: {error}"));
                    continue;
                }
                Err(error) => {
                    return Err(Failure::from(error).hint(
                        "`--skip-damaged` exports the others; `kitbag memory check` finds all",
                    ));
                }
            };
            let Some(line) = export_line(exported) else {
                count.left_out += 1;
                continue;
            };
            let mut line = serde_json::to_string(&line).map_err(io::Error::from)?;
            if matches!(reader, Reader::Person) {
                line = printable_json(&line).into_owned();
            }
            writeln!(to, "{line}")?;
            count.written += 1;
        }
        if next.is_none() {
            return Ok(count);
        }
        after = next;
        progress.stage(format!("exporting, {} messages", grouped(count.written)));
    }
}
