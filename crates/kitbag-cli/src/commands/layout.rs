//! `kitbag layout`: the layouts of the project and of Kitbag itself.

mod check;
mod list;
mod render;
mod show;

use clap::Subcommand;

use crate::failure::Failure;
use crate::project::ListArgs;

/// Lists, shows, checks and renders layouts of prompts
#[derive(Subcommand)]
#[command(after_help = "Examples:
  kitbag layout show kitbag/default
  kitbag layout render --agent reviewer \"What does this project do?\"
  kitbag layout check")]
pub(crate) enum Command {
    /// Lists the built-in layouts and the project's
    #[command(after_help = "Example: kitbag layout list --json")]
    List(ListArgs),
    Show(show::Args),
    /// Checks all layouts, agents and documents of the project, and reports every problem
    #[command(after_help = "Example: kitbag layout check --config kitbag.yaml")]
    Check(ListArgs),
    Render(Box<render::Args>),
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Check(args) => check::run(args),
        Command::Render(args) => render::run(args),
    }
}
