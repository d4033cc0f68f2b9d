//! `kitbag mcp`: a client on its stdin and stdout.

pub(crate) mod clients;
#[cfg(target_os = "linux")]
pub(crate) mod killed;
mod session;

use std::fs;

use serde_json::{Value, json};

use crate::run::Folder;
use session::Session;

/// A small project.
fn project() -> Folder {
    let folder = Folder::new();
    folder.write(
        "auth.py",
        "def login(user):\n    \"\"\"Log a user in.\"\"\"\n    return redirect(\"/home\")\n",
    );
    folder.write(
        "test_auth.py",
        "from auth import login\n\n\ndef test_login():\n    assert login(\"ann\")\n",
    );
    folder
}

#[test]
fn x11_the_tools_are_listed_the_same_each_time() {
    let folder = project();
    let mut session = Session::start(&folder, &[]);
    let listed = session.ask("tools/list", json!({}));
    assert_eq!(session.ask("tools/list", json!({})), listed);
    insta::assert_snapshot!(outlined(&listed));
}

/// Each tool with its arguments and the fields of its result, as a reader reviews them.
fn outlined(listed: &Value) -> String {
    let fields = |schema: &Value| {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let fields = schema["properties"].as_object().unwrap().iter();
        let fields = fields.map(|(name, field)| {
            let kind = field["type"].as_str().unwrap_or("one of");
            let must = if required.contains(&name.as_str()) {
                ""
            } else {
                "?"
            };
            format!("{name}{must}: {kind}")
        });
        fields.collect::<Vec<_>>().join(", ")
    };
    let tools = listed["tools"].as_array().unwrap().iter();
    let tools = tools.map(|tool| {
        let hints = &tool["annotations"];
        format!(
            "{} (reads only: {}, destroys: {})\n  {}\n  takes {}\n  gives {}\n",
            tool["name"].as_str().unwrap(),
            hints["readOnlyHint"],
            hints["destructiveHint"],
            tool["description"].as_str().unwrap(),
            fields(&tool["inputSchema"]),
            fields(&tool["outputSchema"]),
        )
    });
    tools.collect()
}

#[test]
fn x11_a_pack_is_the_one_that_the_command_prints() {
    let folder = project();
    let task = "fix the redirect of login";
    let mut session = Session::start(&folder, &["--no-memory"]);
    let called = session.call("pack", json!({ "task": task, "budget": 2_000 }));
    // In a folder of its own: the home of the tests, with the cache, is part of it.
    let other = project();
    let printed = other.run(&["pack", task, "--budget", "2000"]).success();
    // A terminal is given a line end more.
    let prompt = printed.trim_end();
    assert_eq!(called["content"][0]["text"], prompt);
    let structured = &called["structuredContent"];
    assert_eq!(structured["prompt"], prompt);
    assert_eq!(structured["shown"][0]["source"], "auth.py");
    assert!(structured["tokens"].as_u64().unwrap() <= 2_000);
}

#[test]
fn x11_no_pack_shows_what_the_configuration_excludes() {
    let folder = project();
    let task = "fix the redirect of login";
    folder.write("kitbag.yaml", "pack: {exclude: [auth.py]}\n");
    let mut session = Session::start(&folder, &["--no-memory"]);
    let called = session.call("pack", json!({ "task": task, "exclude": ["*.md"] }));
    let packed = called["content"][0]["text"].as_str().unwrap();
    session.end().success();
    let context = folder.run(&["context", task, "--pack"]).success();
    for prompt in [packed, &context] {
        assert!(prompt.contains("redirect of login"), "{prompt}");
        assert!(!prompt.contains("## auth.py"), "{prompt}");
    }
}

