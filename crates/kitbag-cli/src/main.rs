//! The `kitbag` command: reads arguments, runs a command, prints its result or why there is none.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0, 1 for a failure, 2 for wrong usage,
//! 130 for a command that Ctrl-C ended, 129 and 143 for one that its terminal or its supervisor ended.

mod answering;
mod asked;
mod clipboard;
mod commands;
mod conversation;
mod counter;
mod failure;
mod flags;
mod help;
mod input;
mod internal;
mod interrupt;
mod learning;
mod logs;
mod model;
mod output;
mod progress;
mod project;
mod prompt;
mod store;
mod typed;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches as _, Parser, Subcommand};

use failure::Failure;
use tracing::level_filters::LevelFilter;

/// Decides what a language model sees
#[derive(Parser)]
#[command(
    name = "kitbag",
    version,
    propagate_version = true,
    after_help = "`kitbag COMMAND --help` describes a command, with examples. Read first: kitbag pack --help"
)]
struct Cli {
    #[command(flatten)]
    logs: logs::LogArgs,
    #[command(flatten)]
    store: store::StoreArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Pack(commands::pack::Args),
    Context(commands::context::Args),
    Ask(commands::ask::Args),
    Chat(commands::chat::Args),
    Explain(commands::explain::Args),
    Expand(commands::expand::Args),
    Checkpoint(commands::checkpoint::Args),
    Memory(commands::memory::Args),
    Mcp(commands::mcp::Args),
    Key(commands::key::Args),
    #[cfg(feature = "server")]
    Serve(commands::serve::Args),
    Doctor(commands::doctor::Args),
    Remind(commands::remind::Args),
    Replay(commands::replay::Args),
    #[command(subcommand)]
    Layout(commands::layout::Command),
    #[command(subcommand)]
    Agent(commands::agent::Command),
    #[command(subcommand)]
    Skill(commands::skill::Command),
    Init(commands::init::Args),
    Hook(commands::hook::Args),
    Models(commands::models::Args),
    Tokens(commands::tokens::Args),
    Fit(commands::fit::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
}

fn main() -> ExitCode {
    let mut command = help::arranged(Cli::command());
    let matches = command.try_get_matches_from_mut(env::args_os());
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed.map_err(|error| error.format(&mut command)) {
        Ok(cli) => cli,
        Err(message) => return report(&message),
    };
    // Read before `run` takes the command: a hook must not end with a code that stops its agent.
    let is_hook = matches!(cli.command, Command::Hook(_));
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if is_hook => failure.harmless().report(),
        Err(failure) => failure.report(),
    }
}

impl Command {
    /// The level of the log unless one is given.
    const fn usual_level(&self) -> LevelFilter {
        match self {
            // What a server could not keep would be lost without a word.
            #[cfg(feature = "server")]
            Self::Serve(_) => LevelFilter::WARN,
            _ => LevelFilter::OFF,
        }
    }
}

impl Cli {
    fn run(self) -> Result<(), Failure> {
        // Before the command, so that its first decision is logged too.
        self.logs.start(self.command.usual_level())?;
        match self.command {
            Command::Pack(args) => commands::pack::run(&args),
            Command::Context(args) => commands::context::run(&args, &self.store),
            Command::Ask(args) => commands::ask::run(&args, &self.store),
            Command::Chat(args) => commands::chat::run(&args, &self.store),
            Command::Explain(args) => commands::explain::run(&args),
            Command::Expand(args) => commands::expand::run(&args, &self.store),
            Command::Checkpoint(args) => commands::checkpoint::run(&args),
            Command::Memory(args) => commands::memory::run(&args, &self.store),
            Command::Doctor(args) => commands::doctor::run(&args, &self.store),
            Command::Mcp(args) => commands::mcp::run(&args, &self.store),
            Command::Key(args) => commands::key::run(&args, &self.store),
            #[cfg(feature = "server")]
            Command::Serve(args) => commands::serve::run(&args, &self.store),
            Command::Remind(args) => commands::remind::run(&args, &self.store),
            Command::Replay(args) => commands::replay::run(&args, &self.store),
            Command::Layout(command) => commands::layout::run(&command),
            Command::Agent(command) => commands::agent::run(&command),
            Command::Skill(command) => commands::skill::run(&command),
            Command::Init(args) => commands::init::run(&args),
            Command::Hook(args) => commands::hook::run(&args, &self.store),
            Command::Models(args) => commands::models::run(&args, &self.store),
            Command::Tokens(args) => commands::tokens::run(&args),
            Command::Fit(args) => commands::fit::run(&args),
            Command::Completions(args) => {
                commands::completions::run(&args, help::arranged(Self::command()))
            }
            Command::Man(args) => commands::man::run(&args, help::arranged(Self::command())),
        }
    }
}

/// Prints what the arguments led to: help and versions as results, errors as talk. Arguments may be
/// names of files that somebody else chose, so that nothing in them may steer the terminal.
fn report(message: &clap::Error) -> ExitCode {
    let text = message.render().to_string();
    // `--help` and `--version` come as errors of the parser, but are results.
    if message.use_stderr() {
        let text = text.trim_end();
        if logs::asks_for_json(env::args_os()) {
            output::speak_json();
            // The level of the JSON says that it is an error.
            let text = text.strip_prefix("error: ").unwrap_or(text);
            let (what, hint) = text.split_once("\n\n").unwrap_or((text, ""));
            output::say_error(what, Some(hint).filter(|hint| !hint.is_empty()));
        } else {
            output::say(format_args!("{text}"));
        }
        return ExitCode::from(match is_hook(env::args_os()) {
            true => 1,
            false => 2,
        });
    }
    match output::print(&text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => Failure::from(error).report(),
    }
}

/// Returns true if a hook was asked for with wrong arguments: its agent would take the exit code 2 as an order to stop. The
/// command is the first argument that is neither an option nor the value of one.
fn is_hook(args: impl Iterator<Item = OsString>) -> bool {
    let cli = Cli::command();
    let takes_value = |option: &str| {
        let name = option.strip_prefix("--");
        let mut options = cli.get_arguments().filter(|it| it.get_long().is_some());
        options.any(|it| it.get_long() == name && it.get_action().takes_values())
    };
    // The first is the program itself.
    let mut args = args.skip(1);
    while let Some(arg) = args.next() {
        match arg.to_str() {
            // A value such as `--store hook` must not be taken for the command.
            Some(option) if option.starts_with('-') => {
                if takes_value(option) {
                    args.next();
                }
            }
            command => return command == Some("hook"),
        }
    }
    false
}
