//! Development tasks: `cargo xtask test`, `postgres`, `model`, `npm`, `python`, `picture`, `tidy`, `bench` and `eval`.
//!
//! Everything that continuous integration does is here and runs the same on any machine. The tasks
//! start cargo and git, and compile only the project and its dependencies; what a benchmark compares
//! with and a model for the tests are fetched into the target folder, and a PostgreSQL for the tests is
//! installed where it is missing.

#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a task tells the developer what it does"
)]

mod bench;
mod command;
mod debian;
mod eval;
mod metadata;
mod model;
mod npm;
mod picture;
mod postgres;
mod python;
mod release;
mod statistics;
mod test;
mod tidy;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Development tasks of the project
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run all checks: format, lints, tests, examples, documentation, tidy
    Test,
    /// Run a command with a temporary PostgreSQL and PgBouncer, as the tests are run
    Postgres {
        /// The command and its arguments
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Download the embedding model for the tests, unless it is there, and print its folder
    Model,
    /// Download the npm packages for the tests, unless they are there, and print their folder
    Npm,
    /// Download the Python packages for the tests, unless they are there, and print the interpreter that has them
    Python,
    /// Draw docs/session.md, the session at the top of the README, as docs/session.svg
    Picture,
    /// Check the project's own rules: dependencies between crates, licences, files, documents, prose
    Tidy,
    /// Measure speed and memory, as ratios measured in one run; a missed limit is a failure
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Measure quality on public data, with the program used as a user would use it
    #[command(subcommand)]
    Eval(eval::Eval),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Test => test::test(),
        Task::Postgres { command } => postgres::with_server(&command),
        Task::Model => {
            println!("{}", model::folder()?.display());
            Ok(())
        }
        Task::Npm => {
            println!("{}", npm::folder()?.display());
            Ok(())
        }
        Task::Python => {
            println!("{}", python::python()?.display());
            Ok(())
        }
        Task::Picture => picture::draw(),
        Task::Tidy => tidy::tidy(),
        Task::Bench(bench) => bench::bench(bench),
        Task::Eval(eval) => eval::eval(eval),
    }
}