#[test]
fn x11_what_one_session_remembers_the_next_recalls_and_forgets() {
    let folder = project();
    let mut session = Session::start(&folder, &[]);
    let note = json!({ "text": "We decided to keep sessions in Postgres." });
    let kept = session.call("remember", note.clone());
    assert_eq!(kept["structuredContent"], json!({ "is_new": true }));
    let again = session.call("remember", note);
    assert_eq!(again["structuredContent"], json!({ "is_new": false }));
    session.call(
        "remember",
        json!({ "text": "Europe/Lisbon", "key": "timezone" }),
    );
    assert_eq!(session.end().code, Some(0));

    let mut session = Session::start(&folder, &[]);
    let recalled = session.call("recall", json!({ "query": "Where are sessions kept?" }));
    let found = &recalled["structuredContent"]["messages"][0];
    assert_eq!(found["text"], "We decided to keep sessions in Postgres.");
    // Not the user's words: nothing may be drawn from it as if the user had said so.
    assert_eq!(found["said_by"], "assistant");
    let facts = session.call("facts", json!({}));
    let fact = &facts["structuredContent"]["facts"][0];
    assert_eq!(
        (&fact["key"], &fact["value"]),
        (&json!("timezone"), &json!("Europe/Lisbon"))
    );
    let whole = session.call("expand", json!({ "handle": found["id"] }));
    assert_eq!(whole["structuredContent"]["text"], found["text"]);

    let forget = json!({ "message": found["id"] });
    let listed = session.call("forget", forget);
    assert_eq!(listed["structuredContent"]["is_done"], false);
    assert!(
        listed["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Postgres")
    );
    let gone = session.call("forget", json!({ "message": found["id"], "confirm": true }));
    assert_eq!(gone["structuredContent"]["is_done"], true);
    let recalled = session.call("recall", json!({ "query": "Where are sessions kept?" }));
    assert_eq!(recalled["structuredContent"]["messages"], json!([]));
}

#[test]
fn x11_nobody_reads_or_forgets_what_another_person_said() {
    let folder = project();
    let mut ann = Session::start(&folder, &["--sender", "ann"]);
    ann.call("remember", json!({ "text": "The safe opens with 4711." }));
    drop(ann);
    let mut bob = Session::start(&folder, &["--sender", "bob"]);
    let recalled = bob.call("recall", json!({ "query": "How does the safe open?" }));
    assert_eq!(recalled["structuredContent"]["messages"], json!([]));
    for (tool, arguments) in [
        ("expand", json!({ "handle": "1.1#1" })),
        ("forget", json!({ "message": "1.1#1", "confirm": true })),
    ] {
        let refused = bob.call(tool, arguments);
        assert_eq!(refused["isError"], true, "{tool}: {refused}");
        assert!(
            refused.to_string().contains("there is no message `1.1#1`"),
            "{refused}"
        );
    }
    let everything = bob.call("forget", json!({ "matching": "safe", "confirm": true }));
    assert!(
        everything.to_string().contains("forgot nothing"),
        "{everything}"
    );
}

#[test]
fn x11_a_long_file_comes_in_parts() {
    let folder = project();
    let long: String = (0..9_000)
        .map(|number| format!("line {number} of many words\n"))
        .collect();
    folder.write("long.txt", &long);
    let mut session = Session::start(&folder, &[]);
    let mut handle = "long.txt".to_owned();
    let mut text = String::new();
    for _ in 0..9 {
        let part = session.call("expand", json!({ "handle": handle }));
        let part = &part["structuredContent"];
        text.push_str(part["text"].as_str().unwrap());
        match part["rest"].as_str() {
            Some(rest) => handle = rest.to_owned(),
            None => break,
        }
    }
    assert_eq!(text, long);
}

#[test]
fn x11_a_task_goes_on_from_its_checkpoint() {
    let folder = project();
    let mut session = Session::start(&folder, &[]);
    let save = json!({ "action": "save", "session": "s1", "task": "fix the redirect of login" });
    session.call("checkpoint", save);
    let save =
        json!({ "action": "save", "session": "s1", "state": "paused", "artifacts": ["auth.py"] });
    session.call("checkpoint", save);
    let listed = session.call("checkpoint", json!({ "action": "list" }));
    let saved = &listed["structuredContent"]["sessions"][0];
    assert_eq!(
        (&saved["id"], &saved["state"]),
        (&json!("s1"), &json!("paused"))
    );
    let resumed = session.call("checkpoint", json!({ "action": "resume", "session": "s1" }));
    let prompt = resumed["content"][0]["text"].as_str().unwrap();
    assert!(prompt.contains("This continues session s1"), "{prompt}");
    assert!(
        prompt.contains("return redirect"),
        "the code is there: {prompt}"
    );
    let gone = session.call("checkpoint", json!({ "action": "delete", "session": "s1" }));
    let told = gone["content"][0]["text"].as_str().unwrap();
    assert!(
        told.starts_with("deleted the checkpoint of session `s1`, running, saved ")
            && told.ends_with(": fix the redirect of login"),
        "{told}"
    );
    let listed = session.call("checkpoint", json!({ "action": "list" }));
    assert_eq!(listed["structuredContent"]["sessions"], json!([]));
}

