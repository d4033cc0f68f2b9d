//! Kitbag's part of a coding agent's configuration: the MCP server, and the hooks where the agent has them.

use std::env;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use super::change::{Change, Edit, Format};
use super::json as file_json;
use super::toml;
use crate::failure::Failure;
use crate::output;

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

/// The moments at which an agent runs the hook, with the seconds that it waits. Our own limits are
/// shorter.
pub(crate) const HOOKS: [(&str, u32); 4] = [
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
    // A file that already says what it should is neither shown nor written: its time would change for nothing.
    changes.retain(|change| change.before != change.after);
    if changes.is_empty() {
        output::say(match direction {
            Direction::Add => "nothing to do: Kitbag is already set up",
            Direction::Remove => "nothing to do: Kitbag is not set up",
        });
        return Ok(());
    }
    // Everything is shown before the first file is written, so that one answer covers all of them.
    for change in &changes {
        output::print(&change.shown())?;
        for note in &change.notes {
            output::say(format_args!("note: {}: {note}", change.file.display()));
        }
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
    // Codex ignores new hooks without a word until the person approves them.
    if let (AgentArg::Codex, Direction::Add) = (agent, direction) {
        output::say(
            "Codex runs the hooks once you trust the project and them: see /hooks in Codex",
        );
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
        // Asked of the planned changes, so that `doctor` and `init` can never disagree.
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
        // Of these agents only VS Code wants the type of a server.
        kind: (agent == AgentArg::Vscode).then_some("stdio"),
        command: &program,
        args: ["mcp"],
    };
    let in_file = |name: &str, format: Format, edit: Edit<'_>| {
        Change::plan(folder, name, format, direction, edit)
    };
    let servers = |name: &'static str, of: &'static str| {
        in_file(name, Format::Json, &|text, direction, notes| {
            server.edit(text, &[of, "kitbag"], direction, notes)
        })
    };
    Ok(match agent {
        AgentArg::Claude => vec![
            servers(".mcp.json", "mcpServers")?,
            // The file that belongs to the person alone: what is said in this project goes into their memory.
            in_file(
                ".claude/settings.local.json",
                Format::Json,
                &|text, direction, _| hooks(text, &program, direction),
            )?,
        ],
        AgentArg::Codex => vec![in_file(
            // Codex reads servers and hooks from one file.
            ".codex/config.toml",
            Format::Toml,
            &|text, direction, _| match direction {
                Direction::Add => toml::add(text, &program),
                Direction::Remove => toml::remove(text),
            },
        )?],
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

impl Server<'_> {
    /// The file with this server, or without it. An entry of that name that somebody else wrote loses nothing but
    /// what must be another's, which is told, and is not removed.
    fn edit(
        &self,
        text: &str,
        path: &[&str],
        direction: Direction,
        notes: &mut Vec<String>,
    ) -> Result<String, String> {
        let there = file_json::get(text, path)?;
        let is_ours = there.as_ref().is_none_or(Self::is_ours);
        match (direction, there) {
            // The name `kitbag` alone does not make a server ours: somebody may have wrapped it.
            (Direction::Remove, _) if !is_ours => {
                notes.push("its `kitbag` runs another program and stays".to_owned());
                Ok(text.to_owned())
            }
            (Direction::Remove, _) => file_json::remove(text, path),
            (Direction::Add, Some(Value::Object(mut fields))) => {
                let own = json!(self);
                let ours = own.as_object().into_iter().flatten();
                let ours = ours.map(|(name, value)| (name.clone(), value.clone()));
                let before = fields.clone();
                // Extended and not replaced: the entry may have an `env` of the person's own.
                fields.extend(ours);
                if before == fields {
                    return Ok(text.to_owned());
                }
                if !is_ours {
                    let command = before.get("command").map(ToString::to_string);
                    let command = command.unwrap_or_else(|| "no command".to_owned());
                    notes.push(format!(
                        "your `kitbag` server with {command} gets a new command and new arguments; the rest of \
                         its entry stays"
                    ));
                }
                file_json::set(text, path, &fields)
            }
            (Direction::Add, _) => file_json::set(text, path, self),
        }
    }

    /// Returns true for an entry that this command wrote, wherever the program was then.
    fn is_ours(entry: &Value) -> bool {
        let command = entry.get("command").and_then(Value::as_str);
        // The stem, since the program may have been elsewhere, or `kitbag.exe`.
        let stem = command.and_then(|command| Path::new(command).file_stem());
        let is_mcp = entry
            .get("args")
            .is_some_and(|args| *args == json!(["mcp"]));
        let program = program();
        is_mcp && (stem.is_some_and(|stem| stem == "kitbag") || command == Some(&program))
    }
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
    let is_ours = |group: &Value| is_our_hook(group, &command);
    // Each event changes the text that the one before left, so the file is parsed again for each.
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
            Direction::Add => file_json::push(&text, &path, &group, is_ours)?,
            Direction::Remove => file_json::remove_items(&text, &path, is_ours)?,
        };
    }
    Ok(text)
}

/// Returns true for a group of hooks that this command wrote, wherever the program was then.
fn is_our_hook(group: &Value, planned: &str) -> bool {
    let hooks = group.get("hooks").and_then(|hooks| hooks.as_array());
    // A group with other hooks besides ours is the person's: taking it out would take theirs too.
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
    // Quoted again and compared: text that only resembles a quoted program is left alone.
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
    // The plain name survives an update of the program and suits a file that a team shares.
    let is_found = env::split_paths(&path).any(|folder| folder.join(name).is_file());
    match env::current_exe() {
        Ok(file) if !is_found => file.display().to_string(),
        _ => name.to_owned(),
    }
}

/// Asks whoever sits at the terminal.
fn ask() -> Result<(), Failure> {
    // Both, since the question goes to stderr and the answer comes from stdin.
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let what = "cannot ask before changing these files: this is not a terminal";
        return Err(Failure::usage(what).hint("`--yes` changes them without asking"));
    }
    output::say("Change these files? [y/N]");
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    match read {
        // Anything but a clear yes is a no: the files belong to another program.
        Ok(_) if matches!(answer.trim(), "y" | "Y" | "yes") => Ok(()),
        _ => Err(Failure::new("nothing was changed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x11_only_hooks_that_we_wrote_are_ours() {
        let is_ours = |command: &str| {
            let group = json!({"hooks": [{"type": "command", "command": command}]});
            is_our_hook(&group, "/opt/kitbag-dev hook")
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
