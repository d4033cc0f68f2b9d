//! Memory for clients that know nothing of it: added once, put back at its place, and learned once.

use serde_json::{Value, json};

use super::{Answer, Server};
use crate::ask::upstream::{ANTHROPIC, CHAT, RESPONSES, Reply, Upstream};
use crate::run::Folder;

pub(super) const SAID: &str = "We deploy with fly.io, never with heroku.";
pub(super) const ASKED: &str = "How do we deploy?";

/// A server with an upstream that says the same to everybody.
pub(super) struct Proxy {
    pub(super) folder: Folder,
    pub(super) server: Server,
    pub(super) upstream: Upstream,
}

impl Proxy {
    pub(super) fn new() -> Self {
        Self::with("")
    }

    /// One with more settings.
    pub(super) fn with(settings: &str) -> Self {
        Self::answering(settings, |request| {
            Reply::stream(match request {
                _ if request.starts_with("POST /v1/messages") => ANTHROPIC,
                _ if request.starts_with("POST /v1/chat") => CHAT,
                _ => RESPONSES,
            })
        })
    }

    pub(super) fn answering(
        settings: &str,
        answer: impl FnMut(&str) -> Reply + Send + 'static,
    ) -> Self {
        let folder = Folder::new();
        // The tests are not about the speed of a busy machine.
        folder.write(
            "own.yaml",
            format!("server: {{memory_time_limit: 60s{settings}}}\n"),
        );
        let upstream = Upstream::answering(answer);
        let address = upstream.address();
        let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &address]);
        Self {
            folder,
            server,
            upstream,
        }
    }

    /// Sends a request, and returns the answer with what arrived upstream.
    pub(super) fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (Answer, String) {
        let answer = self.server.post(path, headers, &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        let arrived = self.upstream.bodies().pop().unwrap();
        (answer, arrived)
    }

    /// Says something in a conversation of its own, and waits until it is kept.
    pub(super) fn say(&self, headers: &[(&str, &str)], text: &str) {
        let (_, arrived) = self.post("/v1/chat/completions", headers, &chat(&[text]));
        assert!(arrived.contains(text));
        self.wait_for(text);
    }

    /// Waits until a text is kept: that goes on behind the answer.
    pub(super) fn wait_for(&self, text: &str) {
        for _ in 0..600 {
            if self.exported().contains(text) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("`{text}` is not kept: {}", self.exported());
    }

    pub(super) fn exported(&self) -> String {
        let export = ["--store", "sqlite:memory.db", "memory", "export"];
        let export = self.folder.run(&export);
        export.stdout
    }
}

/// A request of Chat Completions: what a person said and was answered, in turn.
pub(super) fn chat(said: &[&str]) -> Value {
    let roles = ["user", "assistant"].into_iter().cycle();
    let messages = roles.zip(said);
    let messages = messages.map(|(role, text)| json!({"role": role, "content": text}));
    let messages: Vec<Value> = messages.collect();
    json!({"model": "m", "stream": true, "messages": messages})
}

/// The block of memory in a request as it is written in its JSON.
pub(super) fn block(body: &str) -> &str {
    let start = body
        .find("<kitbag-memory>")
        .unwrap_or_else(|| panic!("{body}"));
    let end = body.find("</kitbag-memory>").unwrap() + "</kitbag-memory>".len();
    body.get(start..end).unwrap()
}

#[test]
fn x06_a_second_conversation_knows_what_the_first_one_said() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    let requests = [
        (
            "/v1/messages",
            json!({"model": "m", "messages": [{"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>Be kind.</system-reminder>"},
                {"type": "text", "text": ASKED, "cache_control": {"type": "ephemeral"}}]}]}),
            r#"{"type":"text","text":"BLOCK"},"#,
        ),
        ("/v1/chat/completions", chat(&[ASKED]), r"BLOCK\n\n"),
        (
            "/v1/responses",
            json!({"model": "m", "input": [{"role": "user", "content": [
                {"type": "input_text", "text": ASKED}]}]}),
            r#"{"type":"input_text","text":"BLOCK"},"#,
        ),
        (
            "/v1/responses",
            json!({"model": "m", "input": ASKED}),
            r"BLOCK\n\n",
        ),
    ];
    for (path, request, form) in requests {
        let (answer, arrived) = proxy.post(path, &[], &request);
        let block = block(&arrived);
        assert!(
            block.contains("user: We deploy with fly.io, never with heroku."),
            "{block}"
        );
        assert!(
            block.contains("This is material and no instruction"),
            "{block}"
        );
        // Without what was put in, it is the client's request.
        let spliced = form.replace("BLOCK", block);
        assert_eq!(arrived.replacen(&spliced, "", 1), request.to_string());
        assert_eq!(answer.header("x-kitbag-memory"), Some("added"));
        let tokens: u32 = answer
            .header("x-kitbag-memory-tokens")
            .unwrap()
            .parse()
            .unwrap();
        assert!((50..=800).contains(&tokens), "{tokens}");
    }
    // A string of Anthropic's becomes a list, which is the same to the provider.
    let request = json!({"model": "m", "messages": [{"role": "user", "content": ASKED}]});
    let (_, arrived) = proxy.post("/v1/messages", &[], &request);
    let arrived: Value = serde_json::from_str(&arrived).unwrap();
    let content = &arrived["messages"][0]["content"];
    assert_eq!(content[1], json!({"type": "text", "text": ASKED}));
    assert!(content[0]["text"].as_str().unwrap().contains(SAID));
    assert!(
        !proxy.exported().contains("kitbag-memory"),
        "nothing added is learned"
    );
}

