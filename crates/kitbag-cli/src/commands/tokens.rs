//! `kitbag tokens`: counts the tokens of files or of stdin.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use kitbag::core::tokens::{Exactness, TokenCounter};
use kitbag::tokens::{Counter, StreamCount, StreamError};
use serde::Serialize;

use crate::counter::{CounterArgs, say_exactness};
use crate::failure::Failure;
use crate::input;
use crate::output;

/// Counts the tokens of files or of stdin
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag tokens README.md docs/design.md
  git diff | kitbag tokens -m claude-opus-4-8")]
pub(crate) struct Args {
    /// The files to count; `-` or none for stdin
    files: Vec<PathBuf>,
    #[command(flatten)]
    counter: CounterArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (counter, _) = args.counter.counter()?;
    let stdin = [PathBuf::from("-")];
    let files = match args.files.as_slice() {
        [] => &stdin,
        files => files,
    };
    let mut report = Report {
        tokenizer: counter.name().into(),
        exactness: counter.exactness(),
        files: Vec::new(),
        problems: Vec::new(),
        total: 0,
    };
    for path in files {
        let path_shown = path.display().to_string();
        match count(path, &counter) {
            Ok(StreamCount { tokens, bytes, .. }) => {
                report.total += tokens;
                report.files.push(FileCount {
                    path: path_shown,
                    tokens,
                    bytes,
                });
            }
            // The other files are counted nevertheless; the exit code tells that one was not.
            Err(error) => report.problems.push(format!("{path_shown}: {error}")),
        }
    }
    for problem in &report.problems {
        output::say_error(&output::one_line(problem), None);
    }
    if args.json {
        output::print_json(&report)?;
    } else {
        say_exactness(&counter);
        print_plain(&report, args.files.is_empty())?;
    }
    match report.problems.is_empty() {
        true => Ok(()),
        false => Err(Failure::reported()),
    }
}

#[derive(Serialize)]
struct Report {
    tokenizer: String,
    exactness: Exactness,
    files: Vec<FileCount>,
    problems: Vec<String>,
    total: u64,
}

#[derive(Serialize)]
struct FileCount {
    path: String,
    tokens: u64,
    bytes: u64,
}

fn count(path: &Path, counter: &Counter) -> Result<StreamCount, StreamError> {
    if input::is_stdin(path) {
        return counter.count_reader(io::stdin().lock());
    }
    // Streamed: the file may be larger than the memory.
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("is a directory; name the files in it").into());
    }
    counter.count_reader(file)
}

/// Prints a number alone for stdin, or else a line for each file, with the total of several.
fn print_plain(report: &Report, only_stdin: bool) -> io::Result<()> {
    let width = report.total.to_string().len();
    let line = |file: &FileCount| match only_stdin {
        true => file.tokens.to_string(),
        false => format!("{:>width$} {}", file.tokens, output::one_line(&file.path)),
    };
    let mut lines: Vec<String> = report.files.iter().map(line).collect();
    if report.files.len() > 1 {
        lines.push(format!("{:>width$} total", report.total));
    }
    output::print(&lines.join("\n"))
}
