//! The `kitbag` command: reads arguments, runs a command, prints its result or why there is none.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0, 1 for a failure, 2 for wrong usage.

mod commands;
mod counter;
mod failure;
mod output;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Decides what a language model sees.
#[derive(Parser)]
#[command(name = "kitbag", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Tokens(commands::tokens::Args),
    Fit(commands::fit::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Tokens(args) => commands::tokens::run(&args),
        Command::Fit(args) => commands::fit::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
