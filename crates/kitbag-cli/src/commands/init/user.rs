//! Kitbag's part of a coding agent's configuration of the user, which holds for all folders. `init` writes none; a
//! person may, or the agent's own commands.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agent::AgentArg;
use super::json;

/// Kitbag's part of a file of the user.
pub(crate) struct UserPart {
    pub(crate) what: &'static str,
    pub(crate) file: PathBuf,
}

impl AgentArg {
    /// The parts in the agent's configuration of the user. A file that cannot be read has none: it is the agent's to tell.
    pub(crate) fn set_up_for_user(self) -> Vec<UserPart> {
        let Some(home) = env::home_dir() else {
            return Vec::new();
        };
        let named = |variable: &str| {
            let folder = env::var_os(variable).filter(|folder| !folder.is_empty());
            folder.map(PathBuf::from)
        };
        let (files, servers): (Vec<PathBuf>, &str) = match self {
            Self::Claude => {
                let folder = named("CLAUDE_CONFIG_DIR");
                let servers = folder.as_ref().unwrap_or(&home).join(".claude.json");
                let settings = folder.unwrap_or_else(|| home.join(".claude"));
                (vec![servers, settings.join("settings.json")], "mcpServers")
            }
            Self::Codex => {
                let folder = named("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
                (vec![folder.join("config.toml")], "mcp_servers")
            }
            Self::Cursor => (vec![home.join(".cursor/mcp.json")], "mcpServers"),
            Self::Vscode => {
                let folders = [".config", "Library/Application Support", "AppData/Roaming"];
                let files = folders.map(|folder| home.join(folder).join("Code/User/mcp.json"));
                (files.into(), "servers")
            }
        };
        let parts = files.into_iter().flat_map(|file| {
            let read = read(&file).unwrap_or_default();
            let has_server = read.get(servers).and_then(|it| it.get("kitbag")).is_some();
            let has_hooks = read.get("hooks").is_some_and(runs_our_hook);
            let found = [(has_server, "MCP server"), (has_hooks, "hooks")];
            let found = found.into_iter().filter(|(is_there, _)| *is_there);
            found.map(move |(_, what)| UserPart {
                what,
                file: file.clone(),
            })
        });
        parts.collect()
    }
}

fn read(file: &Path) -> Option<Value> {
    let text = fs::read_to_string(file).ok()?;
    match file.extension().is_some_and(|it| it == "toml") {
        true => ::toml::from_str(&text).ok(),
        false => json::get(&text, &[]).ok()?,
    }
}

/// Tells whether some command in this runs `kitbag hook`, wherever the program is.
fn runs_our_hook(value: &Value) -> bool {
    match value {
        Value::String(command) => {
            let mut words = command.split([' ', '/', '\\', '\'', '"']);
            words.any(|word| word == "kitbag" || word == "kitbag.exe")
                && command.split_whitespace().any(|word| word == "hook")
        }
        Value::Array(items) => items.iter().any(runs_our_hook),
        Value::Object(fields) => fields.values().any(runs_our_hook),
        _ => false,
    }
}
