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
    /// Format, lints, tests, doctests, documentation, tidy; stops at the first failure
    Test,
    /// Runs a command with a PostgreSQL and a PgBouncer of its own, as the tests are run
    Postgres {
        /// The command and its arguments
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Fetches the model for the tests where it is missing, and prints its folder
    Model,
    /// Fetches packages of npm for the tests where they are missing, and prints the folder they are in
    Npm,
    /// Fetches packages of Python for the tests where they are missing, and prints the program that has them
    Python,
    /// Draws docs/session.md, the session at the top of the README, as docs/session.svg
    Picture,
    /// Rules about the project itself: arrows between crates, licences, files, documents
    Tidy,
    /// Speed and memory, as ratios measured in one run; fails when a limit is missed
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Quality, measured on public data by driving the program as a user would
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
