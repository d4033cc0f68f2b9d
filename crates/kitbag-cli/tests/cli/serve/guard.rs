//! A budget for histories: old results of tools in short, the same from request to request.

use serde_json::{Value, json};

use super::{Answer, Server};
use crate::ask::upstream::{ANTHROPIC, CHAT, RESPONSES, Reply, Upstream};
use crate::run::Folder;

fn guarded(budget: &str) -> (Server, Upstream, Folder) {
    let folder = Folder::new();
    folder.write(
        "own.yaml",
        format!("server: {{memory: off, history_budget: {budget}, cache_breakpoints: false}}\n"),
    );
    let upstream = Upstream::answering(|request| {
        Reply::stream(match request {
            _ if request.starts_with("POST /v1/messages") => ANTHROPIC,
            _ if request.starts_with("POST /v1/chat") => CHAT,
            _ => RESPONSES,
        })
    });
    let address = upstream.address();
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &address]);
    (server, upstream, folder)
}

/// Some 1,100 tokens of a log.
fn log(number: usize) -> String {
    let lines = (0..100).map(|line| format!("run {number}, line {line}: all is well\n"));
    lines.collect()
}

/// A session in which a tool was called so many times.
fn session(path: &str, calls: usize) -> Value {
    let mut said = vec![json!({"role": "user", "content": "Look into it."})];
    for call in 0..calls {
        let id = format!("call_{call}");
        match path {
            "/v1/messages" => said.extend([
                json!({"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "", "signature": "c2ln=="},
                    {"type": "tool_use", "id": id, "name": "logs", "input": {}}]}),
                json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": log(call)}]}),
            ]),
            "/v1/chat/completions" => said.extend([
                json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": id, "type": "function", "function": {"name": "logs", "arguments": "{}"}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": log(call)}),
            ]),
            _ => said.extend([
                json!({"type": "function_call", "call_id": id, "name": "logs", "arguments": "{}"}),
                json!({"type": "function_call_output", "call_id": id, "output": log(call)}),
            ]),
        }
    }
    let list = if path == "/v1/responses" {
        "input"
    } else {
        "messages"
    };
    json!({"model": "gpt-4o", "stream": true, list: said})
}

fn shortened(answer: &Answer) -> usize {
    answer
        .header("x-kitbag-results-shortened")
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn x06_old_results_are_shortened_and_stay_so() {
    for path in ["/v1/messages", "/v1/chat/completions", "/v1/responses"] {
        let (server, upstream, _folder) = guarded("16k");
        let mut renewed = 0;
        let mut before = String::new();
        let mut short_before = 0;
        for calls in 1..=24 {
            let sent = session(path, calls).to_string();
            let answer = server.post(path, &[], &sent);
            assert_eq!(answer.status, 200, "{calls} calls: {answer:?}");
            let arrived = upstream.bodies().pop().unwrap();
            let short = shortened(&answer);
            assert_eq!(arrived.matches("lines are left out here").count(), short);
            if short == 0 {
                assert_eq!(arrived, sent);
            }
            // The newest result is whole, and all that is shown was there, but for the log.
            assert!(
                arrived.contains(&format!("run {}, line 50:", calls - 1)),
                "{arrived}"
            );
            assert!(path != "/v1/messages" || arrived.matches("c2ln==").count() == calls);
            // A request begins as the one before it did, until results are shortened again.
            let beginning = before.split("],\"model\"").next().unwrap();
            let beginning = beginning.trim_end_matches("]}");
            if short == short_before {
                assert!(arrived.starts_with(beginning), "{calls} calls");
            } else {
                renewed += 1;
            }
            (before, short_before) = (arrived, short);
        }
        assert!((1..=3).contains(&renewed), "{path}: {renewed}");
        assert!(short_before >= 8, "{path}: {short_before}");
    }
}

#[test]
fn x06_what_exceeds_its_budget_all_the_same_is_refused_in_the_words_of_the_api() {
    let (server, upstream, _folder) = guarded("1k");
    let long = "All is well here. ".repeat(2_000);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": long}]}).to_string();
    let answer = server.post("/v1/messages", &[], &body);
    assert_eq!(
        (answer.status, answer.header("x-should-retry")),
        (400, Some("false"))
    );
    let error = &answer.json()["error"];
    assert_eq!(error["type"], "invalid_request_error");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("prompt is too long: ") && message.contains("> 1000 maximum"),
        "{message}"
    );
    let answer = server.post("/v1/chat/completions", &[], &body);
    assert_eq!(answer.json()["error"]["code"], "context_length_exceeded");
    assert!(upstream.requests().is_empty());
}

