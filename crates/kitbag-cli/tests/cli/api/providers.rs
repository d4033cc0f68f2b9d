//! Keys of tenants before the operator's key of a provider: what they reach there, and what it costs them.

use super::{error, folder, get, key, post, serve};
use crate::ask::upstream::{ANTHROPIC, CHAT, Reply, Upstream};
use crate::run::Folder;
use crate::serve::{Answer, Server};

/// A server whose upstream has the operator's key.
fn operated(folder: &Folder, upstream: &Upstream, memory: &[&str]) -> Server {
    let config = format!(
        "providers: {{ours: {{kind: openai, base_url: {}/api/v1, key: {{file: key}}}}}}\n",
        upstream.address()
    );
    folder.write("own.yaml", config);
    folder.write("key", "sk-operator-0123456789\n");
    let args = ["--config", "own.yaml", "--upstream", "ours"];
    Server::start(folder, &[&args, memory].concat())
}

fn send(server: &Server, key: &str, method: &str, path: &str) -> Answer {
    let headers = [("x-kitbag-key", key)];
    server.send(server.head(method, path, &headers, 0).as_bytes())
}

#[test]
fn x07_what_a_provider_keeps_under_the_operator_s_key_is_for_admins() {
    let folder = folder();
    let theirs = key(&folder, "rival", &[]);
    let admin = key(&folder, "main", &["--scope", "admin"]);
    let upstream = Upstream::answering(|_| Reply::whole("{}"));
    let server = operated(&folder, &upstream, &[]);
    for (method, path) in [
        ("GET", "/v1/files"),
        ("GET", "/v1/files/f_1/content"),
        ("DELETE", "/v1/files/f_1"),
        ("GET", "/v1/responses/resp_1"),
        ("GET", "/v1/chat/completions"),
        ("GET", "/v1/messages/batches"),
        ("POST", "/v1/messages/batches"),
        ("GET", "/v1//files"),
    ] {
        let refused = send(&server, &theirs, method, path);
        assert_eq!(refused.status, 403, "{path} {refused:?}");
        assert!(refused.body.contains("no scope `admin`"), "{refused:?}");
        assert_eq!(refused.header("x-should-retry"), Some("false"));
    }
    assert!(upstream.requests().is_empty(), "nothing of it arrived");
    for path in [
        "/v1/../secret",
        "/v1/%2e%2e/secret",
        "/v1/models/../../secret",
    ] {
        assert_eq!(send(&server, &admin, "GET", path).status, 400, "{path}");
    }
    assert!(upstream.requests().is_empty(), "nothing of it arrived");
    for (method, path) in [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/m-1"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/responses/compact"),
        ("POST", "/v1/images/generations"),
    ] {
        assert_eq!(send(&server, &theirs, method, path).status, 200, "{path}");
    }
    assert_eq!(send(&server, &admin, "GET", "/v1/files").status, 200);
    assert_eq!(upstream.requests().len(), 7);
    let audit = [
        "--store",
        "sqlite:memory.db",
        "--tenant",
        "rival",
        "key",
        "audit",
    ];
    let log = folder.run(&audit).success();
    assert_eq!(log.matches("deny").count(), 1, "one entry a minute: {log}");
}

#[test]
fn x07_a_key_asks_no_provider_that_its_server_s_operator_did_not_choose() {
    let folder = folder();
    let key = key(&folder, "main", &["--scope", "write"]);
    let server = serve(&folder, &[]);
    let ask = |key: &str, model: &str| {
        let body = serde_json::json!({"message": "Where are the bees?", "model": model});
        post(&server, key, "/api/v1/ask", &body)
    };
    for model in [
        "claude-code",
        "claude-code/opus",
        "openai/gpt-4o",
        "gpt-4o",
        "ollama",
    ] {
        let told = error(&ask(&key, model), 403);
        assert!(told.contains("is not one of this server's"), "{told}");
    }
    assert_eq!(ask(&key, "demo").status, 200);
    assert_eq!(ask(&key, "no-such-model").status, 400);
}

#[test]
fn x07_a_client_that_brings_its_own_key_reaches_all_that_is_its_own() {
    let folder = folder();
    let ours = key(&folder, "main", &[]);
    let upstream = Upstream::answering(|_| Reply::whole("{}"));
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let headers = [
        ("x-kitbag-key", ours.as_str()),
        ("authorization", "Bearer sk-own"),
    ];
    let head = server.head("GET", "/v1/files", &headers, 0);
    assert_eq!(server.send(head.as_bytes()).status, 200);
    assert!(upstream.requests()[0].contains("authorization: Bearer sk-own"));
}

#[test]
fn x07_tokens_are_limited_however_a_client_asks() {
    let no_usage = CHAT.replace("\"usage\"", "\"other\"");
    let upstream = Upstream::answering(move |request| match request {
        _ if request.starts_with("POST /api/v1/messages") => Reply::stream(ANTHROPIC),
        _ if request.contains("/embeddings") => Reply::whole("{\"data\":[]}"),
        _ => Reply::stream(&no_usage),
    });
    let words = "Where are all the bees? ".repeat(20);
    let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{words}"}}]}}"#);
    for memory in [&["--no-memory"][..], &[]] {
        for path in [
            "/v1/messages",
            "/v1/messages/",
            "/v1//messages",
            "/v1/chat/completions",
            "/v1/completions",
            "/v1/embeddings",
        ] {
            let folder = folder();
            let short = key(&folder, "main", &["--tokens-per-minute", "90"]);
            let server = operated(&folder, &upstream, memory);
            let headers = [
                ("x-kitbag-key", short.as_str()),
                ("x-kitbag-memory", "off"),
                ("accept-encoding", "gzip"),
            ];
            let ask = || server.post(path, &headers, &body);
            assert_eq!(ask().status, 200, "{path}");
            let refused = ask();
            assert_eq!(refused.status, 429, "{path} {refused:?}");
            assert!(refused.header("retry-after").is_some());
            let sent = upstream.requests().pop().unwrap();
            assert!(sent.contains("accept-encoding: identity"), "{sent}");
        }
    }
}

#[test]
fn x07_what_costs_nothing_is_not_counted_as_tokens() {
    let upstream = Upstream::answering(|_| Reply::whole(&"x".repeat(4_000)));
    let folder = folder();
    let short = key(
        &folder,
        "main",
        &["--tokens-per-minute", "90", "--scope", "admin"],
    );
    let server = operated(&folder, &upstream, &[]);
    for path in ["/v1/models", "/v1/files", "/v1/models"] {
        assert_eq!(send(&server, &short, "GET", path).status, 200, "{path}");
    }
    assert_eq!(get(&server, &short, "/api/v1/facts").status, 200);
}
