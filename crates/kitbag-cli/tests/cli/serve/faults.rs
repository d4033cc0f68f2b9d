//! Upstreams that fail, and clients that go away.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use super::{PATIENCE, Server};
use crate::ask::upstream::{ANTHROPIC, CHAT, RESPONSES, Reply, Upstream};
use crate::run::Folder;

const PATHS: [&str; 3] = ["/v1/messages", "/v1/chat/completions", "/v1/responses"];
const HI: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}"#;

/// The first event of a stream.
fn begun(stream: &str) -> String {
    let (first, _) = stream.split_once("\n\n").unwrap();
    format!("{first}\n\n")
}

#[test]
fn x06_a_stream_that_is_cut_ends_with_an_error_event() {
    for (path, stream) in PATHS.into_iter().zip([ANTHROPIC, CHAT, RESPONSES]) {
        let whole = begun(stream);
        let half = format!("{whole}event: half\ndata: {{\"ty");
        let replies = vec![
            Reply::torn(&half),
            // An end in order, of a connection and not of an answer.
            Reply::stream(&half),
        ];
        let upstream = Upstream::start(replies);
        let folder = Folder::new();
        let server = Server::start(&folder, &["--upstream", &upstream.address()]);
        for _ in 0..2 {
            let answer = server.post(path, &[], HI);
            assert_eq!(answer.status, 200);
            assert!(!answer.is_whole, "{answer:?}");
            let error = answer.body.strip_prefix(&whole);
            let error = error.unwrap_or_else(|| panic!("{answer:?}"));
            let data = error
                .trim_start_matches("event: error\n")
                .strip_prefix("data: ");
            let data: serde_json::Value = serde_json::from_str(data.unwrap()).unwrap();
            match path {
                "/v1/messages" => assert_eq!(data["error"]["type"], "api_error"),
                "/v1/chat/completions" => assert_eq!(data["error"]["type"], "server_error"),
                _ => assert_eq!(data["type"], "error"),
            }
        }
        let export = ["--store", "sqlite:memory.db", "memory", "stats"];
        assert_eq!(server.stop().code, Some(0));
        let stats = folder.run(&export).success();
        assert!(
            stats.contains("0 messages"),
            "nothing of it is learned: {stats}"
        );
    }
}

#[test]
fn x06_events_that_cannot_be_read_are_logged_once_and_without_their_text() {
    let bad = "data: {\"foxglove\n\n".repeat(3);
    let stream = CHAT.replacen("\n\n", &format!("\n\n{bad}"), 1);
    let upstream = Upstream::start(vec![Reply::stream(&stream)]);
    let folder = Folder::new();
    let variables = [("KITBAG_LOG", "info")];
    let server = Server::start_with(&folder, &variables, &["--upstream", &upstream.address()]);
    let answer = server.post("/v1/chat/completions", &[], HI);
    assert_eq!(answer.body, stream);
    let said = server.stop().stderr;
    assert_eq!(said.matches("answer_unreadable").count(), 1, "{said}");
    assert!(!said.contains("foxglove"), "{said}");
}

#[test]
fn x06_an_upstream_that_falls_silent_is_given_up() {
    let upstream = Upstream::answering(|_| Reply::Silent(begun(CHAT)));
    let folder = Folder::new();
    let config = format!(
        "providers: {{slow: {{kind: openai, base_url: {}/v1, timeouts: {{idle: 200ms}}}}}}\n",
        upstream.address()
    );
    folder.write("own.yaml", config);
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", "slow"]);
    let answer = server.post("/v1/chat/completions", &[], HI);
    assert!(!answer.is_whole);
    assert!(answer.body.contains("sent nothing for 0.2 s"), "{answer:?}");
    // Until then its client is kept from taking the silence for a lost connection.
    let begun = begun(CHAT);
    let comments = answer.body.strip_prefix(begun.as_str()).unwrap();
    assert!(
        comments.starts_with(": keep-alive\n\n: keep-alive\n\n: keep-alive\n\ndata: "),
        "{answer:?}"
    );
}

