//! `kitbag pack`: the prompt for a task, from the folder you are in.

mod args;
pub(crate) mod last;
mod summary;

use std::fs;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use kitbag::core::tokens::TokenCounter;
use kitbag::pack::{Attachment, Pack, PackError, PackRequest, Prepared, prepare};
use kitbag::tokens::Counter;

pub(crate) use args::PackArgs;

use crate::clipboard;
use crate::counter::say_exactness;
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;

/// Prints the prompt for a task: the code that it needs, within the budget
///
/// Looks at all files below the root, ranks them for the task, and shows the best of them whole, in
/// parts or in outline, as the budget allows. Without a task it gives an overview. A task is read
/// from stdin when none is given; with a task, what is piped in is attached to it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done; `-` reads it from stdin
    task: Option<String>,
    #[command(flatten)]
    pack: PackArgs,
    /// Prints the prompt with everything that was decided, as JSON
    #[arg(long)]
    json: bool,
    /// Writes the prompt to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Copies the prompt to the clipboard instead of printing it
    #[arg(long, conflicts_with = "output")]
    copy: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (counter, request) = args.pack.request(args.task.as_deref(), Stdin::Attached)?;
    // The vocabulary takes a tenth of a second to load: beside the survey that is free.
    let loading = counter.clone();
    let loaded = std::thread::spawn(move || loading.load());
    let progress = if args.json {
        Progress::hidden()
    } else {
        Progress::start("looking at the workspace")
    };
    let prepared = prepared(&request)?;
    progress.stage("fitting");
    // A vocabulary that cannot be loaded is loaded again, and fails, where it is used.
    let _ = loaded.join();
    let pack = prepared.pack(&request, &counter).map_err(failure)?;
    drop(progress);
    last::remember(&request, &pack);
    summary::log(&pack);

    if args.json {
        if args.output.is_none() && !args.copy {
            return Ok(output::print_json(&pack)?);
        }
        return deliver(args, &output::json(&pack).map_err(Failure::new)?);
    }
    say_exactness(&counter);
    let text = ended(&pack, &counter);
    deliver(args, &text)?;
    summary::say(&pack, request.model.as_deref());
    Ok(())
}

/// Surveys the workspace.
pub(crate) fn prepared(request: &PackRequest) -> Result<Prepared, Failure> {
    pollster::block_on(prepare(request)).map_err(failure)
}

pub(crate) fn failure(error: PackError) -> Failure {
    let is_usage = matches!(error, PackError::NoSuchPin { .. } | PackError::NoRepository);
    let failure = if is_usage {
        Failure::usage(&error)
    } else {
        Failure::new(&error)
    };
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn deliver(args: &Args, text: &str) -> Result<(), Failure> {
    if let Some(file) = &args.output {
        return write(file, text);
    }
    if args.copy {
        return clipboard::copy(text);
    }
    Ok(output::print_exactly(text)?)
}

/// Writes beside the file and then into its place: whoever reads it never sees half of it.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let failed =
        |error: io::Error| Failure::new(format_args!("cannot write `{}`: {error}", file.display()));
    if !file.is_file() && file.exists() {
        // A device or a pipe cannot be replaced.
        return fs::write(file, text).map_err(failed);
    }
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut beside =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    io::Write::write_all(&mut beside, text.as_bytes()).map_err(failed)?;
    beside.persist(file).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The prompt, with a newline at its end unless that were a token too many: the budget is the size
/// of what is printed.
fn ended(pack: &Pack, counter: &Counter) -> String {
    let ended = format!("{}\n", pack.prompt);
    if pack.prompt.ends_with('\n') || counter.count(&ended) > pack.budget {
        pack.prompt.clone()
    } else {
        ended
    }
}

/// What stdin is, beside a task that was given otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// A text that belongs to the task.
    Attached,
    /// Not read.
    Ignored,
}

/// The task, and what is attached to it.
fn task(
    given: Option<&str>,
    file: Option<&Path>,
    stdin: Stdin,
) -> Result<(String, Option<Attachment>), Failure> {
    if let Some(file) = file {
        let task = if file.as_os_str() == "-" {
            read_stdin()?
        } else {
            let bytes = fs::read(file).map_err(|error| {
                Failure::new(format_args!(
                    "cannot read the task from `{}`: {error}",
                    file.display()
                ))
            })?;
            String::from_utf8_lossy(&bytes).into_owned()
        };
        return Ok((task, None));
    }
    match given {
        Some("-") => Ok((read_stdin()?, None)),
        None if is_piped() => Ok((read_stdin()?, None)),
        None => Ok((String::new(), None)),
        Some(given) if stdin == Stdin::Attached && is_piped() => {
            let text = read_stdin()?;
            let attached = (!text.trim().is_empty()).then(|| Attachment {
                name: "stdin".into(),
                text,
            });
            Ok((given.to_owned(), attached))
        }
        Some(given) => Ok((given.to_owned(), None)),
    }
}

/// Whether somebody pipes something in: a terminal and `/dev/null` do not.
fn is_piped() -> bool {
    if io::stdin().is_terminal() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = fs::metadata("/dev/stdin").map(|stdin| stdin.file_type());
        kind.is_ok_and(|kind| kind.is_fifo() || kind.is_file())
    }
    #[cfg(not(unix))]
    true
}

const MOST_STDIN: u64 = 16 << 20;

fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .take(MOST_STDIN)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(format_args!("cannot read stdin: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
