//! The command line as a reader meets it: commands in groups, and no option that a command ignores.
//!
//! What each command does stands in its own file; this one only arranges them.

use clap::{Arg, Command};

/// The commands by what a reader wants to do. `kitbag help` lists them in this order.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Prompts",
        &["pack", "explain", "expand", "context", "fit", "checkpoint"],
    ),
    ("Answers", &["ask", "chat"]),
    ("Memory", &["memory", "remind", "replay"]),
    (
        "Agents, tools and servers",
        &["init", "mcp", "hook", "serve", "key"],
    ),
    (
        "Configuration",
        &["agent", "layout", "skill", "models", "doctor"],
    ),
    ("Other", &["tokens", "completions", "man", "help"]),
];

/// The commands that open no store: `--store` and `--tenant` would do nothing there.
const WITHOUT_MEMORY: [&str; 11] = [
    "pack",
    "explain",
    "checkpoint",
    "layout",
    "agent",
    "skill",
    "init",
    "tokens",
    "fit",
    "completions",
    "man",
];

/// Arranges the whole command line.
pub(crate) fn arranged(command: Command) -> Command {
    let command = WITHOUT_MEMORY.iter().fold(command, |command, name| {
        command.mut_subcommand(name, without_memory)
    });
    let command = command.mut_subcommand("memory", |memory| {
        // The choice of a model is for all stores, and a copy names its two stores as arguments.
        memory
            .mut_subcommand("model", without_memory)
            .mut_subcommand("migrate", |migrate| migrate.arg(hidden("store")))
    });
    let template = template(&command);
    command.help_template(template)
}

/// Hides the options of the store, which are global.
///
/// They are still accepted, so that `--store` may stand in an alias of `kitbag` for all commands. clap gives a global
/// option to every command that has none of the same name.
fn without_memory(command: Command) -> Command {
    command.arg(hidden("store")).arg(hidden("tenant"))
}

fn hidden(name: &'static str) -> Arg {
    Arg::new(name).long(name).global(true).hide(true)
}

/// The help of `kitbag` itself. clap knows no groups of commands, so they are written into the template.
fn template(command: &Command) -> String {
    let all = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let width = all.map(|name| name.len()).max().unwrap_or(0);
    let mut groups = String::new();
    for (title, names) in GROUPS {
        groups.push_str(&format!("{title}:\n"));
        for name in names {
            // A build without the server has no `serve`.
            if let Some(about) = about(command, name) {
                groups.push_str(&format!("  {name:<width$}  {about}\n"));
            }
        }
        groups.push('\n');
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    )
}

fn about(command: &Command, name: &str) -> Option<String> {
    if name == "help" {
        // clap adds this command later, when it parses.
        return Some("Prints the help of a command".to_owned());
    }
    let command = command.find_subcommand(name)?;
    Some(command.get_about()?.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let grouped = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
        let mut grouped: Vec<&str> = grouped.filter(|name| *name != "help").collect();
        let command = Cli::command();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        if !cfg!(feature = "server") {
            grouped.retain(|name| *name != "serve");
        }
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn commands_without_memory_exist() {
        let command = Cli::command();
        let all: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        for name in WITHOUT_MEMORY {
            assert!(all.contains(name), "{name}");
        }
    }
}
