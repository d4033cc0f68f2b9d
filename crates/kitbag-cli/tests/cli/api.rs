//! `kitbag serve`: Kitbag's own endpoints, for clients with keys and for this machine.

mod conformance;
mod deploy;
mod endpoints;
mod hostile;
mod keys;
#[cfg(target_os = "linux")]
mod killed;
mod mcp;
mod nodes;
mod schema;
mod slack;
mod tenants;

use serde_json::{Value, json};

use crate::run::Folder;
use crate::serve::{Answer, Server};

/// A folder whose model answers from a script.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        "own.yaml",
        "settings: {model: demo}\nmemory: {learning: rules}\nproviders:\n  demo: {kind: script, answers: answers.jsonl}\n",
    );
    let bees = json!({"when": "bees", "text": "The bees are in Porto.", "usage": {"input": 90, "output": 7}});
    let other = json!({"text": "I do not know.", "usage": {"input": 50, "output": 5}});
    folder.write("answers.jsonl", format!("{bees}\n{other}\n"));
    std::fs::create_dir(folder.path().join("code")).unwrap();
    folder.write(
        "code/auth.py",
        "def login(user):\n    return redirect(user)\n",
    );
    folder
}

fn serve(folder: &Folder, args: &[&str]) -> Server {
    let own = [
        "--config",
        "own.yaml",
        "--upstream",
        "http://127.0.0.1:9",
        "--root",
        "code",
    ];
    Server::start(folder, &[&own, args].concat())
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// Posts JSON, with a key unless it is empty.
fn post(server: &Server, key: &str, path: &str, body: &Value) -> Answer {
    let bearer = format!("Bearer {key}");
    let headers = [JSON, ("authorization", bearer.as_str())];
    let headers = if key.is_empty() {
        &headers[..1]
    } else {
        &headers
    };
    server.post(path, headers, &body.to_string())
}

fn get(server: &Server, key: &str, path: &str) -> Answer {
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str())];
    let headers = if key.is_empty() { &[][..] } else { &headers };
    server.send(server.head("GET", path, headers, 0).as_bytes())
}

/// Makes a key of a tenant.
fn key(folder: &Folder, tenant: &str, args: &[&str]) -> String {
    let create = [
        "--store",
        "sqlite:memory.db",
        "--tenant",
        tenant,
        "key",
        "create",
        "test",
    ];
    let printed = folder.run(&[&create, args].concat()).success();
    printed.trim_end().to_owned()
}

#[track_caller]
fn error(answer: &Answer, status: u16) -> String {
    assert_eq!(answer.status, status, "{answer:?}");
    let error = answer.json()["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(!error["kind"].as_str().unwrap().is_empty());
    format!("{message} ({})", error["hint"].as_str().unwrap_or_default())
}
