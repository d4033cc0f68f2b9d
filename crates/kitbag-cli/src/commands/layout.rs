//! `kitbag layout`: the layouts of the project and of Kitbag itself.

mod check;
mod list;
mod render;
mod show;

use clap::Subcommand;

use crate::failure::Failure;

/// Lists, shows, checks and renders the layouts of prompts
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Check(check::Args),
    Render(Box<render::Args>),
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Check(args) => check::run(args),
        Command::Render(args) => render::run(args),
    }
}