#[test]
fn x11_what_is_asked_wrongly_is_told_and_the_session_goes_on() {
    let folder = project();
    let mut session = Session::start(&folder, &[]);
    for (tool, arguments, told) in [
        ("pack", json!({ "tsk": "x" }), "unknown field `tsk`"),
        (
            "pack",
            json!({ "task": "x", "pins": ["gone.rs"] }),
            "gone.rs",
        ),
        ("recall", json!({}), "missing field `query`"),
        (
            "recall",
            json!({ "query": "x", "since": "soon" }),
            "`since` is `soon`",
        ),
        ("remember", json!({ "text": "  " }), "has 0 characters"),
        (
            "expand",
            json!({ "handle": "../../etc/passwd" }),
            "etc/passwd",
        ),
        ("forget", json!({}), "give one of"),
        (
            "checkpoint",
            json!({ "action": "save", "session": "../x", "task": "t" }),
            "session",
        ),
    ] {
        let refused = session.call(tool, arguments);
        assert_eq!(refused["isError"], true, "{tool}: {refused}");
        assert!(refused.to_string().contains(told), "{tool}: {refused}");
    }
    let error = session.error("tools/call", json!({ "name": "nope" }));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("the tools are checkpoint, expand")
    );
    let error = session.error("resources/read", json!({ "uri": "file:///etc/passwd" }));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("there is no resource")
    );
    for garbage in ["this is no JSON", "{\"jsonrpc\": ", "\u{1f980}"] {
        session.write(garbage);
        let told = session.unasked();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&Value::Null, &json!(-32700)),
            "{told}"
        );
    }
    let fine = session.call("expand", json!({ "handle": "auth.py:1-1" }));
    assert_eq!(fine["structuredContent"]["text"], "def login(user):\n");
}

#[test]
fn x11_a_damaged_memory_leaves_packs_alone() {
    let folder = project();
    folder.write(
        "memory.db",
        "this is no database, and never was one: it only has its name",
    );
    let mut session = Session::start(&folder, &[]);
    let refused = session.call("recall", json!({ "query": "anything" }));
    assert_eq!(refused["isError"], true);
    let packed = session.call("pack", json!({ "task": "login" }));
    assert_eq!(packed["isError"], false);
    let ended = session.end();
    assert!(ended.stderr.contains("memory is not offered"), "{ended:?}");
}

#[test]
fn c05_documents_are_resources_and_layouts_are_prompts() {
    let folder = project();
    folder.write(
        "kitbag.yaml",
        "agents:\n  - id: baker\n    name: Baker\n    description: Bakes\ndocuments:\n  house rules: {path: rules.md, summary: How we work}\n",
    );
    folder.write("rules.md", "Sift twice.\n");
    let mut session = Session::start(&folder, &[]);
    let listed = session.ask("resources/list", json!({}));
    let document = &listed["resources"][0];
    assert_eq!(document["uri"], "kitbag://document/house%20rules");
    let read = session.ask("resources/read", json!({ "uri": document["uri"] }));
    assert_eq!(read["contents"][0]["text"], "Sift twice.\n");
    let prompt = json!({ "name": "kitbag/default", "arguments": { "query": "What now?" } });
    let prompt = session.ask("prompts/get", prompt);
    let said = prompt["messages"].to_string();
    assert!(
        said.contains("Baker") && said.contains("What now?"),
        "{said}"
    );
    let listed = session.ask("prompts/list", json!({}));
    let names = listed["prompts"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|one| one["name"].as_str().unwrap()).collect();
    assert!(
        names.is_sorted() && names.contains(&"kitbag/default"),
        "{names:?}"
    );
}

#[test]
fn c05_a_document_that_cannot_be_read_or_is_huge_is_an_error() {
    let folder = project();
    folder.write(
        "kitbag.yaml",
        "documents:\n  gone: {path: gone.md}\n  outside: {path: ../outside.md}\n  huge: {path: huge.md}\n  fine: {path: fine.md}\n",
    );
    folder.write("huge.md", "Sift twice.\n".repeat(100_000));
    folder.write("fine.md", "Sift.\n");
    let mut session = Session::start(&folder, &["--no-memory"]);
    for (name, told) in [
        ("gone", "gone.md"),
        ("outside", "outside.md"),
        (
            "huge",
            "has 1200000 bytes, and a client gets at most 1048576",
        ),
    ] {
        let uri = format!("kitbag://document/{name}");
        let error = session.error("resources/read", json!({ "uri": uri }));
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
    }
    let uri = json!({ "uri": "kitbag://document/fine" });
    let read = session.ask("resources/read", uri);
    assert_eq!(read["contents"][0]["text"], "Sift.\n");
}