#[test]
fn x06_an_upstream_that_never_begins_to_answer_is_given_up_and_may_be_asked_again() {
    let upstream = Upstream::answering(|_| Reply::Never);
    let folder = Folder::new();
    let config = format!(
        "providers: {{slow: {{kind: anthropic, base_url: {}, timeouts: {{first_byte: 200ms}}}}}}\n",
        upstream.address()
    );
    folder.write("own.yaml", config);
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", "slow"]);
    let answer = server.post("/v1/messages", &[], HI);
    assert_eq!(answer.status, 504, "{answer:?}");
    assert_eq!(answer.json()["error"]["type"], "api_error");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("x-should-retry"), None);
    assert_eq!(upstream.requests().len(), 1, "it may have been answered");
}

#[test]
fn x06_before_the_first_byte_a_request_is_sent_again() {
    let upstream = Upstream::start(vec![Reply::Drop, Reply::Drop, Reply::stream(CHAT)]);
    let folder = Folder::new();
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let answer = server.post("/v1/chat/completions", &[], HI);
    assert_eq!((answer.status, &*answer.body), (200, CHAT));
    assert_eq!(upstream.bodies(), [HI; 3]);
}

#[test]
fn x06_an_upstream_that_is_not_there_is_told_in_the_client_s_words_and_then_left_alone() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let folder = Folder::new();
    let upstream = format!("http://{address}");
    let server = Server::start(&folder, &["--upstream", &upstream]);
    for _ in 0..5 {
        let answer = server.post("/v1/messages", &[], HI);
        assert_eq!(answer.status, 502, "{answer:?}");
        assert_eq!(answer.json()["type"], "error");
        assert_eq!(answer.json()["error"]["type"], "api_error");
    }
    let answer = server.post("/v1/chat/completions", &[], HI);
    assert_eq!(answer.status, 503);
    assert_eq!(answer.json()["error"]["type"], "server_error");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=10).contains(&wait), "{answer:?}");
}

#[test]
fn x06_a_refusal_of_the_upstream_is_passed_on_as_it_is() {
    let refusal = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    let headers = "retry-after: 7\r\nx-should-retry: true\r\nrequest-id: req_1\r\n";
    let upstream = Upstream::start(vec![Reply::status(429, headers, refusal)]);
    let folder = Folder::new();
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let answer = server.post("/v1/messages", &[], HI);
    assert_eq!((answer.status, &*answer.body), (429, refusal));
    assert_eq!(answer.header("retry-after"), Some("7"));
    assert_eq!(answer.header("x-should-retry"), Some("true"));
    assert_eq!(answer.header("request-id"), Some("req_1"));
    assert_eq!(upstream.requests().len(), 1, "clients try again themselves");
}

#[test]
fn x06_a_request_that_is_too_large_is_refused_for_good() {
    let upstream = Upstream::start(Vec::new());
    let folder = Folder::new();
    folder.write("own.yaml", "server: {largest_body: 1M}\n");
    let upstream_address = upstream.address();
    let args = ["--config", "own.yaml", "--upstream", &upstream_address];
    let server = Server::start(&folder, &args);
    let body = json!({"messages": [{"role": "user", "content": "x".repeat(2 << 20)}]}).to_string();
    let mut client = server.connect();
    let head = server.head("POST", "/v1/messages", &[], body.len());
    client.write_all(head.as_bytes()).unwrap();
    // The server may close the connection before all of it is written.
    drop(client.write_all(&body.as_bytes()[..(1 << 20) + 1]));
    let mut told = vec![0; 4096];
    let mut count = 0;
    while !String::from_utf8_lossy(&told[..count]).contains('}') {
        let more = client.read(&mut told[count..]).unwrap();
        assert_ne!(more, 0, "{}", String::from_utf8_lossy(&told[..count]));
        count += more;
    }
    let told = String::from_utf8_lossy(&told[..count]).into_owned();
    assert!(told.starts_with("HTTP/1.1 413 "), "{told}");
    assert!(told.contains("x-should-retry: false"), "{told}");
    assert!(told.contains("request_too_large"), "{told}");
    assert!(upstream.requests().is_empty());
}