#[test]
fn x06_what_cannot_be_read_is_held_to_its_budget_by_its_bytes() {
    let (server, upstream, _folder) = guarded("1k");
    let long = "All is well here. ".repeat(2_000);
    let said = |role: &str, more: &str| {
        format!(r#"{{"messages":[{{"role":"{role}","content":"{long}"}}]{more}}}"#)
    };
    let path = "/v1/chat/completions";
    for body in [
        said("critic", ""),
        said("user", r#","user":"a","user":"b""#),
        said("user", r#","messages":[]"#),
        said("user", r#","metadata":{"user_id":7}"#),
        said("user", "").replace("}]}", "}"),
    ] {
        let answer = server.post(path, &[], &body);
        assert_eq!(answer.status, 400, "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], "context_length_exceeded");
        assert_eq!(answer.header("x-kitbag-memory"), None, "it was not asked");
    }
    let refused = server.post(path, &[("content-encoding", "zstd")], "\u{1}");
    assert_eq!(refused.status, 415, "{refused:?}");
    for path in ["/v1/messages/", "/v1//messages"] {
        assert_eq!(
            server.post(path, &[], &said("user", "")).status,
            400,
            "{path}"
        );
    }
    assert!(upstream.requests().is_empty());
    let short = r#"{"messages":[{"role":"critic","content":"Hi"}]}"#;
    let answer = server.post(path, &[], short);
    assert_eq!(
        (answer.status, upstream.bodies()),
        (200, vec![short.to_owned()])
    );
    assert_eq!(answer.header("x-kitbag-memory"), None);
}

#[test]
fn x06_memory_counts_as_part_of_a_request() {
    let folder = Folder::new();
    folder.write(
        "own.yaml",
        "server: {memory_time_limit: 60s, history_budget: 1k}\n",
    );
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    let address = upstream.address();
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &address]);
    let note = "We deploy with fly.io. ".repeat(60);
    let note = json!({"text": note, "key": "deploy"}).to_string();
    let json = [("content-type", "application/json")];
    assert_eq!(server.post("/api/v1/remember", &json, &note).status, 200);
    let words = "How do we deploy? ".repeat(190);
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": words}]});
    let ask = |memory: &str| {
        let headers = [("x-kitbag-memory", memory)];
        server.post("/v1/chat/completions", &headers, &body.to_string())
    };
    assert_eq!(ask("off").status, 200);
    let refused = ask("on");
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("prompt is too long"), "{refused:?}");
}

#[test]
fn x06_old_exchanges_of_a_plain_chat_are_left_out_and_counted() {
    let (server, upstream, _folder) = guarded("2k");
    for path in ["/v1/messages", "/v1/chat/completions", "/v1/responses"] {
        let list = if path == "/v1/responses" {
            "input"
        } else {
            "messages"
        };
        let mut said = vec![];
        if path == "/v1/chat/completions" {
            said.push(json!({"role": "system", "content": "Be kind."}));
        }
        let (mut before, mut left_before, mut renewed) = (String::new(), 0, 0);
        for number in 0..24 {
            let text = format!("question {number}: {}", "All is well here. ".repeat(40));
            said.push(json!({"role": "user", "content": text}));
            let sent = json!({list: said, "model": "gpt-4o", "stream": true}).to_string();
            let answer = server.post(path, &[], &sent);
            assert_eq!(answer.status, 200, "{number}: {answer:?}");
            let arrived = upstream.bodies().pop().unwrap();
            let read: Value = serde_json::from_str(&arrived).unwrap();
            assert!(
                arrived.contains(&format!("question {number}:")),
                "{arrived}"
            );
            assert!(path != "/v1/chat/completions" || read[list][0]["role"] == "system");
            let left = answer.header("x-kitbag-messages-left-out").unwrap();
            let left: usize = left.parse().unwrap();
            match left {
                0 => assert_eq!(arrived, sent),
                _ => {
                    let note =
                        format!("[{left} earlier messages of this conversation are not shown]");
                    assert_eq!(arrived.matches(&note).count(), 1, "{arrived}");
                    assert!(!arrived.contains("question 0:"));
                    let shown = read[list].as_array().unwrap().len();
                    assert_eq!(shown, said.len() - left + 1);
                }
            }
            // A request begins as the one before it did, until exchanges leave again.
            if left == left_before {
                let beginning = before.split("],\"model\"").next().unwrap();
                assert!(arrived.starts_with(beginning), "{number}");
            } else {
                renewed += 1;
            }
            (before, left_before) = (arrived, left);
            said.push(json!({"role": "assistant", "content": format!("answer {number}")}));
        }
        assert!((2..=8).contains(&renewed), "{path}: {renewed}");
        let long = "All is well here. ".repeat(2_000);
        let body = json!({"model": "m", "messages": [{"role": "user", "content": long}]});
        let counted = server.post("/v1/messages/count_tokens", &[], &body.to_string());
        assert_eq!(counted.status, 200, "{counted:?}");
        assert_eq!(upstream.bodies().pop().unwrap(), body.to_string());
    }
}
