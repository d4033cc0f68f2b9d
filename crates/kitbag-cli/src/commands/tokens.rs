//! `kitbag tokens`: counts the tokens of files or of stdin.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use kitbag::core::tokens::{Exactness, TokenCounter};
use kitbag::tokens::{Counter, StreamCount};
use serde::Serialize;

use crate::counter::{CounterArgs, say_exactness};
use crate::failure::Failure;
use crate::output;

/// Counts the tokens of files, or of stdin
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The files to count; `-` or none for stdin
    files: Vec<PathBuf>,
    #[command(flatten)]
    counter: CounterArgs,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (counter, _) = args.counter.counter()?;
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() {
        &stdin[..]
    } else {
        &args.files
    };

    let mut report = Report {
        tokenizer: counter.name().into(),
        exactness: counter.exactness(),
        files: Vec::new(),
        problems: Vec::new(),
        total: 0,
    };
    for path in files {
        match count(path, &counter) {
            Ok(count) => {
                report.total += count.tokens;
                report.files.push(FileCount {
                    path: path.display().to_string(),
                    tokens: count.tokens,
                    bytes: count.bytes,
                });
            }
            Err(problem) => report.problems.push(problem),
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
    if report.problems.is_empty() {
        Ok(())
    } else {
        Err(Failure::reported())
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

fn count(path: &Path, counter: &Counter) -> Result<StreamCount, String> {
    let counted = if path == Path::new("-") {
        counter.count_reader(io::stdin().lock())
    } else {
        File::open(path)
            .and_then(|file| {
                if file.metadata()?.is_dir() {
                    return Err(io::Error::other("is a directory; name the files in it"));
                }
                Ok(file)
            })
            .map_err(Into::into)
            .and_then(|file| counter.count_reader(file))
    };
    counted.map_err(|error| format!("{}: {error}", path.display()))
}

/// A number alone for stdin, else a line for each file, and the total of several.
fn print_plain(report: &Report, only_stdin: bool) -> io::Result<()> {
    if only_stdin {
        return match report.files.first() {
            Some(file) => output::print(&file.tokens.to_string()),
            None => Ok(()),
        };
    }
    let width = report.total.to_string().len();
    let mut lines: Vec<String> = report
        .files
        .iter()
        .map(|file| format!("{:>width$} {}", file.tokens, output::one_line(&file.path)))
        .collect();
    if report.files.len() > 1 {
        lines.push(format!("{:>width$} total", report.total));
    }
    if lines.is_empty() {
        Ok(())
    } else {
        output::print(&lines.join("\n"))
    }
}
