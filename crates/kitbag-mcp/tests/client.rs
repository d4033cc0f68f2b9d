//! The client: servers that work, and servers that hang, die, flood and lie.

#![cfg(unix)]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use kitbag::tool::{Effect, ToolError};
use kitbag_mcp::{Connected, ServerLimits, connect};
use serde_json::{Value, json};

/// A server of the older era in a shell, whose tools do what their names say.
const SERVER: &str = include_str!("server.sh");

fn run(test: impl AsyncFnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("server.sh"), SERVER).unwrap();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(test(folder.path()));
}

async fn connected(folder: &Path, servers: Value) -> Connected {
    let file = folder.join(".mcp.json");
    fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
    let limits = ServerLimits::new(Duration::from_secs(5), Duration::from_millis(500));
    let variable = |name: &str| (name == "FLOUR").then(|| "rye".to_owned());
    connect(&file, &limits, &variable).await.unwrap()
}

fn shell(script: &str) -> Value {
    json!({"command": "sh", "args": ["-c", script]})
}

async fn call(connected: &Connected, tool: &str) -> Result<String, ToolError> {
    let name = format!("mcp__good__{tool}");
    let called = connected.tools.call(&name, json!({"words": "rye"})).await;
    called.map(|output| output.text)
}

#[test]
fn t08_tools_of_a_server_are_called_and_its_faults_are_results() {
    run(async |folder| {
        let env = json!({"SAID": "${FLOUR}", "LOG": "${NONE:-none}"});
        let server = json!({"command": "sh", "args": ["server.sh"], "env": env});
        let connected = connected(folder, json!({"good": server})).await;
        assert_eq!(connected.problems, []);
        let specs = connected.tools.specs();
        let effects: Vec<_> = specs
            .iter()
            .map(|spec| (spec.definition.name.as_str(), spec.effect))
            .collect();
        assert_eq!(
            effects,
            [
                ("mcp__good__big", Effect::Writes),
                ("mcp__good__die", Effect::Destroys),
                ("mcp__good__garbage", Effect::Writes),
                ("mcp__good__hang", Effect::Writes),
                ("mcp__good__refuse", Effect::Writes),
                ("mcp__good__say_it", Effect::Reads),
            ]
        );
        assert_eq!(call(&connected, "say_it").await.unwrap(), "rye none");
        let refused = call(&connected, "refuse").await.unwrap_err();
        assert_eq!(refused.to_string(), "no flour");
        for slow in ["hang", "garbage", "big"] {
            let error = call(&connected, slow).await.unwrap_err().to_string();
            assert!(error.contains("`good`"), "{slow}: {error}");
        }
        assert_eq!(call(&connected, "say_it").await.unwrap(), "rye none");
        let died = call(&connected, "die").await.unwrap_err().to_string();
        assert!(died.contains("the server `good` failed"), "{died}");
        let gone = call(&connected, "say_it").await.unwrap_err().to_string();
        assert!(gone.contains("the server `good` failed"), "{gone}");
    });
}

#[test]
fn t08_a_server_that_does_not_start_is_a_problem_and_the_others_are_used() {
    run(async |folder| {
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
        let connected = connected(
            folder,
            json!({
                "dies": shell("exit 3"),
                "floods": shell(&format!("yes '{notification}'")),
                "good": {"command": "sh", "args": ["server.sh"]},
                "hangs": shell("sleep 1000"),
                "http": {"type": "http", "url": "ftp://example.com/mcp"},
                "huge": shell("head -c 50000000 /dev/zero | tr '\\0' x; sleep 1000"),
                "missing": {"command": "kitbag-no-such-program"},
                "nonsense": shell("while :; do echo nonsense; sleep 0.01; done"),
                "unset": {"command": "sh", "args": ["${NONE}"]},
            }),
        )
        .await;
        let problems: Vec<String> = connected.problems.iter().map(ToString::to_string).collect();
        let named = |server: &str| {
            let start = format!("mcp server `{server}`: ");
            let told = problems.iter().find_map(|told| told.strip_prefix(&start));
            told.unwrap_or_default()
        };
        assert_eq!(problems.len(), 8, "{problems:#?}");
        for slow in ["floods", "hangs", "huge", "nonsense"] {
            assert!(!named(slow).is_empty(), "{slow}: {problems:#?}");
        }
        assert_eq!(named("hangs"), "it did not start within 5000 ms");
        assert_eq!(named("dies"), "it ended before it answered");
        assert!(named("http").contains("must begin with https://"));
        assert!(named("missing").starts_with("`kitbag-no-such-program` cannot be started: "));
        assert_eq!(named("unset"), "the variable `NONE` is not set");
        assert_eq!(call(&connected, "say_it").await.unwrap(), "nothing nothing");
    });
}

#[test]
fn t08_a_server_gets_no_keys_and_leaves_no_process() {
    run(async |folder| {
        let script = "env > env; sleep 1000 & echo $$ $! > pids; exec sh server.sh";
        let connected = connected(folder, json!({"good": shell(script)})).await;
        assert_eq!(call(&connected, "say_it").await.unwrap(), "nothing nothing");
        let env = fs::read_to_string(folder.join("env")).unwrap();
        let names: Vec<&str> = env
            .lines()
            .filter_map(|line| line.split('=').next())
            .collect();
        assert!(names.contains(&"PATH"), "{names:?}");
        assert!(
            !names.iter().any(|name| name.starts_with("CARGO")),
            "{names:?}"
        );
        let pids = fs::read_to_string(folder.join("pids")).unwrap();
        let pids: Vec<&str> = pids.split_whitespace().collect();
        assert!(pids.iter().all(|pid| is_running(pid)));
        drop(connected);
        for _ in 0..200 {
            if !pids.iter().any(|pid| is_running(pid)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{pids:?} are still there");
    });
}

/// One that has ended and was not waited for yet does not run.
fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}