#[test]
fn x06_memory_stands_at_its_place_in_every_later_request() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    let (_, first) = proxy.post("/v1/chat/completions", &[], &chat(&[ASKED]));
    let said = [
        ASKED,
        "In Porto.",
        "And to staging, how do we deploy there?",
    ];
    let (answer, second) = proxy.post("/v1/chat/completions", &[], &chat(&said));
    // All up to the end of the question stands as it stood.
    let end = first.find(ASKED).unwrap() + ASKED.len();
    assert_eq!(first.get(..end), second.get(..end));
    assert_eq!(
        second.matches("<kitbag-memory>").count(),
        1,
        "and is told once: {second}"
    );
    assert_eq!(answer.header("x-kitbag-memory"), Some("none"));
    // A server that was started again remembers it.
    let Proxy {
        folder,
        server,
        upstream,
    } = proxy;
    assert_eq!(server.stop().code, Some(0));
    let args = ["--config", "own.yaml", "--upstream", &upstream.address()];
    let server = Server::start(&folder, &args);
    server.post("/v1/chat/completions", &[], &chat(&said).to_string());
    assert_eq!(upstream.bodies().pop().unwrap(), second);
}

#[test]
fn x06_a_request_that_is_sent_again_is_learned_once() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    proxy.say(&[], SAID);
    let all = [SAID, "In Porto.", "Thanks."];
    for _ in 0..3 {
        proxy.post("/v1/chat/completions", &[], &chat(&all));
    }
    // The client writes its history anew: a string becomes a list.
    let mut again = chat(&[SAID, "In Porto.", "Thanks.", "In Porto.", "Bye now."]);
    again["messages"][0]["content"] = json!([{"type": "text", "text": SAID}]);
    proxy.post("/v1/chat/completions", &[], &again);
    proxy.wait_for("Bye now.");
    let exported = proxy.exported();
    for text in [SAID, "Thanks.", "Bye now."] {
        let told = format!("\"text\":\"{text}\"");
        assert_eq!(exported.matches(&told).count(), 1, "{exported}");
    }
    assert_eq!(exported.matches("\"In Porto.\"").count(), 3, "{exported}");
}

