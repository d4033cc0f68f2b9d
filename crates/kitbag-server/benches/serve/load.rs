//! Clients that send one request after the other, each on a connection of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Where requests go, and what they ask.
#[derive(Clone)]
pub(crate) struct Target {
    address: SocketAddr,
    /// The requests of a round.
    requests: usize,
    headers: String,
    questions: Arc<Vec<String>>,
}

impl Target {
    pub(crate) fn new(address: SocketAddr, requests: usize) -> Self {
        Self {
            address,
            requests,
            headers: String::new(),
            questions: Arc::new(vec!["Where are the bees?".to_owned()]),
        }
    }

    /// With these headers, between which `|` stands.
    pub(crate) fn with_headers(mut self, headers: &str) -> Self {
        let headers = headers.split('|').filter(|header| !header.is_empty());
        self.headers = headers.map(|header| format!("{header}\r\n")).collect();
        self
    }

    /// With these in turn.
    pub(crate) fn with_questions(mut self, questions: Vec<String>) -> Self {
        self.questions = Arc::new(questions);
        self
    }

    fn request(&self, number: usize) -> Vec<u8> {
        // As long as a coding agent's request is: some 40 KB.
        let system = "You are careful. ".repeat(2_400);
        let question = &self.questions[number % self.questions.len()];
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"system","content":"{system}"}},{{"role":"user","content":"{question}"}}]}}"#
        );
        let Self {
            address, headers, ..
        } = self;
        let length = body.len();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

/// The figures of one round.
pub(crate) struct Round {
    /// The median of a request's time, in microseconds.
    pub(crate) median_us: f64,
    pub(crate) per_second: f64,
}

/// The medians of rounds.
pub(crate) fn figures(rounds: &[Round]) -> Value {
    let median_us = median(rounds.iter().map(|round| round.median_us).collect());
    let per_second = median(rounds.iter().map(|round| round.per_second).collect());
    json!({"median_us": median_us, "per_second": per_second})
}

pub(crate) async fn run(target: &Target, connections: usize) -> Round {
    let mut clients = JoinSet::new();
    let begun = Instant::now();
    for number in 0..connections {
        let numbers = (number..target.requests).step_by(connections);
        clients.spawn(client(target.clone(), numbers.collect()));
    }
    let times: Vec<f64> = clients.join_all().await.into_iter().flatten().collect();
    let seconds = begun.elapsed().as_secs_f64();
    Round {
        per_second: times.len() as f64 / seconds,
        median_us: median(times),
    }
}

async fn client(target: Target, numbers: Vec<usize>) -> Vec<f64> {
    let mut stream = TcpStream::connect(target.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut times = Vec::with_capacity(numbers.len());
    let mut answer = Vec::new();
    for number in numbers {
        let request = target.request(number);
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

/// Tells whether an answer is there to its end.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    assert!(head.starts_with("HTTP/1.1 200 "), "{text}");
    let head = head.to_ascii_lowercase();
    let Some(length) = head.split("content-length: ").nth(1) else {
        return body.ends_with("0\r\n\r\n");
    };
    let length = length.lines().next().unwrap();
    body.len() >= length.parse().unwrap()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    values.get(middle).copied().unwrap_or(f64::NAN)
}
