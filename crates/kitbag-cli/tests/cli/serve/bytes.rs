//! With nothing to add, a request arrives as its client sent it, and so does the answer.

use super::Server;
use crate::ask::upstream::{ANTHROPIC, CHAT, RESPONSES, Reply, Upstream};
use crate::run::Folder;

/// JSON that nobody would write again as it is.
const ODD: &str = "{ \"model\":\"m\",\n\t\"max_tokens\" : 1.0e2, \"x_unknown\": {\"b\":1,\"a\":[ 9007199254740993 ,1e400]},\
\"messages\" :[ {\"content\":\"\\u0048i \\ud83d\\ude00 \u{1f600} \\/\",\"role\":\"user\",\"new\":null} ] , \"stream\":true}";

/// The lines of a head that one connection has nothing to do with, in lower case, sorted.
fn lines(request: &str) -> Vec<String> {
    let (head, _) = request.split_once("\r\n\r\n").unwrap();
    let own = ["host", "connection", "accept-encoding"];
    let is_own = |line: &str| {
        own.iter()
            .any(|name| line.starts_with(&format!("{name}: ")))
    };
    let lines = head.lines().skip(1).map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        format!("{}: {value}", name.to_ascii_lowercase())
    });
    let mut lines: Vec<String> = lines.filter(|line| !is_own(line)).collect();
    // Headers of one name keep their order.
    lines.sort_by(|a, b| a.split(':').next().cmp(&b.split(':').next()));
    lines
}

#[test]
fn x06_a_request_arrives_byte_for_byte_and_so_does_its_answer() {
    for memory in [&["--no-memory"][..], &[]] {
        for (path, stream) in [
            ("/v1/messages?beta=true&x=%20a", ANTHROPIC),
            ("/v1/chat/completions", CHAT),
            ("/v1/responses", RESPONSES),
        ] {
            let body = match path {
                "/v1/responses" => ODD.replace("messages", "input"),
                _ => ODD.to_owned(),
            };
            let upstream = Upstream::start(vec![Reply::stream(stream)]);
            let folder = Folder::new();
            let address = upstream.address();
            let args = [&["--upstream", &address], memory].concat();
            let server = Server::start(&folder, &args);
            let headers = [
                ("X-Api-Key", "sk-client"),
                ("authorization", "Bearer sk-client"),
                ("anthropic-beta", "b-2,a-1"),
                ("anthropic-beta", "c-3"),
                ("Content-Type", "application/json; charset=utf-8"),
                ("accept-encoding", "gzip, br"),
                ("x-kitbag-sender", "ann"),
                ("te", "trailers"),
            ];
            let answer = server.post(path, &headers, &body);
            assert_eq!((answer.status, answer.is_whole), (200, true), "{answer:?}");
            assert_eq!(answer.body, stream);
            let request = &upstream.requests()[0];
            assert_eq!(request.split_once("\r\n\r\n").unwrap().1, body, "{path}");
            assert!(
                request.starts_with(&format!("POST {path} HTTP/1.1\r\n")),
                "{request}"
            );
            let sent = server.head("POST", path, &headers, body.len());
            let mut expected = lines(&sent);
            expected.retain(|line| !line.starts_with("x-kitbag-") && !line.starts_with("te:"));
            assert_eq!(lines(request), expected);
            // Without memory, nobody reads the answer, and it may be compressed.
            let compressed = request.contains("accept-encoding: gzip, br");
            assert_eq!(compressed, memory == ["--no-memory"], "{request}");
        }
    }
}

#[test]
fn x06_whatever_else_is_below_v1_passes_through() {
    let folder = Folder::new();
    let upstream = Upstream::answering(|request| {
        let (line, _) = request.split_once("\r\n").unwrap();
        Reply::status(
            418,
            "x-odd: 1\r\nconnection: x-odd-2\r\nx-odd-2: 2\r\n",
            line,
        )
    });
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    for (method, path) in [
        ("GET", "/v1/models"),
        ("GET", "/v1/models?limit=2"),
        ("DELETE", "/v1/files/a%2Fb"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/messages/batches"),
    ] {
        let answer = server.send(server.head(method, path, &[], 0).as_bytes());
        assert_eq!(answer.status, 418);
        assert_eq!(answer.body, format!("{method} {path} HTTP/1.1"));
        assert_eq!(answer.header("x-odd"), Some("1"));
        assert_eq!(answer.header("x-odd-2"), None, "it is of one connection");
        assert_eq!(answer.header("x-kitbag-memory"), None);
    }
    assert_eq!(server.get("/elsewhere").status, 404);
    assert_eq!(upstream.requests().len(), 5);
}

#[test]
fn x06_models_choose_their_upstream_and_a_configured_key_replaces_the_client_s() {
    let [ours, other] = [(); 2].map(|()| Upstream::answering(|_| Reply::whole("{}")));
    let folder = Folder::new();
    let config = format!(
        "server: {{upstreams: {{\"local-*\": ours}}}}\n\
         providers: {{ours: {{kind: openai, base_url: {}/api/v1, key: {{file: key}}}}}}\n",
        ours.address()
    );
    folder.write("own.yaml", config);
    folder.write("key", "sk-operator-0123456789\n");
    let upstream = other.address();
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &upstream]);
    let client = [
        ("authorization", "Bearer sk-client"),
        ("x-api-key", "sk-client"),
    ];
    for model in ["local-7b", "gpt-4o"] {
        let body = format!("{{\"model\":\"{model}\",\"messages\":[]}}");
        assert_eq!(
            server.post("/v1/chat/completions", &client, &body).status,
            200
        );
    }
    let [ours, other] = [ours.requests(), other.requests()];
    assert_eq!((ours.len(), other.len()), (1, 1));
    assert!(
        ours[0].starts_with("POST /api/v1/chat/completions "),
        "{ours:?}"
    );
    assert!(ours[0].contains("authorization: Bearer sk-operator-0123456789\r\n"));
    assert!(!ours[0].contains("sk-client"), "{ours:?}");
    assert!(
        other[0].contains("authorization: Bearer sk-client\r\n"),
        "{other:?}"
    );
    let said = server.stop().stderr;
    assert!(!said.contains("sk-"), "{said}");
}
