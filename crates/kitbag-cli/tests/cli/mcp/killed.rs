//! Clients that are killed in the middle of something.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::json;

use super::project;
use crate::run::Folder;

/// A client: starts the server on two pipes, writes its requests, reads so many lines, and is killed by itself, as
/// hard as a process can be.
const CLIENT: &str = r#"
"$KITBAG" --store sqlite:memory.db mcp <"$1/in" >"$1/out" &
exec 3>"$1/in" 4<"$1/out"
cat "$1/requests" >&3
i=0
while [ $i -lt "$2" ]; do read -r line <&4; i=$((i + 1)); done
kill -KILL $$
"#;

/// The clients, and those of them that live at the same time.
const CLIENTS: usize = 200;
const AT_ONCE: usize = 10;

#[test]
fn x11_nothing_is_left_of_servers_whose_clients_were_killed() {
    let folder = project();
    for number in 0..40 {
        let text = "def login():\n    pass\n".repeat(100);
        folder.write(&format!("file{number}.py"), text);
    }
    let begins = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    let call = |name: &str, arguments| {
        let params = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    };
    let pack = call("pack", json!({"task": "login"}));
    let remember = call("remember", json!({"text": "We bake on Mondays."}));
    let kinds: [(Vec<String>, usize); 5] = [
        (Vec::new(), 0),
        (lines(&begins[..1]), 1),
        (
            lines(&[&begins[..], std::slice::from_ref(&pack)].concat()),
            1,
        ),
        (lines(&[&begins[..], &[remember]].concat()), 1),
        (lines(&[&begins[..], &[pack]].concat()), 2),
    ];
    thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let (folder, kinds) = (&folder, &kinds);
            scope.spawn(move || {
                for round in (worker..CLIENTS).step_by(AT_ONCE) {
                    let (requests, answers) = &kinds[round % kinds.len()];
                    let rest = killed(folder, requests, *answers);
                    assert!(!rest.contains("panicked"), "round {round}: {rest}");
                }
            });
        }
    });
    assert_eq!(running(folder.path()), Vec::<String>::new());
    let left = fs::read_dir(folder.path()).unwrap().filter_map(Result::ok);
    let left: Vec<String> = left
        .map(|one| one.file_name().display().to_string())
        .collect();
    assert!(
        !left
            .iter()
            .any(|name| name.contains("tmp") || name.contains("unfinished")),
        "{left:?}"
    );
    let check = folder.run(&["--store", "sqlite:memory.db", "memory", "check"]);
    check.success();
    // However often it was remembered, it is there once.
    let export = ["--store", "sqlite:memory.db", "memory", "export"];
    let kept = folder.run(&export).success();
    assert!(kept.matches("We bake on Mondays.").count() <= 1, "{kept}");
}

fn lines(requests: &[serde_json::Value]) -> Vec<String> {
    requests.iter().map(ToString::to_string).collect()
}

/// Lets one client be killed, waits until its server has gone, and returns what the server said on stderr.
fn killed(folder: &Folder, requests: &[String], answers: usize) -> String {
    let pipes = tempfile::tempdir().unwrap();
    let at = |name: &str| pipes.path().join(name);
    let made = Command::new("mkfifo").args([at("in"), at("out")]).status();
    assert!(made.unwrap().success());
    let text: String = requests.iter().map(|line| format!("{line}\n")).collect();
    fs::write(at("requests"), text).unwrap();
    let mut client = folder.command(&[]);
    let environment = client.get_envs();
    let environment: Vec<_> = environment
        .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    client = Command::new("sh");
    client
        .args(["-c", CLIENT, "client"])
        .arg(pipes.path())
        .arg(answers.to_string());
    client
        .current_dir(folder.path())
        .env("KITBAG", env!("CARGO_BIN_EXE_kitbag"));
    for (name, value) in environment {
        match value {
            Some(value) => client.env(name, value),
            None => client.env_remove(name),
        };
    }
    client.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut client = client.spawn().unwrap();
    // The server has it too, so that it is at its end when both are gone.
    let mut said = String::new();
    client
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(!client.wait().unwrap().success(), "it was killed");
    said
}

/// The processes of Kitbag in a folder.
fn running(folder: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let here = |process: &fs::DirEntry| {
        let cwd = fs::read_link(process.path().join("cwd")).ok()?;
        let name = fs::read_to_string(process.path().join("comm")).ok()?;
        (cwd == folder && name.starts_with("kitbag")).then_some(name)
    };
    processes.filter_map(|process| here(&process)).collect()
}
