//! Clients that send one request after the other, each on a connection of its own.

use std::net::SocketAddr;
use std::time::Instant;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The figures of one round.
pub(crate) struct Round {
    /// The median of a request's time, in microseconds.
    pub(crate) median_us: f64,
    pub(crate) per_second: f64,
}

pub(crate) async fn run(address: SocketAddr, connections: usize, requests: usize) -> Round {
    let mut clients = JoinSet::new();
    let begun = Instant::now();
    for number in 0..connections {
        clients.spawn(client(address, requests / connections, number));
    }
    let times: Vec<f64> = clients.join_all().await.into_iter().flatten().collect();
    let seconds = begun.elapsed().as_secs_f64();
    Round {
        per_second: times.len() as f64 / seconds,
        median_us: median(times),
    }
}

async fn client(address: SocketAddr, requests: usize, number: usize) -> Vec<f64> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    // As long as a coding agent's request is: some 40 KB.
    let system = "You are careful. ".repeat(2_400);
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"system","content":"{system}"}},{{"role":"user","content":"Where are the bees of {number}?"}}]}}"#
    );
    let length = body.len();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    let request = [head.as_bytes(), body.as_bytes()].concat();
    let mut times = Vec::with_capacity(requests);
    let mut answer = Vec::new();
    for _ in 0..requests {
        let begun = Instant::now();
        stream.write_all(&request).await.unwrap();
        answer.clear();
        while !is_whole(&answer) {
            assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
        }
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times
}

/// Tells whether an answer is there with as many bytes as its head says.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap();
    let length = length.lines().next().unwrap();
    body.len() >= length.parse().unwrap()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    values.get(middle).copied().unwrap_or(f64::NAN)
}
