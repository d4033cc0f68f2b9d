//! Codex's own program with nothing changed but the base URL of its provider.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Server;
use super::claude_code::Tap;
use crate::ask::KEY;
use crate::ask::upstream::{Reply, Upstream};
use crate::hook::codex::{STREAM, program};
use crate::run::{Folder, finish};

/// Runs a session of Codex in a project.
fn session(project: &Path, address: &str, prompt: &str) {
    let home = project.join(".codex-home");
    fs::create_dir_all(&home).unwrap();
    let config = format!(
        "model = \"gpt-5\"\nmodel_provider = \"loop\"\n[model_providers.loop]\nname = \"loop\"\n\
         base_url = \"{address}/v1\"\nenv_key = \"LOOP_KEY\"\nwire_api = \"responses\"\n"
    );
    fs::write(home.join("config.toml"), config).unwrap();
    let mut codex = Command::new(program());
    codex
        .args(["exec", "--skip-git-repo-check", "--json", prompt])
        .current_dir(project)
        .env_clear()
        .env("HOME", &home)
        .env("CODEX_HOME", &home)
        .env("PATH", "/usr/bin:/bin")
        .env("LOOP_KEY", KEY)
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let said = finish(codex, None).success();
    assert!(said.contains("Noted."), "{said}");
}

/// The requests for answers.
fn asked(upstream: &Upstream) -> Vec<String> {
    let requests = upstream.requests().into_iter();
    requests
        .filter(|it| it.starts_with("POST /v1/responses "))
        .collect()
}

fn project(folder: &Folder, name: &str) -> std::path::PathBuf {
    let project = folder.path().join(name);
    fs::create_dir_all(project.join(".git")).unwrap();
    project
}

#[test]
#[ignore = "needs Codex: cargo xtask test"]
fn x06_requests_of_codex_arrive_as_they_were_sent() {
    let upstream = Upstream::answering(|_| Reply::stream(STREAM));
    let folder = Folder::new();
    let server = Server::start(&folder, &["--no-memory", "--upstream", &upstream.address()]);
    let tap = Tap::before(&server.address());
    session(
        &project(&folder, "mine"),
        &tap.address,
        "Where are the bees? \u{1f41d}",
    );
    let requests = asked(&upstream);
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(
        requests[0].contains("prompt_cache_key") && requests[0].contains("Where are the bees?")
    );
    tap.check(&upstream.requests());
}

#[test]
#[ignore = "needs Codex: cargo xtask test"]
fn x06_a_second_session_of_codex_knows_what_the_first_said() {
    let upstream = Upstream::answering(|_| Reply::stream(STREAM));
    let folder = Folder::new();
    folder.write("own.yaml", "server: {memory_time_limit: 60s}\n");
    let args = ["--config", "own.yaml", "--upstream", &upstream.address()];
    let [mine, other] = ["mine", "other"].map(|name| project(&folder, name));
    let server = Server::start(&folder, &args);
    session(
        &mine,
        &server.address(),
        "We deploy with fly.io, never with heroku.",
    );
    // An answer is kept behind it; a server that has stopped has kept it.
    assert_eq!(server.stop().code, Some(0));
    let server = Server::start(&folder, &args);
    session(&mine, &server.address(), "How do we deploy?");
    let second = asked(&upstream).pop().unwrap();
    assert!(
        second.contains("user: We deploy with fly.io, never with heroku."),
        "{second}"
    );
    session(&other, &server.address(), "How do we deploy?");
    let elsewhere = asked(&upstream).pop().unwrap();
    assert!(!elsewhere.contains("fly.io"), "{elsewhere}");
}
