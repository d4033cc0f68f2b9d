//! `kitbag init`: writes a commented configuration that works, or Kitbag's part of a coding agent's own.

mod agent;
mod change;
mod json;
mod toml;
mod user;

pub(crate) use agent::{AgentArg, HOOKS, SetUp};

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use kitbag::project::CONFIG_NAMES;

use crate::failure::Failure;
use crate::output;

const CONFIG: &str = include_str!("init/kitbag.yaml");

/// Writes a commented kitbag.yaml that works, or sets Kitbag up for a coding agent
///
/// With --for, adds the MCP server `kitbag mcp` and the hooks `kitbag hook` to the agent's configuration of
/// this project: for claude .mcp.json and .claude/settings.local.json, for codex .codex/config.toml, for
/// cursor .cursor/mcp.json, for vscode .vscode/mcp.json. Cursor and VS Code have no hooks that can add context.
/// The change is shown first, and nothing else in those files changes.
///
/// --remove takes Kitbag's part out again, and deletes files and folders that this leaves empty. A server named
/// `kitbag` that runs another program is reported, keeps its environment, and is never removed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag init
  kitbag init --for claude
  kitbag init --for codex --remove")]
pub(crate) struct Args {
    /// The folder to write to
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Replace an existing kitbag.yaml
    #[arg(long)]
    force: bool,
    /// Set Kitbag up for this coding agent instead
    #[arg(long = "for", value_name = "AGENT", conflicts_with = "force")]
    agent: Option<AgentArg>,
    /// Take Kitbag out of the agent's configuration
    #[arg(long, requires = "agent")]
    remove: bool,
    /// Change the files without asking
    #[arg(short, long, requires = "agent")]
    yes: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(agent) = args.agent {
        let direction = match args.remove {
            true => agent::Direction::Remove,
            false => agent::Direction::Add,
        };
        return agent::run(
            agent,
            &args.folder,
            direction,
            args.yes.then_some(agent::Agreed),
        );
    }
    let file = args.folder.join("kitbag.yaml");
    let shown = file.display();
    let mut names = CONFIG_NAMES.iter().filter(|_| !args.force);
    if let Some(name) = names.find(|name| args.folder.join(name).exists()) {
        let folder = args.folder.display();
        let failure = Failure::new(format_args!("{folder} already has a {name}"));
        return Err(failure.hint("`--force` replaces kitbag.yaml"));
    }
    let written = fs::create_dir_all(&args.folder).and_then(|()| {
        let mut options = OpenOptions::new();
        options.write(true);
        // Without --force, a file that has come meanwhile is not lost either.
        match args.force {
            true => options.create(true).truncate(true),
            false => options.create_new(true),
        };
        options.open(&file)?.write_all(CONFIG.as_bytes())
    });
    written.map_err(|error| Failure::new(format_args!("cannot write {shown}: {error}")))?;
    output::say(format_args!(
        "wrote {shown}; try: kitbag layout render --agent reviewer \"What does this project do?\""
    ));
    Ok(())
}
