//! Servers over HTTP: one that works, and ones that hang, die, flood, lie, redirect and refuse.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use kitbag_mcp::{Connected, ServerLimits, connect};
use serde_json::{Value, json};

/// A request as it came: the head in lower case, and the JSON.
struct Asked {
    head: String,
    json: Value,
}

impl Asked {
    fn method(&self) -> &str {
        self.json["method"].as_str().unwrap_or_default()
    }
}

/// A server on loopback that answers each request as `answer` says. What came is told in order.
fn server(answer: fn(&Asked, &mut TcpStream)) -> (u16, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, asked) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            thread::spawn(move || {
                while let Some(request) = read(&stream) {
                    answer(&request, &mut stream.try_clone().unwrap());
                    drop(sender.send(request));
                }
            });
        }
    });
    (port, asked)
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while line != "\r\n" {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        head.push_str(&line.to_lowercase());
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    let json = serde_json::from_slice(&body).unwrap_or_default();
    Some(Asked { head, json })
}

fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n");
    // The other side may be gone.
    let _ = stream.write_all((head + body).as_bytes());
}

fn answer_with(asked: &Asked, stream: &mut TcpStream, result: &Value) {
    let body = json!({"jsonrpc": "2.0", "id": asked.json["id"], "result": result});
    let json = "content-type: application/json\r\nmcp-session-id: s1\r\n";
    send(stream, "200 OK", json, &body.to_string());
}

/// A server of the older era, which answers calls as events, and whose tools do what their names say.
fn good(asked: &Asked, stream: &mut TcpStream) {
    let id = &asked.json["id"];
    match asked.method() {
        "server/discover" => send(stream, "400 Bad Request", "", "no session"),
        "initialize" => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"}});
            answer_with(asked, stream, &result);
        }
        "tools/list" => {
            let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
            let names = ["say", "hang", "die", "garbage", "big", "flood", "refuse"];
            answer_with(asked, stream, &json!({"tools": names.map(tool)}));
        }
        "tools/call" => call(asked, stream, id),
        _ => send(stream, "202 Accepted", "", ""),
    }
}

fn call(asked: &Asked, stream: &mut TcpStream, id: &Value) {
    let events = "content-type: text/event-stream\r\n";
    let open = format!("HTTP/1.1 200 OK\r\n{events}\r\n");
    let result = json!({"content": [{"type": "text", "text": "rye"}]});
    let result = json!({"jsonrpc": "2.0", "id": id, "result": result});
    match asked.json["params"]["name"].as_str().unwrap() {
        "say" => send(stream, "200 OK", events, &format!("data: {result}\n\n")),
        "hang" => drop(stream.write_all(open.as_bytes())),
        "die" => drop(stream.shutdown(std::net::Shutdown::Both)),
        "garbage" => {
            let json = "content-type: application/json\r\n";
            send(stream, "200 OK", json, "{\"jsonrpc\": nonsense sesame-1234");
        }
        "big" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50000000\r\n\r\n";
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&vec![b'x'; 50_000_000]);
        }
        "flood" => {
            let _ = stream.write_all((open + "data: ").as_bytes());
            while stream.write_all(&[b'x'; 65_536]).is_ok() {}
        }
        _ => send(stream, "500 Oops", "", "the key sesame-1234 is wrong"),
    }
}

async fn connected(servers: Value) -> Connected {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".mcp.json");
    fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
    let limits = ServerLimits::new(Duration::from_secs(5), Duration::from_secs(2));
    let variable = |name: &str| (name == "KEY").then(|| "sesame-1234".to_owned());
    connect(&file, &limits, &variable).await.unwrap()
}

fn run(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test);
}

fn at(port: u16) -> Value {
    json!({"type": "http", "url": format!("http://127.0.0.1:{port}/mcp"), "headers": {"Authorization": "Bearer ${KEY}"}})
}

#[test]
fn t08_a_server_over_http_is_called_and_its_faults_are_results() {
    run(async {
        let (port, asked) = server(good);
        let connected = connected(json!({"web": at(port)})).await;
        assert_eq!(connected.problems, []);
        let call = async |tool: &str| {
            let name = format!("mcp__web__{tool}");
            let called = connected.tools.call(&name, json!({})).await;
            called
                .map(|output| output.text)
                .map_err(|error| error.to_string())
        };
        assert_eq!(call("say").await.unwrap(), "rye");
        for (tool, told) in [
            ("hang", "gave no result within 2000 ms"),
            ("die", "cannot be reached"),
            ("garbage", "its answer is no message of the protocol"),
            ("big", "its answer has more than 16777216 bytes"),
            (
                "refuse",
                "it answered with HTTP 500: the key [key] is wrong",
            ),
            ("flood", "`web`"),
        ] {
            let error = call(tool).await.unwrap_err();
            assert!(
                error.contains("`web`") && error.contains(told),
                "{tool}: {error}"
            );
            assert!(!error.contains("sesame"), "{error}");
            assert_eq!(call("say").await.unwrap(), "rye", "after {tool}");
        }
        for asked in asked.try_iter() {
            assert!(
                asked.head.contains("authorization: bearer sesame-1234"),
                "{}",
                asked.head
            );
        }
    });
}

#[test]
fn t08_a_server_over_http_that_cannot_be_used_says_what_to_do() {
    run(async {
        let (moved, _) = server(|_, stream| {
            let location = "location: http://evil.example/sesame-1234\r\n";
            send(stream, "307 Moved", location, "");
        });
        let (locked, _) = server(|_, stream| send(stream, "401 No", "", "sesame-1234"));
        let (page, _) = server(|_, stream| {
            send(stream, "200 OK", "content-type: text/html\r\n", "<html>");
        });
        let (missing, _) = server(|_, stream| send(stream, "404 No", "", "nothing here"));
        let (silent, _) = server(|_, _| thread::park());
        let closed = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut sse = at(missing);
        sse["type"] = json!("sse");
        let mut unset = at(page);
        unset["headers"] = json!({"X-Key": "${NONE}"});
        let mut open = at(locked);
        open["headers"] = json!({});
        let (fine, _) = server(good);
        let connected = connected(json!({
            "closed": at(closed), "fine": at(fine), "locked": at(locked), "missing": at(missing), "moved": at(moved),
            "open": open, "page": at(page), "silent": at(silent), "sse": sse, "unset": unset,
        }))
        .await;
        let problems: Vec<String> = connected.problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), 9, "{problems:#?}");
        for (server, told) in [
            ("closed", "cannot be reached"),
            (
                "locked",
                "it refuses us (HTTP 401): check the header `Authorization`",
            ),
            ("missing", "it answered with HTTP 404: nothing here"),
            (
                "moved",
                "it redirects to `evil.example`, which is not followed",
            ),
            ("open", r#"(HTTP 401): give it `"headers""#),
            ("page", "it answers with `text/html` and not with JSON"),
            ("silent", "within"),
            ("sse", "the older transport `sse` is not supported"),
            (
                "unset",
                "the header `X-Key` cannot be sent: the variable `NONE` is not set",
            ),
        ] {
            let start = format!("mcp server `{server}`: ");
            let problem = problems.iter().find(|problem| problem.starts_with(&start));
            let problem = problem.unwrap();
            assert!(problem.contains(told), "{problem}");
            assert!(!problem.contains("sesame"), "{problem}");
        }
        let called = connected.tools.call("mcp__fine__say", json!({})).await;
        assert_eq!(called.unwrap().text, "rye");
    });
}
