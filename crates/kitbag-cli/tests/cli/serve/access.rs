//! A server without keys answers programs of its own machine, and is told apart from one that stops.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::{PATIENCE, Server};
use crate::ask::upstream::{CHAT, Reply, Upstream};
use crate::run::Folder;

#[test]
fn x06_pages_of_browsers_are_refused() {
    let upstream = Upstream::answering(|_| Reply::whole("{}"));
    let folder = Folder::new();
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let origin = [("origin", "https://evil.example")];
    assert_eq!(server.post("/v1/messages", &origin, "{}").status, 403);
    let rebound = "GET /v1/models HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    assert_eq!(server.send(rebound.as_bytes()).status, 403);
    // A picture of a page has no origin.
    let picture = [("sec-fetch-site", "cross-site")];
    for path in ["/v1/models", "/api/v1/export"] {
        let head = server.head("GET", path, &picture, 0);
        assert_eq!(server.send(head.as_bytes()).status, 403, "{path}");
    }
    assert!(upstream.requests().is_empty());
    let export = server.get("/api/v1/export");
    assert_eq!(export.header("x-content-type-options"), Some("nosniff"));
    let own = [("origin", "http://localhost:3000")];
    assert_eq!(server.post("/v1/messages", &own, "{}").status, 200);
}

#[test]
fn x06_an_unknown_upstream_is_refused_with_the_known_names() {
    let folder = Folder::new();
    let error = folder.run(&["serve", "--no-memory", "--upstream", "nosuch"]);
    let error = error.failure(1);
    assert!(error.contains("there is no provider `nosuch`"), "{error}");
    assert!(error.contains("or one of anthropic, openai, "), "{error}");
}

#[test]
fn x06_without_a_key_nobody_listens_to_other_machines() {
    let folder = Folder::new();
    let error = folder
        .run(&["serve", "--bind", "0.0.0.0:0", "--no-memory"])
        .failure(2);
    assert!(
        error.contains("0.0.0.0:0 can be reached from other machines"),
        "{error}"
    );
}

#[test]
fn x07_a_password_in_an_address_is_refused_and_shown_to_nobody() {
    let folder = Folder::new();
    let serve = ["serve", "--no-memory", "--bind", "127.0.0.1:0"];
    for address in ["http://op:s3cret@127.0.0.1:9", "http://op:s3 cret@[x/v1"] {
        let error = folder.run(&[&serve[..], &["--upstream", address]].concat());
        let error = error.failure(1);
        assert!(!error.contains("s3") && !error.contains("op:"), "{error}");
    }
    // Nor where the operator's network has what.
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let server = Server::start(&folder, &["--upstream", &format!("http://{free}")]);
    let answer = server.post("/v1/messages", &[], "{}");
    assert_eq!(answer.status, 502);
    let port = free.port().to_string();
    assert!(answer.body.contains("`default`"), "{answer:?}");
    assert!(
        !answer.body.contains("127.0.0.1") && !answer.body.contains(&port),
        "{answer:?}"
    );
}

#[test]
fn x06_a_server_is_no_upstream_of_itself() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let folder = Folder::new();
    let base = (
        "ANTHROPIC_BASE_URL",
        format!("http://localhost:{}", free.port()),
    );
    let serve = ["serve", "--no-memory", "--bind", &free.to_string()];
    let error = folder.run_with(&[(base.0, &base.1)], &serve).failure(1);
    assert!(error.contains("which is this server itself"), "{error}");
}

#[test]
fn x06_a_folder_s_own_file_does_not_say_where_requests_go() {
    let upstream = Upstream::answering(|_| Reply::whole("{}"));
    let folder = Folder::new();
    let config = "server: {memory: off, upstreams: {\"*\": evil}}\n\
                  providers: {evil: {kind: openai, base_url: https://evil.example}}\n";
    folder.write("kitbag.yaml", config);
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let answer = server.post(
        "/v1/chat/completions",
        &[],
        "{\"model\":\"m\",\"messages\":[]}",
    );
    assert_eq!((answer.status, upstream.requests().len()), (200, 1));
    let said = server.stop().stderr;
    assert!(
        said.contains("is ignored: it could come from anybody"),
        "{said}"
    );
    assert!(said.contains("with memory"), "{said}");
}

