//! A server of the test's own on loopback: it keeps the raw bytes of each request, and misbehaves.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub(super) const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":16,"cache_read_input_tokens":64,"cache_creation_input_tokens":10,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"","new_field":1.0}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Bees sting."}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln=="}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"In Porto."}}

event: end
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}

data: {"type":"message_stop"}

"#;

pub(super) const CHAT: &str = r#"data: {"choices":[{"delta":{"content":"In "}}]}

data: {"choices":[{"delta":{"content":"Porto."},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}

data: [DONE]

"#;

pub(super) const RESPONSES: &str = r#"data: {"type":"response.output_text.delta","delta":"In Porto."}

data: {"type":"response.completed","response":{"usage":{"input_tokens":90,"output_tokens":7,"input_tokens_details":{"cached_tokens":64}}}}

"#;

/// The answer to one request.
pub(super) enum Reply {
    /// These bytes, then the end of the connection.
    Bytes(String),
    /// The end of the connection, without a byte.
    Drop,
    /// The beginning of a stream, then nothing for longer than anybody waits.
    Silent(String),
}

impl Reply {
    pub(super) fn stream(body: &str) -> Self {
        Self::Bytes(format!("{STREAM}{body}"))
    }

    pub(super) fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!("HTTP/1.1 {status} Odd\r\n{headers}content-length: {length}\r\n\r\n");
        Self::Bytes(head + body)
    }
}

const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

pub(super) struct Upstream {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Upstream {
    /// Gives one reply after the other, each on a connection of its own.
    pub(super) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                kept.lock().unwrap().push(read(&mut stream));
                match reply {
                    Reply::Bytes(bytes) => stream.write_all(bytes.as_bytes()).unwrap(),
                    Reply::Drop => {}
                    Reply::Silent(begun) => {
                        let begun = format!("{STREAM}{begun}");
                        stream.write_all(begun.as_bytes()).unwrap();
                        // Whoever gives up closes the connection, which ends this.
                        let patience = Some(Duration::from_secs(20));
                        stream.set_read_timeout(patience).unwrap();
                        let _ = stream.read(&mut [0]);
                    }
                }
            }
        });
        Self { address, requests }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The requests as they came, head and body.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads a request to the end of its body.
fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map(|(_, length)| length);
            let length = length.map_or(0, |length| length.trim().parse().unwrap());
            if body.len() >= length {
                return text.into_owned();
            }
        }
        assert!(count > 0, "the request is cut off: {text}");
    }
}
