//! Kitbag's part of a coding agent's configuration: the MCP server, and the hooks where the agent has them.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use similar::TextDiff;

use super::{json, toml};
use crate::failure::Failure;
use crate::output::{self, folder_of, write_file};

/// A coding agent that has a configuration of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentArg {
    Claude,
    Codex,
    Cursor,
    Vscode,
}

/// What becomes of Kitbag's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Add,
    Remove,
}

/// The person agrees without being asked.
pub(super) struct Agreed;

/// A file before and after; nothing where there is none.
struct Change {
    file: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

/// The moments at which an agent runs the hook, with the seconds that it waits. Our own limits are
/// shorter.
pub(super) const HOOKS: [(&str, u32); 4] = [
    ("SessionStart", 5),
    ("UserPromptSubmit", 5),
    ("Stop", 30),
    ("SessionEnd", 30),
];

pub(super) fn run(
    agent: AgentArg,
    folder: &Path,
    direction: Direction,
    agreed: Option<Agreed>,
) -> Result<(), Failure> {
    let mut changes = planned(agent, folder, direction)?;
    changes.retain(|change| change.before != change.after);
    if changes.is_empty() {
        output::say(match direction {
            Direction::Add => "nothing to do: Kitbag is set up",
            Direction::Remove => "nothing to do: nothing of Kitbag's is there",
        });
        return Ok(());
    }
    for change in &changes {
        output::print(&change.shown())?;
    }
    if agreed.is_none() {
        ask()?;
    }
    for change in &changes {
        change.write()?;
        let done = match change.after {
            Some(_) => "wrote",
            None => "removed",
        };
        output::say(format_args!("{done} {}", change.file.display()));
    }
    if let (AgentArg::Codex, Direction::Add) = (agent, direction) {
        output::say("Codex runs hooks of a project once you trust it and them: see /hooks there");
    }
    Ok(())
}

/// How much of Kitbag's part is in an agent's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetUp {
    Whole,
    /// Some of it, or what another version of Kitbag or another place of the program wrote.
    InPart,
    No,
}

impl AgentArg {
    /// Looks into the agent's configuration in a folder.
    pub(crate) fn set_up(self, folder: &Path) -> Result<SetUp, Failure> {
        let is_changed = |direction| {
            let changes = planned(self, folder, direction)?.into_iter();
            let mut changes = changes.filter(|change| change.before != change.after);
            Ok::<bool, Failure>(changes.next().is_some())
        };
        Ok(match is_changed(Direction::Add)? {
            false => SetUp::Whole,
            true if is_changed(Direction::Remove)? => SetUp::InPart,
            true => SetUp::No,
        })
    }
}

fn planned(agent: AgentArg, folder: &Path, direction: Direction) -> Result<Vec<Change>, Failure> {
    let program = program();
    let server = Server {
        kind: (agent == AgentArg::Vscode).then_some("stdio"),
        command: &program,
        args: ["mcp"],
    };
    let in_file = |name: &str, edit: &dyn Fn(&str) -> Result<String, String>| {
        Change::plan(&folder.join(name), edit)
    };
    let servers = |name: &'static str, of: &'static str| {
        let edit = |text: &str| match direction {
            Direction::Add => json::set(text, &[of, "kitbag"], &server),
            Direction::Remove => json::remove(text, &[of, "kitbag"]),
        };
        in_file(name, &edit)
    };
    Ok(match agent {
        AgentArg::Claude => vec![
            servers(".mcp.json", "mcpServers")?,
            // The file that belongs to the person alone: what is said in this project goes into their memory.
            in_file(".claude/settings.local.json", &|text| {
                hooks(text, &program, direction)
            })?,
        ],
        AgentArg::Codex => vec![in_file(".codex/config.toml", &|text| match direction {
            Direction::Add => toml::add(text, &program),
            Direction::Remove => Ok(toml::remove(text)),
        })?],
        AgentArg::Cursor => vec![servers(".cursor/mcp.json", "mcpServers")?],
        AgentArg::Vscode => vec![servers(".vscode/mcp.json", "servers")?],
    })
}

