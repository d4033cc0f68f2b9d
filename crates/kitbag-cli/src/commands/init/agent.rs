//! Kitbag's part of a coding agent's configuration: the MCP server, and the hooks where the agent has them.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};
use similar::TextDiff;

use super::json as file_json;
use super::toml;
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
    /// What the change does to something that the person may have written.
    notes: Vec<String>,
    /// The folder that goes with the file when it holds nothing else; never the project's own.
    agents_folder: Option<PathBuf>,
    before: Option<String>,
    after: Option<String>,
}

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
            (Direction::Remove, _) if !is_ours => {
                notes.push("its `kitbag` runs another program, and is left alone".to_owned());
                Ok(text.to_owned())
            }
            (Direction::Remove, _) => file_json::remove(text, path),
            (Direction::Add, Some(Value::Object(mut fields))) => {
                let own = json!(self);
                let ours = own.as_object().into_iter().flatten();
                let ours = ours.map(|(name, value)| (name.clone(), value.clone()));
                let before = fields.clone();
                fields.extend(ours);
                if before == fields {
                    return Ok(text.to_owned());
                }
                if !is_ours {
                    let command = before.get("command").map(ToString::to_string);
                    let command = command.unwrap_or_else(|| "no command".to_owned());
                    notes.push(format!(
                        "it has a `kitbag` of yours with {command}: command and arguments are replaced, and \
                         everything else in it stays"
                    ));
                }
                file_json::set(text, path, &fields)
            }
            (Direction::Add, _) => file_json::set(text, path, self),
        }
    }

    /// Whether an entry is one that we wrote, from wherever the program was then.
    fn is_ours(entry: &Value) -> bool {
        let command = entry.get("command").and_then(Value::as_str);
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

/// Whether a group of hooks is one that we wrote, with this command or from wherever the program was then.
fn is_our_hook(group: &Value, planned: &str) -> bool {
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

/// Changes a text, and notes what the person should know of it.
type Edit<'e> = &'e dyn Fn(&str, Direction, &mut Vec<String>) -> Result<String, String>;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Toml,
}

impl Change {
    fn plan(
        folder: &Path,
        name: &str,
        format: Format,
        direction: Direction,
        edit: Edit<'_>,
    ) -> Result<Self, Failure> {
        let file = folder.join(name);
        let shown = file.display();
        let before = read(&file)?;
        let mut notes = Vec::new();
        let after = after(before.as_deref(), format, direction, edit, &mut notes);
        let after = after.map_err(|problem| {
            Failure::new(format_args!("cannot change {shown}: {problem}"))
                .hint("nothing was written; mend the file, or change it by hand")
        })?;
        let below = Path::new(name).parent();
        let below = below.filter(|below| !below.as_os_str().is_empty());
        Ok(Self {
            agents_folder: below.map(|below| folder.join(below)),
            notes,
            before,
            after,
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

/// A file after its change; nothing where there is none then. Only a file that holds what we would write into one
/// of our own is removed: any other was there before us.
fn after(
    before: Option<&str>,
    format: Format,
    direction: Direction,
    edit: Edit<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<String>, String> {
    let Some(before) = before else {
        let made = edit("", direction, notes)?;
        return Ok((!made.is_empty()).then_some(made));
    };
    let lines = LineEnds::of(before);
    let text = lines.plain(before);
    let changed = edit(&text, direction, notes)?;
    if changed == text {
        return Ok(Some(before.to_owned()));
    }
    let ours = edit("", Direction::Add, &mut Vec::new())?;
    let changed = match direction {
        // With nothing in it before, it would look like a file of our own.
        Direction::Add if changed == ours => format!("{changed}\n"),
        Direction::Remove if changed.is_empty() && text == ours => return Ok(None),
        Direction::Remove if changed.is_empty() && format == Format::Json => "{}\n".to_owned(),
        _ => changed,
    };
    Ok(Some(lines.restored(&changed)))
}

/// How the lines of a file end, and its byte order mark. We write plain ones.
#[derive(Debug, Clone, Copy)]
struct LineEnds {
    has_mark: bool,
    are_windows: bool,
}

const MARK: char = '\u{feff}';

impl LineEnds {
    /// Lines that end in different ways are left as they are.
    fn of(text: &str) -> Self {
        let ends = text.matches('\n').count();
        Self {
            has_mark: text.starts_with(MARK),
            are_windows: ends > 0 && ends == text.matches("\r\n").count(),
        }
    }

    fn plain(self, text: &str) -> String {
        let text = text.strip_prefix(MARK).unwrap_or(text);
        match self.are_windows {
            true => text.replace("\r\n", "\n"),
            false => text.to_owned(),
        }
    }

    fn restored(self, text: &str) -> String {
        let text = match self.are_windows {
            true => text.replace('\n', "\r\n"),
            false => text.to_owned(),
        };
        match self.has_mark {
            true => format!("{MARK}{text}"),
            false => text,
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
    use super::*;

    /// A change to this text; a file of our own holds `{}`.
    fn plan(
        folder: &Path,
        name: &str,
        direction: Direction,
        after: &str,
    ) -> Result<Change, Failure> {
        Change::plan(folder, name, Format::Json, direction, &|text, _, _| {
            let is_empty = text.is_empty() && direction == Direction::Remove;
            Ok(if is_empty { "{}" } else { after }.to_owned())
        })
    }

    #[test]
    fn x11_a_file_that_has_changed_since_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".mcp.json");
        for before in [None, Some("{}")] {
            if let Some(before) = before {
                fs::write(&file, before).unwrap();
            }
            let planned = plan(folder.path(), ".mcp.json", Direction::Add, "{1}");
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
            let planned = plan(folder.path(), name, Direction::Remove, "");
            planned.unwrap().write().unwrap();
            assert!(folder.path().exists());
            assert_eq!(file.parent().unwrap().exists(), is_left);
        }
    }

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
