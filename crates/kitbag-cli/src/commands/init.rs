//! `kitbag init`: writes a commented configuration that works, or Kitbag's part of a coding agent's own.

mod agent;
mod change;
mod json;
mod toml;

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
/// With --for, the MCP server `kitbag mcp` and the hooks `kitbag hook` are added to the agent's own
/// configuration of this project: for claude to .mcp.json and .claude/settings.local.json, for codex to
/// .codex/config.toml, for cursor to .cursor/mcp.json, for vscode to .vscode/mcp.json; the last two have no
/// hooks that take context. The change is shown first. Nothing else in those files is touched.
/// --remove takes Kitbag's part out again, with objects, lists, and files and folders of its own that hold nothing
/// else. A server `kitbag` that runs another program is told, keeps its environment, and is never removed.
#[derive(clap::Args)]
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
    #[arg(long, requires = "agent")]
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
        let failure = Failure::new(format_args!("{folder} has a {name} already"));
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
