//! The MCP servers of a skill: a file `.mcp.json` in its folder, in the shape that coding agents know.
//!
//! It is a separate file because the header of a skill holds only texts.

use std::path::Path;

use indexmap::IndexMap;
use kitbag_core::context::McpServer;
use kitbag_layout::FileProblem;
use serde::Deserialize;

/// The name of the file.
pub(super) const FILE: &str = ".mcp.json";

/// The placeholder for the skill's folder in commands, arguments and variables.
const FOLDER: &str = "${SKILL_DIR}";

#[derive(Deserialize)]
struct Servers {
    #[serde(rename = "mcpServers")]
    servers: IndexMap<String, Server>,
}

#[derive(Deserialize)]
struct Server {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: IndexMap<String, String>,
}

/// Reads the servers of a skill in this folder, with their problems.
pub(super) fn read(file: &str, text: &str, folder: &Path) -> (Vec<McpServer>, Vec<FileProblem>) {
    let servers: Servers = match serde_json::from_str(text) {
        Ok(servers) => servers,
        Err(error) => {
            let (line, column) = (error.line() as u64, error.column() as u64);
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let problem = FileProblem::error(file, message).at(line, column);
            let hint = "the file holds {\"mcpServers\": {NAME: {\"command\": …, \"args\": […]}}}";
            return (Vec::new(), vec![problem.with_hint(hint)]);
        }
    };
    let folder = folder.display().to_string();
    let here = |text: &str| text.replace(FOLDER, &folder);
    let mut problems = Vec::new();
    let mut read = Vec::new();
    for (name, server) in servers.servers {
        // The name becomes a part of the names of tools, for which providers allow no other characters.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let problem = match &server.command {
            _ if name.is_empty() || !name.chars().all(is_plain) => {
                "a server's name has only letters, digits, `-` and `_`"
            }
            None => "a server of a skill is a program: it needs a `command`",
            Some(command) => {
                let env = server.env.iter();
                read.push(McpServer {
                    command: here(command),
                    args: server.args.iter().map(|argument| here(argument)).collect(),
                    env: env.map(|(key, value)| (key.clone(), here(value))).collect(),
                    name,
                });
                continue;
            }
        };
        problems.push(FileProblem::error(file, problem).of(format!("mcpServers.{name}")));
    }
    (read, problems)
}
