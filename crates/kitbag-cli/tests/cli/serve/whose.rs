//! Whose memory a request is for: never somebody else's.

use super::Server;
use super::memory::{ASKED, Proxy, SAID, block, chat};
use crate::ask::upstream::{CHAT, Reply, Upstream};
use crate::run::Folder;

const PATH: &str = "/v1/chat/completions";

#[test]
fn x06_a_name_in_any_script_is_its_own_sender() {
    let proxy = Proxy::new();
    let name = ("x-kitbag-sender", "j\u{fc}rgen");
    proxy.say(&[name], SAID);
    let exported = proxy.exported();
    assert!(
        exported.contains("\"sender\":\"j\u{fc}rgen\""),
        "{exported}"
    );
    let (_, arrived) = proxy.post(PATH, &[], &chat(&[ASKED]));
    assert!(!arrived.contains("fly.io"), "{arrived}");
    let (_, arrived) = proxy.post(PATH, &[name], &chat(&[ASKED]));
    assert!(block(&arrived).contains(SAID), "{arrived}");
}

#[test]
fn x06_a_header_that_names_nobody_is_nobody_s_memory() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    for name in [
        "x-kitbag-sender",
        "x-kitbag-project",
        "x-kitbag-conversation",
    ] {
        // A variable that is not set, and a byte of Latin-1.
        for value in [&b""[..], b" ", b"j\xfcrgen"] {
            let body = chat(&[ASKED]).to_string();
            let head = proxy
                .server
                .head("POST", PATH, &[(name, "VALUE")], body.len());
            let (before, behind) = head.split_once("VALUE").unwrap();
            let request = [before.as_bytes(), value, behind.as_bytes(), body.as_bytes()].concat();
            let answer = proxy.server.send(&request);
            assert_eq!(answer.status, 200, "{answer:?}");
            let told = answer.header("x-kitbag-memory");
            assert_eq!(told, Some("unavailable"), "{name} {value:?}");
            assert_eq!(proxy.upstream.bodies().pop().unwrap(), body);
        }
    }
    assert_eq!(proxy.server.stop().code, Some(0));
    let export = ["--store", "sqlite:memory.db", "memory", "export"];
    let exported = proxy.folder.run(&export).success();
    assert!(
        !exported.contains(ASKED),
        "nothing of it is learned: {exported}"
    );
}

#[test]
fn x07_a_key_brings_no_memory_that_it_may_not_read() {
    let folder = Folder::new();
    let key = |scopes: &str| {
        let create = [
            "--store",
            "sqlite:memory.db",
            "key",
            "create",
            "x",
            "--scope",
            scopes,
        ];
        folder.run(&create).success().trim_end().to_owned()
    };
    let keys = [key("proxy"), key("proxy,read"), key("proxy,read,write")];
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    folder.write("own.yaml", "server: {memory_time_limit: 60s}\n");
    let address = upstream.address();
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &address]);
    let bob = ("x-kitbag-sender", "bob");
    let fact = r#"{"text": "We deploy with fly.io.", "key": "deploy", "sender": "bob"}"#;
    let headers = [
        ("content-type", "application/json"),
        ("x-kitbag-key", &*keys[2]),
    ];
    assert_eq!(server.post("/api/v1/remember", &headers, fact).status, 200);
    let told = [None, Some("added"), Some("added")];
    for (number, (key, told)) in keys.iter().zip(told).enumerate() {
        let question = format!("How do we deploy, asks number {number}?");
        let headers = [("x-kitbag-key", key.as_str()), bob];
        let answer = server.post(PATH, &headers, &chat(&[&question]).to_string());
        assert_eq!(answer.header("x-kitbag-memory"), told, "{answer:?}");
        let arrived = upstream.bodies().pop().unwrap();
        assert_eq!(arrived.contains("fly.io"), told.is_some(), "{arrived}");
    }
    assert_eq!(server.stop().code, Some(0));
    let export = ["--store", "sqlite:memory.db", "memory", "export"];
    let exported = folder.run(&export).success();
    assert_eq!(
        exported.matches("\"text\":\"How").count(),
        1,
        "who may write: {exported}"
    );
}

#[test]
fn x06_folders_of_another_system_are_projects_of_their_own() {
    let proxy = Proxy::new();
    let ask = |folder: &str, session: &str, text: &str| {
        let body = serde_json::json!({"model": "m", "max_tokens": 9, "tools": [{"name": "ls", "input_schema": {}}],
            "system": format!(" - Primary working directory: {folder}\n"),
            "messages": [{"role": "user", "content": text}]});
        let session = [("x-claude-code-session-id", session)];
        proxy.post("/v1/messages", &session, &body)
    };
    ask(r"C:\code\one", "s1", SAID);
    proxy.wait_for(SAID);
    let (_, arrived) = ask(r"C:\code\two", "s2", ASKED);
    assert!(!arrived.contains("fly.io"), "{arrived}");
    let (_, arrived) = ask(r"C:\code\one", "s3", ASKED);
    assert!(arrived.contains("fly.io"), "{arrived}");
    // An agent whose folder nobody knows has the memory of none.
    let (answer, arrived) = ask("somewhere", "s4", ASKED);
    assert_eq!(answer.header("x-kitbag-memory"), Some("unavailable"));
    assert!(!arrived.contains("fly.io"), "{arrived}");
}
