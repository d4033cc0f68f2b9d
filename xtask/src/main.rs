//! Development tasks: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask bench core`.
//!
//! Everything that continuous integration does is here and runs the same on any machine. The tasks
//! start cargo and git, and compile only the project and its dependencies; `bench core` also makes a
//! Python environment under `target` to compare with.

#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a task tells the developer what it does"
)]

mod bench;
mod command;
mod metadata;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask <task>

tasks:
  test    format, lints, tests, doctests, documentation, tidy; stops at the first failure
  tidy    rules about the project itself: arrows between crates, licences, files, documents
  bench core
          speed of counting and fitting, as ratios measured in one run; fails below its limits";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test"] => test::test(),
        ["tidy"] => tidy::tidy(),
        ["bench", "core"] => bench::core(),
        ["help" | "--help" | "-h"] => {
            eprintln!("{USAGE}");
            Ok(())
        }
        [] => bail!("no task was named\n\n{USAGE}"),
        other => bail!("there is no task `{}`\n\n{USAGE}", other.join(" ")),
    }
}