#[test]
fn x11_arguments_of_a_wrong_type_are_wrong_and_not_an_unknown_method() {
    let folder = project();
    let mut session = Session::start(&folder, &["--no-memory"]);
    for (method, params) in [
        (
            "tools/call",
            json!({ "name": "pack", "arguments": "fix it" }),
        ),
        ("tools/call", json!({ "arguments": {} })),
        ("resources/read", json!({ "uri": 7 })),
        ("prompts/get", json!({ "name": ["x"] })),
    ] {
        let error = session.error(method, params);
        assert_eq!(error["code"], -32602, "{method}: {error}");
    }
    assert_eq!(session.error("tools/brew", json!({}))["code"], -32601);
    assert_eq!(
        session.call("pack", json!({ "task": "login" }))["isError"],
        false
    );
}

#[test]
fn x11_claude_code_and_codex_get_the_text_of_a_result_alone() {
    let folder = project();
    for (client, is_structured) in [
        ("claude-code", false),
        ("codex-mcp-client", false),
        ("Visual Studio Code", true),
    ] {
        let mut session = Session::of_client(&folder, client, &["--no-memory"]);
        let listed = session.ask("tools/list", json!({}));
        let has_schema = |tool: &Value| tool.get("outputSchema").is_some();
        let tools = listed["tools"].as_array().unwrap();
        assert!(tools.iter().all(|tool| has_schema(tool) == is_structured));
        let packed = session.call("pack", json!({ "task": "login" }));
        assert_eq!(packed.get("structuredContent").is_some(), is_structured);
        assert!(
            packed["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("redirect")
        );
    }
    // The newer era introduces the client with each request.
    let mut session = Session::without_beginning(&folder, &["--no-memory"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "claude-code", "version": "3" },
    });
    let call = json!({ "name": "pack", "arguments": { "task": "login" }, "_meta": meta });
    let packed = session.ask("tools/call", call);
    assert!(packed.get("structuredContent").is_none(), "{packed}");
}

#[test]
fn x03_a_prompt_that_was_sent_is_a_resource_of_its_sender_alone() {
    let folder = project();
    folder.write(
        "kitbag.yaml",
        "providers: {demo: {kind: script, answers: answers.jsonl}}\n",
    );
    folder.write("answers.jsonl", "{\"text\": \"A loaf.\"}\n");
    let store = ["--store", "sqlite:memory.db", "ask", "--sender", "ann"];
    let asked = [&store[..], &["What is in the oven?"]].concat();
    folder.run(&asked).success();
    let mut ann = Session::start(&folder, &["--sender", "ann"]);
    let listed = ann.ask("resources/list", json!({}));
    let uri = &listed["resources"][0]["uri"];
    assert_eq!(uri, "kitbag://prompt/1.1.1");
    let read = ann.ask("resources/read", json!({ "uri": uri }));
    assert!(read.to_string().contains("What is in the oven?"), "{read}");
    drop(ann);
    let mut bob = Session::start(&folder, &["--sender", "bob"]);
    assert_eq!(bob.ask("resources/list", json!({}))["resources"], json!([]));
    let error = bob.error("resources/read", json!({ "uri": uri }));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("there is no resource")
    );
}

#[test]
fn x11_a_server_ends_with_its_client_whatever_it_does() {
    let folder = project();
    for number in 0..100 {
        folder.write(
            &format!("file{number}.py"),
            "def login():\n    pass\n".repeat(200),
        );
    }
    for round in 0..10 {
        let mut session = Session::start(&folder, &[]);
        session.send(
            "tools/call",
            json!({ "name": "pack", "arguments": { "task": "login" } }),
        );
        // Some are left before they begin to answer, some while they do.
        if round % 2 == 1 {
            session.ask("tools/list", json!({}));
        }
        let ended = session.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let left = fs::read_dir(folder.path()).unwrap().filter_map(Result::ok);
    let left: Vec<String> = left
        .map(|one| one.file_name().display().to_string())
        .collect();
    assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
}
