//! Claude Code's own program running our hooks against a server that keeps the raw bytes of its requests.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Project;
use crate::ask::claude_code::{STREAM, program};
use crate::ask::upstream::{Reply, Upstream};
use crate::run::finish;

/// Runs a turn of Claude Code in the project, and returns the body of its request.
fn turn(project: &Project, upstream: &Upstream, args: &[&str]) -> String {
    let folder = project.0.path();
    let home = folder.join("home");
    fs::create_dir_all(&home).unwrap();
    let kitbag = Path::new(env!("CARGO_BIN_EXE_kitbag")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", kitbag.display());
    let before = upstream.bodies().len();
    let mut command = Command::new(program());
    command
        .args(args)
        // The server has tests of its own.
        .arg("--strict-mcp-config")
        .current_dir(folder)
        .env_clear()
        .env("HOME", &home)
        .env("PATH", path)
        .env("TERM", "dumb")
        .env("ANTHROPIC_BASE_URL", upstream.address())
        .env("ANTHROPIC_API_KEY", crate::ask::KEY)
        .env("NO_PROXY", "127.0.0.1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("KITBAG_STORE", folder.join("memory.db"))
        .env("KITBAG_CACHE_DIR", folder.join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(command, None).success();
    let bodies = upstream.bodies();
    let bodies: Vec<&String> = bodies[before..]
        .iter()
        .filter(|it| it.contains("\"messages\""))
        .collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    bodies[0].clone()
}

/// The texts of a request in the order in which a provider reads them, without marks of its cache.
fn texts(body: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(body).unwrap();
    let mut texts = vec![body["tools"].to_string()];
    let blocks = |content: &Value| match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks.iter().map(|it| it["text"].to_string()).collect(),
        other => panic!("{other}"),
    };
    let plain = |text: String| serde_json::from_str(&text).unwrap_or(text);
    texts.extend(blocks(&body["system"]).into_iter().map(plain));
    for message in body["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        let said = blocks(&message["content"]).into_iter().map(plain);
        texts.extend(said.map(|text| format!("{role}: {text}")));
    }
    texts
}

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn x11_claude_code_is_told_what_an_earlier_session_said_and_its_prefix_stays() {
    let upstream = Upstream::answering(|_| Reply::stream(STREAM));
    let project = Project::new();
    let kitbag = Path::new(env!("CARGO_BIN_EXE_kitbag")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", kitbag.display());
    let init = ["init", "--for", "claude", "--yes"];
    project.0.run_with(&[("PATH", &path)], &init).success();

    let first = turn(
        &project,
        &upstream,
        &["-p", "We deploy with fly.io, never with heroku."],
    );
    assert!(!first.contains("kitbag-memory"), "nothing was known then");
    let second = turn(&project, &upstream, &["-p", "How do we deploy?"]);
    assert!(
        second.contains("2026") && second.contains("never with heroku"),
        "{second}"
    );
    assert!(second.contains("user: We deploy with fly.io, never with heroku."));

    // The session goes on: it begins with all that it sent before, and is told nothing twice.
    let with = texts(&second);
    let more = ["-p", "And how do we deploy to staging?", "--continue"];
    let third = texts(&turn(&project, &upstream, &more));
    assert_eq!(third[..with.len()], with[..]);
    let told: usize = third.iter().map(|it| it.matches("[1.1#1]").count()).sum();
    assert_eq!(told, 1, "{third:?}");

    // Without hooks, a provider reads the same up to what they add behind the question, and behind it.
    let without = ["--settings", "{\"disableAllHooks\": true}"];
    let without = [&["-p", "How do we deploy?"][..], &without].concat();
    let without = texts(&turn(&project, &upstream, &without));
    let is_ours = |text: &String| text.contains("<kitbag-memory>");
    let ours = with.iter().position(is_ours).unwrap();
    let asked = with
        .iter()
        .position(|it| it.ends_with("user: How do we deploy?"));
    assert!(asked.is_some_and(|asked| asked < ours), "{with:?}");
    assert_eq!(with[..ours], without[..ours]);
    let with: Vec<String> = with.iter().map(|text| without_hooks(text)).collect();
    assert_eq!(with, without);
}

/// A text without what hooks added to it.
fn without_hooks(text: &str) -> String {
    let mut left = text.to_owned();
    for event in ["SessionStart", "UserPromptSubmit"] {
        let added = format!("{event} hook additional context: <kitbag-memory>");
        if let Some((before, rest)) = left.split_once(&added) {
            let (_, behind) = rest.split_once("</kitbag-memory>\n\n").unwrap();
            left = format!("{before}{behind}");
        }
    }
    left
}