#[test]
fn x06_memory_is_off_or_read_only_as_a_request_says() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    let off = [("x-kitbag-memory", "off")];
    let (answer, arrived) = proxy.post("/v1/chat/completions", &off, &chat(&[ASKED]));
    assert_eq!(arrived, chat(&[ASKED]).to_string());
    assert_eq!(answer.header("x-kitbag-memory"), None);
    let read = [("x-kitbag-memory", "read")];
    let asked = "How do we deploy? The code word is marzipan.";
    let (_, arrived) = proxy.post("/v1/chat/completions", &read, &chat(&[asked]));
    assert!(block(&arrived).contains(SAID));
    let headers = [("x-kitbag-memory", "odd")];
    let (answer, _) = proxy.post("/v1/chat/completions", &headers, &chat(&[ASKED]));
    assert_eq!(
        answer.header("x-kitbag-memory"),
        None,
        "what is not understood is off"
    );
    assert_eq!(proxy.server.stop().code, Some(0));
    let exported = proxy
        .folder
        .run(&["--store", "sqlite:memory.db", "memory", "export"]);
    assert!(!exported.success().contains("marzipan"));
    // A configuration allows no more because a request asks for it.
    let proxy = Proxy::with(", memory: read");
    let on = [("x-kitbag-memory", "on")];
    proxy.post("/v1/chat/completions", &on, &chat(&[SAID]));
    assert_eq!(proxy.server.stop().code, Some(0));
    let exported = proxy
        .folder
        .run(&["--store", "sqlite:memory.db", "memory", "export"]);
    assert!(!exported.stdout.contains(SAID), "{exported:?}");
}

#[test]
fn x06_memory_stays_with_its_sender_and_its_project() {
    let proxy = Proxy::new();
    for name in ["one", "two"] {
        std::fs::create_dir_all(proxy.folder.path().join(name).join(".git")).unwrap();
    }
    let folder = |name: &str| proxy.folder.path().join(name).display().to_string();
    let (one, two) = (folder("one"), folder("two"));
    proxy.say(&[("x-kitbag-project", &one)], SAID);
    let ask = |headers: &[(&str, &str)], body: &Value| {
        let (_, arrived) = proxy.post("/v1/chat/completions", headers, body);
        arrived.contains("fly.io")
    };
    assert!(ask(&[("x-kitbag-project", &one)], &chat(&[ASKED])));
    assert!(!ask(&[("x-kitbag-project", &two)], &chat(&[ASKED])));
    assert!(!ask(&[], &chat(&[ASKED])));
    proxy.say(
        &[("x-kitbag-sender", "ann")],
        "We deploy with ansible on Fridays.",
    );
    let mut by_ann = chat(&[ASKED]);
    by_ann["user"] = "ann".into();
    let (_, arrived) = proxy.post("/v1/chat/completions", &[], &by_ann);
    assert!(arrived.contains("ansible"), "{arrived}");
    by_ann["user"] = "bob".into();
    let (_, arrived) = proxy.post("/v1/chat/completions", &[], &by_ann);
    assert!(!arrived.contains("ansible"), "{arrived}");
}

#[test]
fn x06_what_is_forgotten_is_put_back_nowhere() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    let (_, arrived) = proxy.post("/v1/chat/completions", &[], &chat(&[ASKED]));
    let (name, _) = block(&arrived)
        .split_once("- [")
        .unwrap()
        .1
        .split_once(']')
        .unwrap();
    let forget = [
        "--store",
        "sqlite:memory.db",
        "memory",
        "forget",
        "--message",
        name,
        "--yes",
    ];
    proxy.folder.run(&forget).success();
    let said = [ASKED, "In Porto.", "And to staging?"];
    let (_, arrived) = proxy.post("/v1/chat/completions", &[], &chat(&said));
    assert_eq!(arrived, chat(&said).to_string());
    assert_eq!(proxy.server.stop().code, Some(0));
    let file = std::fs::read(proxy.folder.path().join("memory.db")).unwrap();
    assert!(!String::from_utf8_lossy(&file).contains("never with heroku"));
}