#[derive(Serialize)]
struct Server<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    command: &'a str,
    args: [&'a str; 1],
}

#[derive(Serialize)]
struct HookGroup<'a> {
    hooks: [HookCommand<'a>; 1],
}

#[derive(Serialize)]
struct HookCommand<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    command: &'a str,
    timeout: u32,
}

/// Claude Code's settings with our hooks behind those that are there, or without ours.
fn hooks(text: &str, program: &str, direction: Direction) -> Result<String, String> {
    let command = format!("{} hook", quoted(program));
    let mut text = text.to_owned();
    for (event, timeout) in HOOKS {
        let path = ["hooks", event];
        let group = HookGroup {
            hooks: [HookCommand {
                kind: "command",
                command: &command,
                timeout,
            }],
        };
        text = match direction {
            Direction::Add => json::push(&text, &path, &group, is_ours)?,
            Direction::Remove => json::remove_items(&text, &path, is_ours)?,
        };
    }
    Ok(text)
}

/// Whether a group of hooks is one that we wrote, wherever the program was then.
fn is_ours(group: &serde_json::Value) -> bool {
    let hooks = group.get("hooks").and_then(|hooks| hooks.as_array());
    let Some([hook]) = hooks.map(Vec::as_slice) else {
        return false;
    };
    let command = hook.get("command").and_then(|command| command.as_str());
    let program = command.and_then(|command| command.strip_suffix(" hook"));
    program.is_some_and(|program| program.trim_matches('\'').ends_with("kitbag"))
}

/// The program as a shell takes it.
pub(super) fn quoted(program: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match program.chars().all(is_plain) {
        true => program.to_owned(),
        false => format!("'{}'", program.replace('\'', r"'\''")),
    }
}

/// The name of this program if agents find it by that, else where it is.
fn program() -> String {
    let name = "kitbag";
    let path = env::var_os("PATH").unwrap_or_default();
    let is_found = env::split_paths(&path).any(|folder| folder.join(name).is_file());
    match env::current_exe() {
        Ok(file) if !is_found => file.display().to_string(),
        _ => name.to_owned(),
    }
}

impl Change {
    fn plan(file: &Path, edit: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, Failure> {
        let shown = file.display();
        let before = match fs::read_to_string(file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(Failure::new(format_args!("cannot read {shown}: {error}")));
            }
        };
        let after = edit(before.as_deref().unwrap_or_default()).map_err(|problem| {
            Failure::new(format_args!("cannot change {shown}: {problem}"))
                .hint("nothing was written; mend the file, or change it by hand")
        })?;
        Ok(Self {
            file: file.to_owned(),
            before,
            after: (!after.is_empty()).then_some(after),
        })
    }

    fn shown(&self) -> String {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (before, after) = (text(&self.before), text(&self.after));
        let name = self.file.display().to_string();
        let of = |side: &Option<String>| match side {
            Some(_) => name.clone(),
            None => "/dev/null".to_owned(),
        };
        let diff = TextDiff::from_lines(&before, &after);
        let mut diff = diff.unified_diff();
        diff.header(&of(&self.before), &of(&self.after)).to_string()
    }

    fn write(&self) -> Result<(), Failure> {
        let folder = folder_of(&self.file);
        let failed = |error: io::Error| {
            Failure::new(format_args!(
                "cannot write {}: {error}",
                self.file.display()
            ))
        };
        match &self.after {
            Some(text) => {
                fs::create_dir_all(folder).map_err(failed)?;
                write_file(&self.file, text)
            }
            None => {
                fs::remove_file(&self.file).map_err(failed)?;
                // One that holds something else stays.
                drop(fs::remove_dir(folder));
                Ok(())
            }
        }
    }
}

/// Asks whoever sits at the terminal.
fn ask() -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let what = "nobody can be asked whether to change these files";
        return Err(Failure::usage(what).hint("say so with `--yes`"));
    }
    output::say("Change these files? [y/N]");
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    match read {
        Ok(_) if matches!(answer.trim(), "y" | "Y" | "yes") => Ok(()),
        _ => Err(Failure::new("nothing was changed")),
    }
}