#[test]
fn x06_a_client_that_goes_away_ends_the_request_upstream() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let folder = Folder::new();
    let server = Server::start(&folder, &["--upstream", &upstream]);
    let head = server.head("POST", "/v1/chat/completions", &[], HI.len());
    for is_streaming in [false, true] {
        let mut client = server.connect();
        client.write_all(format!("{head}{HI}").as_bytes()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        while !request.ends_with(HI.as_bytes()) {
            let count = stream.read(&mut piece).unwrap();
            assert_ne!(count, 0);
            request.extend_from_slice(&piece[..count]);
        }
        if is_streaming {
            let start = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            stream
                .write_all(format!("{start}{}", begun(CHAT)).as_bytes())
                .unwrap();
            assert_ne!(client.read(&mut piece).unwrap(), 0);
        }
        drop(client);
        assert_eq!(
            stream.read(&mut piece).unwrap_or(0),
            0,
            "the connection is closed"
        );
    }
}

#[test]
fn x06_a_client_that_leaves_behind_the_last_event_has_had_a_whole_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let folder = Folder::new();
    folder.write("own.yaml", "server: {memory_time_limit: 60s}\n");
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &upstream]);
    let head = server.head("POST", "/v1/chat/completions", &[], HI.len());
    let mut client = server.connect();
    client.write_all(format!("{head}{HI}").as_bytes()).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    assert_ne!(stream.read(&mut [0; 4096]).unwrap(), 0);
    let start = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    stream
        .write_all(format!("{start}{CHAT}").as_bytes())
        .unwrap();
    let (mut came, mut piece) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&came).contains("[DONE]") {
        let count = client.read(&mut piece).unwrap();
        assert_ne!(count, 0);
        came.extend_from_slice(&piece[..count]);
    }
    drop(client);
    // The connection of the upstream stays open until the server closes it.
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(stream.read(&mut piece).unwrap_or(0), 0);
    assert_eq!(server.stop().code, Some(0));
    let export = ["--store", "sqlite:memory.db", "memory", "export"];
    let kept = folder.run(&export).success();
    assert!(kept.contains("In Porto."), "{kept}");
}

#[test]
fn x07_requests_that_make_an_upstream_hang_up_close_it_to_nobody_else() {
    let upstream = Upstream::answering(|request| match request.contains("poison") {
        true => Reply::Drop,
        false => Reply::stream(CHAT),
    });
    let folder = Folder::new();
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let poison = HI.replace("Hi", "poison");
    for _ in 0..6 {
        let answer = server.post("/v1/chat/completions", &[], &poison);
        assert_eq!(answer.status, 502, "{answer:?}");
    }
    assert_eq!(server.post("/v1/chat/completions", &[], HI).status, 200);
    let metrics = server.get("/metrics").body;
    let counted = "kitbag_upstream_failures_total{kind=\"unreachable\"} 6";
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn x06_a_client_of_anthropic_s_api_gets_its_own_event_while_an_upstream_is_silent() {
    let upstream = Upstream::answering(|_| Reply::Silent(begun(ANTHROPIC)));
    let folder = Folder::new();
    let config = format!(
        "providers: {{slow: {{kind: anthropic, base_url: {}, timeouts: {{idle: 200ms}}}}}}\n",
        upstream.address()
    );
    folder.write("own.yaml", config);
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", "slow"]);
    let answer = server.post("/v1/messages", &[], HI);
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    let pings = answer.body.strip_prefix(&begun(ANTHROPIC)).unwrap();
    assert!(pings.starts_with(&ping.repeat(3)), "{answer:?}");
}