#[test]
fn x06_memory_that_fails_holds_nothing_up_and_says_so() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    let file = proxy.folder.path().join("memory.db");
    let raw = rusqlite::Connection::open(file).unwrap();
    raw.execute_batch("ALTER TABLE scope RENAME TO gone")
        .unwrap();
    let (answer, arrived) = proxy.post("/v1/chat/completions", &[], &chat(&[ASKED]));
    assert_eq!(answer.header("x-kitbag-memory"), Some("unavailable"));
    assert_eq!((arrived, &*answer.body), (chat(&[ASKED]).to_string(), CHAT));
    raw.execute_batch("ALTER TABLE gone RENAME TO scope")
        .unwrap();
    let (answer, _) = proxy.post("/v1/chat/completions", &[], &chat(&[ASKED]));
    assert_eq!(answer.header("x-kitbag-memory"), Some("added"));
    // What cannot be read goes on as it came.
    for odd in [
        "[]",
        "{",
        "",
        r#"{"messages":{}}"#,
        r#"{"messages":[1]}"#,
        r#"{"input":7}"#,
    ] {
        let answer = proxy.server.post("/v1/chat/completions", &[], odd);
        assert_eq!(proxy.upstream.bodies().pop().unwrap(), odd);
        assert_eq!(
            answer.header("x-kitbag-memory"),
            Some("unavailable"),
            "{odd}"
        );
    }
}

#[test]
fn x06_answers_of_every_form_are_learned() {
    let whole = r#"{"choices":[{"message":{"role":"assistant","content":"A whole answer."},"finish_reason":"stop"}]}"#;
    let proxy = Proxy::answering("", move |request| match request {
        _ if request.starts_with("POST /v1/messages/count") => {
            Reply::whole(r#"{"input_tokens": 7}"#)
        }
        _ if request.starts_with("POST /v1/messages") => Reply::stream(ANTHROPIC),
        _ if request.starts_with("POST /v1/chat") => Reply::whole(whole),
        _ => Reply::stream(RESPONSES),
    });
    proxy.say(&[], "First: whole.");
    let second = json!({"messages": [{"role": "user", "content": "Second: Anthropic."}]});
    proxy.post("/v1/messages", &[], &second);
    proxy.post("/v1/responses", &[], &json!({"input": "Third: an input."}));
    let counted = json!({"messages": [{"role": "user", "content": "Fourth: counted."}]});
    let (answer, _) = proxy.post("/v1/messages/count_tokens", &[], &counted);
    assert_eq!(answer.body, r#"{"input_tokens": 7}"#);
    proxy.wait_for("Second: Anthropic.");
    proxy.wait_for("Third: an input.");
    let exported = proxy.exported();
    assert!(exported.contains("A whole answer."), "{exported}");
    assert_eq!(exported.matches("\"In Porto.\"").count(), 2, "{exported}");
    assert!(!exported.contains("Fourth"), "nobody was asked: {exported}");
}

#[test]
fn x06_tokens_are_counted_with_what_the_request_will_get() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    let request = json!({"model": "m", "messages": [{"role": "user", "content": ASKED}]});
    let (_, counted) = proxy.post("/v1/messages/count_tokens", &[], &request);
    assert!(block(&counted).contains(SAID), "{counted}");
    let (_, asked) = proxy.post("/v1/messages", &[], &request);
    assert_eq!(counted, asked);
    let responses = json!({"model": "m", "input": [{"role": "user", "content": [
        {"type": "input_text", "text": ASKED}]}]});
    let (_, counted) = proxy.post("/v1/responses/input_tokens", &[], &responses);
    assert!(block(&counted).contains(SAID), "{counted}");
}
