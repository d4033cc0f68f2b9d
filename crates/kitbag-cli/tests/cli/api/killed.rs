//! Clients of MCP over HTTP that are gone in the middle of something.

use std::fs;
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{folder, serve};
use crate::serve::Server;

/// A process that forgets nothing of a round grows by more: two of five clients say 64 KiB or half of that.
const GROWTH: u64 = 8 << 20;

/// The clients that are killed, and those before them, after which memory has the size that it keeps.
const CLIENTS: usize = 1_000;
const WARM_UP: usize = 500;

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn x11_a_server_stays_as_it_is_when_its_clients_are_killed() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let call = |tool: &str, arguments| {
        let params = json!({"name": tool, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
    };
    let pack = request(&server, &call("pack", json!({"task": "login"})));
    let long = request(
        &server,
        &call("recall", json!({"query": "bees ".repeat(13 << 10)})),
    );
    let (head, body) = long.split_at(long.len() / 2);
    assert!(head.len() > 1 << 15 && body.len() > 1 << 15);
    let (beginning, _) = pack.split_at(40);
    let kinds = [
        (beginning, 0),
        (head, 0),
        (&pack, 0),
        (&long, 0),
        (&pack, 9),
    ];
    for round in 0..WARM_UP {
        killed(&server, kinds[round % kinds.len()]);
    }
    // Some of those clients may not have been noticed yet; the rounds are more than they are.
    let (files, memory) = (open_files(&server), resident(&server));
    for round in 0..CLIENTS {
        killed(&server, kinds[round % kinds.len()]);
    }
    let left = settled(&server, files);
    assert!(left <= files, "{files} files were open, now {left}");
    let grown = resident(&server).saturating_sub(memory);
    println!(
        "{CLIENTS} clients: {files} files open, then {left}; {memory} bytes, then {grown} more"
    );
    assert!(grown <= GROWTH, "{grown} bytes more than {memory}");
    let children = format!("/proc/{0}/task/{0}/children", server.process());
    assert_eq!(fs::read_to_string(children).unwrap(), "");
    let said = server.stop();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
}

fn request(server: &Server, body: &str) -> String {
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let head = server.head("POST", "/mcp", &headers, body.len());
    format!("{head}{body}")
}

/// A client that sends this, reads so many bytes, and is gone.
fn killed(server: &Server, (sent, read): (&str, usize)) {
    let mut stream = server.connect();
    stream.write_all(sent.as_bytes()).unwrap();
    stream.read_exact(&mut vec![0; read]).unwrap();
}

/// Waits until the server has at most so many files and sockets open, and returns how many it has. Each look is
/// a request, which the server answers beside what it has left to do.
fn settled(server: &Server, most: usize) -> usize {
    let begun = Instant::now();
    loop {
        assert_eq!(server.get("/healthz").status, 200);
        let open = open_files(server);
        if open <= most || begun.elapsed() > PATIENCE {
            return open;
        }
    }
}

fn open_files(server: &Server) -> usize {
    fs::read_dir(format!("/proc/{}/fd", server.process()))
        .unwrap()
        .count()
}

/// The bytes of memory that the server has.
fn resident(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kilobytes = line.split_whitespace().nth(1).unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}