#[test]
fn x06_a_server_that_stops_finishes_its_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let folder = Folder::new();
    let mut server = Server::start(&folder, &["--upstream", &upstream]);
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.get("/readyz").status, 200);
    // A connection that stays open, over which the server is asked while it stops.
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Where are the bees?"}]}"#;
    let mut client = server.connect();
    let head = server.head("POST", "/v1/chat/completions", &[], body.len());
    client
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = [0; 1024];
    assert_ne!(stream.read(&mut request).unwrap(), 0);
    let (first, rest) = CHAT.split_at(CHAT.find("\n\n").unwrap() + 2);
    let start = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream
        .write_all(format!("{start}{first}").as_bytes())
        .unwrap();
    let mut piece = vec![0; 4096];
    let mut came = Vec::new();
    while !String::from_utf8_lossy(&came).contains("In ") {
        let count = client.read(&mut piece).unwrap();
        assert_ne!(count, 0);
        came.extend_from_slice(&piece[..count]);
    }
    server.terminate();
    // It takes nothing new any more, sooner or later, and what was begun goes on.
    while TcpStream::connect(&server.address).is_ok() {}
    stream.write_all(rest.as_bytes()).unwrap();
    drop(stream);
    client.read_to_end(&mut came).unwrap();
    assert!(String::from_utf8_lossy(&came).contains("data: [DONE]"));
    // No second signal, which would end it before it has learned the answer.
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let history = folder
        .run(&["--store", "sqlite:memory.db", "memory", "export"])
        .success();
    assert!(
        history.contains("In Porto."),
        "the last answer was kept: {history}"
    );
}

#[test]
fn x06_a_server_that_stops_waits_for_no_request_that_is_half_sent() {
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    let folder = Folder::new();
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let head = server.head("POST", "/v1/chat/completions", &[], 100);
    let parts = [
        format!("{head}{{"),
        "POST /v1/mess".to_owned(),
        String::new(),
    ];
    let clients = parts.map(|part| {
        let mut client = server.connect();
        client.write_all(part.as_bytes()).unwrap();
        client
    });
    assert_eq!(server.get("/healthz").status, 200);
    let begun = Instant::now();
    assert_eq!(server.stop().code, Some(0));
    assert!(begun.elapsed() < PATIENCE / 2, "{:?}", begun.elapsed());
    drop(clients);
}

#[test]
fn x06_a_server_that_stops_says_so_while_it_still_takes_requests() {
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    let folder = Folder::new();
    // Longer than the busiest machine needs for what follows: nothing else ends it before.
    folder.write("own.yaml", "server: {drain: 120s}\n");
    let address = upstream.address();
    let mut server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &address]);
    assert_eq!(server.get("/readyz").status, 200);
    server.terminate();
    while server.get("/readyz").status == 200 {}
    assert_eq!(server.get("/readyz").body, "stopping\n");
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
    assert_eq!(server.post("/v1/chat/completions", &[], body).status, 200);
    // The second signal, which does not wait for the rest of that time.
    server.terminate();
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
    folder.write("own.yaml", "server: {drain: 1s}\n");
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &address]);
    let begun = Instant::now();
    assert_eq!(server.stop().code, Some(0));
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[test]
fn x06_a_second_signal_ends_a_server_at_once() {
    let upstream = Upstream::answering(|_| Reply::Never);
    let folder = Folder::new();
    let mut server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
    let head = server.head("POST", "/v1/chat/completions", &[], body.len());
    let mut client = server.connect();
    client
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    while upstream.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    server.terminate();
    while TcpStream::connect(&server.address).is_ok() {}
    assert!(
        server.child.try_wait().unwrap().is_none(),
        "it waits for the answer"
    );
    // Again, in case that the first one was still being handled.
    while server.child.try_wait().unwrap().is_none() {
        server.terminate();
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}
