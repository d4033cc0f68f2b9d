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
