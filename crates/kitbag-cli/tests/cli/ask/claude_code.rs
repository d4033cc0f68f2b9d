//! Claude Code as a provider: its own program against a server of the test's own, and programs that
//! fail in its place.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::upstream::{Reply, Upstream};
use super::{KEY, MODULES, ask_raw};
use crate::run::Folder;

pub(crate) const STREAM: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":16,"cache_read_input_tokens":64,"cache_creation_input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"In Porto."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}

event: message_stop
data: {"type":"message_stop"}

"#;

/// The program that the package for this platform brings.
pub(crate) fn program() -> PathBuf {
    let modules = std::env::var(MODULES).unwrap_or_else(|_| {
        panic!("no Claude Code: run the tests with `cargo xtask test`, or set {MODULES} to what `cargo xtask npm` prints")
    });
    let packages = fs::read_dir(PathBuf::from(modules).join("@anthropic-ai")).unwrap();
    let programs = packages.map(|package| package.unwrap().path().join("claude"));
    programs.into_iter().find(|file| file.is_file()).unwrap()
}

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn o07_claude_code_reads_what_a_dry_run_shows_and_nothing_else() {
    let upstream = Upstream::start(vec![Reply::stream(STREAM)]);
    let folder = Folder::new();
    let config = format!(
        "providers:\n  cc:\n    kind: claude-code\n    command: {}\n    base_url: {}\n    key: {{file: key}}\n    timeouts: {{first_byte: 20s}}\n",
        program().display(),
        upstream.address()
    );
    folder.write("cc.yaml", config);
    folder.write("key", KEY);
    folder.write("secret.txt", "NOT FOR THE MODEL");
    folder.write("CLAUDE.md", "NOT FOR THE MODEL");
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    let run = |args: &[&str]| {
        let args = [&["--store", "sqlite:memory.db"], args].concat();
        let variables = [
            ("HOME", home.to_str().unwrap()),
            ("NO_PROXY", "127.0.0.1"),
            // The server answers one connection, which is to be the request's.
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ];
        folder.run_with(&variables, &args)
    };
    let ask = [
        "ask",
        "Where are the bees? See @secret.txt",
        "--config",
        "cc.yaml",
    ];
    let dry = run(&[&ask[..], &["--no-memory", "--dry-run"]].concat()).success();
    let answer = run(&ask);
    assert!(
        answer.stderr.starts_with("90 tokens in, 64 cached, 7 out"),
        "{answer:?}"
    );
    assert_eq!(answer.success(), "In Porto.\n");
    let request = &upstream.requests()[0];
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["messages"][0]["content"], dry.trim_end());
    assert!(!request.contains("NOT FOR THE MODEL"), "{request}");
    assert_eq!(
        run(&["replay", "1.1.1"]).success().trim_end(),
        dry.trim_end()
    );
}

/// An answer that calls a tool, in place of the words of [`STREAM`].
fn calling(tool: &str) -> String {
    let block = json!({ "type": "tool_use", "id": "toolu_1", "name": tool, "input": {} });
    let events = [
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0,
                "delta": { "type": "input_json_delta", "partial_json": "{}" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null },
                "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ];
    let named = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    let (start, _) = STREAM.split_once("event: content_block_start").unwrap();
    start.to_owned() + &events.iter().map(named).collect::<String>()
}

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn o07_claude_code_starts_the_servers_of_its_entry_and_may_call_their_tools() {
    let replies = [calling("mcp__notes__facts"), STREAM.to_owned()];
    let upstream = Upstream::start(replies.iter().map(|body| Reply::stream(body)).collect());
    let folder = Folder::new();
    let server = json!({
        "command": env!("CARGO_BIN_EXE_kitbag"),
        "args": ["--store", "sqlite:notes.db", "mcp", "--sender", "user"],
    });
    let config = format!(
        "providers:\n  cc:\n    kind: claude-code\n    command: {}\n    base_url: {}\n    key: {{file: key}}\n    \
         timeouts: {{first_byte: 20s}}\n    mcp_servers: {{notes: {server}}}\n",
        program().display(),
        upstream.address()
    );
    folder.write("cc.yaml", config);
    folder.write("key", KEY);
    let set = [
        "memory",
        "facts",
        "set",
        "home",
        "a houseboat in Porto",
        "--sender",
        "user",
    ];
    folder
        .run(&[&["--store", "sqlite:notes.db"], &set[..]].concat())
        .success();
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    let variables = [
        ("HOME", home.to_str().unwrap()),
        ("NO_PROXY", "127.0.0.1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ];
    let ask = [
        "--store",
        "sqlite:memory.db",
        "ask",
        "Where do I live?",
        "--config",
        "cc.yaml",
    ];
    let answer = folder.run_with(&variables, &ask);
    assert_eq!(answer.success(), "In Porto.\n");
    let bodies = upstream.bodies();
    let [first, second] = &bodies[..] else {
        panic!("the call and its result are two requests: {bodies:?}");
    };
    let first: Value = serde_json::from_str(first).unwrap();
    let tools = first["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"mcp__notes__facts"), "{names:?}");
    assert!(
        names.iter().all(|name| name.starts_with("mcp__notes__")),
        "{names:?}"
    );
    // Nobody is there to be asked for permission.
    assert!(second.contains("a houseboat in Porto"), "{second}");
}

#[test]
fn o07_a_program_that_fails_is_told_without_the_key() {
    let folder = Folder::new();
    for (script, told) in [
        (
            "echo \"wrong $ANTHROPIC_API_KEY\" >&2; exit 3",
            "exit status: 3: wrong [key]",
        ),
        ("echo oops", "it printed `oops`"),
        ("sleep 30", "no answer within 0.500 s"),
        (
            r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"Please run /login"}'"#,
            "failed: Please run /login",
        ),
    ] {
        folder.write("key", KEY);
        folder.write("fake.sh", script);
        let first_byte = match script {
            "sleep 30" => "500ms",
            _ => "60s",
        };
        let config = format!(
            "providers: {{cc: {{kind: claude-code, command: [sh, fake.sh], key: {{file: key}}, \
             timeouts: {{first_byte: {first_byte}}}}}}}\n"
        );
        folder.write("cc.yaml", config);
        let error = ask_raw(&folder, &["ask", "hello", "--config", "cc.yaml"]).failure(1);
        assert!(error.contains(told), "{told}: {error}");
        assert!(!error.contains(KEY), "{error}");
    }
    folder.write(
        "kitbag.yaml",
        "providers: {cc: {kind: claude-code, command: [touch, ran]}}\n",
    );
    let error = ask_raw(&folder, &["ask", "hello"]).failure(1);
    assert!(error.contains("runs a program"), "{error}");
    assert!(!folder.path().join("ran").exists());
}
