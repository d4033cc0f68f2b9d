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

/// The change to Kitbag's part.
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
    /// The folder that goes with the file when it holds nothing else; never the project's own.
    agents_folder: Option<PathBuf>,
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

/// The share of Kitbag's part that an agent's configuration already has.
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
        Change::plan(folder, name, edit)
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
            Direction::Remove => toml::remove(text),
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
    let is_ours = |group: &serde_json::Value| is_ours(group, &command);
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

/// Returns true for a group of hooks that this command wrote, wherever the program was then.
fn is_ours(group: &serde_json::Value, planned: &str) -> bool {
    let hooks = group.get("hooks").and_then(|hooks| hooks.as_array());
    let Some([hook]) = hooks.map(Vec::as_slice) else {
        return false;
    };
    let command = hook.get("command").and_then(|command| command.as_str());
    command.is_some_and(|command| {
        let program = command.strip_suffix(" hook").and_then(unquoted);
        let stem = program.as_deref().and_then(|it| Path::new(it).file_stem());
        command == planned || stem.is_some_and(|stem| stem == "kitbag")
    })
}

/// The program that [`quoted`] made this of; nothing if it made it of none.
fn unquoted(text: &str) -> Option<String> {
    let inside = text.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    let program = inside.map_or(text.to_owned(), |inside| inside.replace(r"'\''", "'"));
    (quoted(&program) == text).then_some(program)
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
    fn plan(
        folder: &Path,
        name: &str,
        edit: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, Failure> {
        let file = folder.join(name);
        let shown = file.display();
        let before = read(&file)?;
        let after = edit(before.as_deref().unwrap_or_default()).map_err(|problem| {
            Failure::new(format_args!("cannot change {shown}: {problem}"))
                .hint("nothing was written; mend the file, or change it by hand")
        })?;
        let below = Path::new(name).parent();
        let below = below.filter(|below| !below.as_os_str().is_empty());
        Ok(Self {
            agents_folder: below.map(|below| folder.join(below)),
            before,
            after: (!after.is_empty()).then_some(after),
            file,
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
        let shown = self.file.display();
        // Somebody may have changed it while the question waited for an answer.
        if read(&self.file)? != self.before {
            let what = format_args!("{shown} is no longer as it was when the change was shown");
            return Err(Failure::new(what).hint("it was left alone; run the command again"));
        }
        let failed = |error: io::Error| Failure::new(format_args!("cannot write {shown}: {error}"));
        match &self.after {
            Some(text) => {
                fs::create_dir_all(folder_of(&self.file)).map_err(failed)?;
                write_file(&self.file, text)
            }
            None => {
                fs::remove_file(&self.file).map_err(failed)?;
                if let Some(folder) = &self.agents_folder {
                    // One that holds something else stays.
                    drop(fs::remove_dir(folder));
                }
                Ok(())
            }
        }
    }
}

/// The text of a file; nothing if there is none.
fn read(file: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let shown = file.display();
            Err(Failure::new(format_args!("cannot read {shown}: {error}")))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn x11_a_file_that_has_changed_since_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".mcp.json");
        for before in [None, Some("{}")] {
            if let Some(before) = before {
                fs::write(&file, before).unwrap();
            }
            let planned = Change::plan(folder.path(), ".mcp.json", &|_| Ok("{1}".to_owned()));
            fs::write(&file, "{\"theirs\": 1}").unwrap();
            assert!(planned.unwrap().write().is_err());
            assert_eq!(fs::read_to_string(&file).unwrap(), "{\"theirs\": 1}");
        }
    }

    #[test]
    fn x11_only_the_folder_of_the_agent_goes_with_its_file() {
        for (name, is_left) in [(".mcp.json", true), (".cursor/mcp.json", false)] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "{}").unwrap();
            let planned = Change::plan(folder.path(), name, &|_| Ok(String::new()));
            planned.unwrap().write().unwrap();
            assert!(folder.path().exists());
            assert_eq!(file.parent().unwrap().exists(), is_left);
        }
    }

    #[test]
    fn x11_only_hooks_that_we_wrote_are_ours() {
        let is_ours = |command: &str| {
            let group = json!({"hooks": [{"type": "command", "command": command}]});
            is_ours(&group, "/opt/kitbag-dev hook")
        };
        for command in [
            "kitbag hook",
            "/usr/bin/kitbag hook",
            "'/opt/it'\\''s mine/kitbag.exe' hook",
            "/opt/kitbag-dev hook",
        ] {
            assert!(is_ours(command), "{command}");
        }
        for command in [
            "mykitbag hook",
            "/opt/kitbag-old hook",
            "say done; kitbag hook",
            "'say' '/kitbag' hook",
            "kitbag hook --for codex",
            "kitbag",
        ] {
            assert!(!is_ours(command), "{command}");
        }
    }
}
