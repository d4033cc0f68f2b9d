//! Codex' own program, connected to our MCP server and running our hooks, against a server that keeps the raw bytes of
//! its requests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Project;
use crate::ask::upstream::{Reply, Upstream};
use crate::ask::{KEY, MODULES};
use crate::mcp::clients::given;
use crate::run::finish;

pub(crate) const STREAM: &str = r#"event: response.created
data: {"type":"response.created","response":{"id":"r"}}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"type":"message","role":"assistant","id":"m","content":[{"type":"output_text","text":"Noted."}]}}

event: response.completed
data: {"type":"response.completed","response":{"id":"r","usage":{"input_tokens":9,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":10}}}

"#;

/// The program that the package for this platform brings.
pub(crate) fn program() -> PathBuf {
    let vendor = given(MODULES, "npm").join("@openai/codex-linux-x64/vendor");
    let platforms = fs::read_dir(vendor).unwrap();
    let mut programs = platforms.map(|platform| platform.unwrap().path().join("bin/codex"));
    programs.find(|file| file.is_file()).unwrap()
}

/// Runs a turn of Codex in the project, and returns its request.
fn turn(project: &Project, upstream: &Upstream, home: &Path, prompt: &str) -> Value {
    let kitbag = Path::new(env!("CARGO_BIN_EXE_kitbag")).parent().unwrap();
    let before = upstream.bodies().len();
    let mut codex = Command::new(program());
    codex
        .args(["exec", "--skip-git-repo-check", "--json", prompt])
        // A person trusts hooks once at the terminal.
        .arg("--dangerously-bypass-hook-trust")
        .current_dir(project.0.path())
        .env_clear()
        .env("HOME", home)
        .env("CODEX_HOME", home)
        .env("PATH", format!("{}:/usr/bin:/bin", kitbag.display()))
        .env("LOOP_KEY", KEY)
        .env("NO_PROXY", "127.0.0.1")
        .env("KITBAG_STORE", project.0.path().join("memory.db"))
        .env("KITBAG_CACHE_DIR", project.0.path().join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let said = finish(codex, None).success();
    assert!(said.contains("Noted."), "{said}");
    let bodies = upstream.bodies();
    let mut asked = bodies[before..]
        .iter()
        .filter(|body| body.contains("\"input\""));
    serde_json::from_str(asked.next().unwrap()).unwrap()
}

/// The stream of an answer that calls the tool `pack`.
const PACK: &str = r#"event: response.created
data: {"type":"response.created","response":{"id":"r"}}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"type":"function_call","id":"f","call_id":"c1","namespace":"mcp__kitbag","name":"pack","arguments":"{\"task\":\"fix the redirect of login\"}"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"r","usage":{"input_tokens":9,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":10}}}

"#;

#[test]
#[ignore = "needs Codex: cargo xtask test"]
fn x11_the_model_behind_codex_reads_the_pack_itself() {
    let upstream = Upstream::answering(|request| {
        Reply::stream(match request.contains("function_call_output") {
            true => STREAM,
            false => PACK,
        })
    });
    let project = Project::new();
    let home = set_up(&project, &upstream);
    let auth = "def login(user):\n    return redirect(\"/home\")\n";
    project.0.write("auth.py", auth);
    turn(&project, &upstream, home.path(), "Fix the redirect.");
    let last: Value = serde_json::from_str(upstream.bodies().last().unwrap()).unwrap();
    let mut items = last["input"].as_array().unwrap().iter();
    let result = items.find(|item| item["type"] == "function_call_output");
    let output = &result.unwrap()["output"];
    let shown = match output {
        Value::String(text) => text.clone(),
        parts => {
            let parts = parts.as_array().unwrap().iter();
            parts.filter_map(|part| part["text"].as_str()).collect()
        }
    };
    // The code as it is, and no escaped JSON around it.
    assert!(
        shown.contains(auth) && !shown.contains("left_out"),
        "{output}"
    );
}

/// Codex' configuration for this server, with ours in the project's.
fn set_up(project: &Project, upstream: &Upstream) -> tempfile::TempDir {
    let kitbag = Path::new(env!("CARGO_BIN_EXE_kitbag")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", kitbag.display());
    let init = ["init", "--for", "codex", "--yes"];
    project.0.run_with(&[("PATH", &path)], &init).success();
    let home = tempfile::tempdir().unwrap();
    let folder = project.0.path().canonicalize().unwrap();
    let config = format!(
        "model = \"gpt-5\"\nmodel_provider = \"loop\"\n[model_providers.loop]\nname = \"loop\"\n\
         base_url = \"{}/v1\"\nenv_key = \"LOOP_KEY\"\nwire_api = \"responses\"\n\
         [projects.{:?}]\ntrust_level = \"trusted\"\n",
        upstream.address(),
        folder.display().to_string(),
    );
    fs::write(home.path().join("config.toml"), config).unwrap();
    home
}

#[test]
#[ignore = "needs Codex: cargo xtask test"]
fn x11_codex_offers_our_tools_and_is_told_what_an_earlier_session_said() {
    let upstream = Upstream::answering(|_| Reply::stream(STREAM));
    let project = Project::new();
    let home = set_up(&project, &upstream);

    let said = "We deploy with fly.io, never with heroku.";
    let first = turn(&project, &upstream, home.path(), said);
    let tools = first["tools"].as_array().unwrap().iter();
    let mut ours = tools.filter(|tool| tool["name"] == "mcp__kitbag");
    assert_eq!(ours.next().unwrap()["tools"].as_array().unwrap().len(), 8);
    let second = turn(&project, &upstream, home.path(), "How do we deploy?");
    let input = second["input"].as_array().unwrap();
    let place = |text: &str| {
        let mut messages = input.iter();
        messages.position(|message| message.to_string().contains(text))
    };
    let (block, prompt) = (place("<kitbag-memory>"), place("How do we deploy?"));
    assert!(input[block.unwrap()].to_string().contains(said), "{second}");
    // It stands behind the prompt, so that nothing before it changes.
    assert!(prompt < block, "{second}");
}
