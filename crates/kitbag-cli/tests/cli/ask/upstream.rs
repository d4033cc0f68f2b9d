//! A server of the test's own on loopback: it keeps the raw bytes of each request, and misbehaves.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub(crate) const ANTHROPIC: &str = r#"event: message_start
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

pub(crate) const CHAT: &str = r#"data: {"choices":[{"delta":{"content":"In "}}]}

data: {"choices":[{"delta":{"content":"Porto."},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}

data: [DONE]

"#;

pub(crate) const RESPONSES: &str = r#"data: {"type":"response.output_text.delta","delta":"In Porto."}

data: {"type":"response.completed","response":{"usage":{"input_tokens":90,"output_tokens":7,"input_tokens_details":{"cached_tokens":64}}}}

"#;

/// The answer to one request.
pub(crate) enum Reply {
    /// These bytes, then the end of the connection.
    Bytes(String),
    /// The end of the connection, without a byte.
    Drop,
    /// The beginning of a stream, then nothing for longer than anybody waits.
    Silent(String),
    /// Nothing at all, for as long.
    Never,
}

impl Reply {
    /// A stream that ends with its connection.
    pub(crate) fn stream(body: &str) -> Self {
        Self::Bytes(format!("{STREAM}{body}"))
    }

    /// A stream whose connection ends in the middle of a piece.
    pub(crate) fn torn(body: &str) -> Self {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
        let length = body.len() + 1000;
        Self::Bytes(format!("{head}\r\n\r\n{length:x}\r\n{body}"))
    }

    /// An answer that is not streamed.
    pub(crate) fn whole(body: &str) -> Self {
        Self::status(
            200,
            "content-type: application/json; charset=utf-8\r\n",
            body,
        )
    }

    pub(crate) fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        // Nobody may send the next request on a connection that is about to be closed.
        let head = format!(
            "HTTP/1.1 {status} Odd\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        Self::Bytes(head + body)
    }
}

const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// Nobody waits longer, neither for a request nor for a client to give up.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Upstream {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Upstream {
    /// Gives one reply after the other, each on a connection of its own; then none.
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let mut replies = replies.into_iter();
        Self::answering(move |_| replies.next().unwrap_or(Reply::Drop))
    }

    /// Answers every request, on a connection of its own, as `answer` says.
    pub(crate) fn answering(answer: impl FnMut(&str) -> Reply + Send + 'static) -> Self {
        Self::over(answer, Ok)
    }

    /// The same over what `wrap` makes of a connection.
    pub(crate) fn over<C: Read + Write>(
        answer: impl FnMut(&str) -> Reply + Send + 'static,
        wrap: impl Fn(TcpStream) -> io::Result<C> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let shared = Arc::new((Mutex::new(answer), wrap));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, shared) = (Arc::clone(&kept), Arc::clone(&shared));
                thread::spawn(move || {
                    let stream = stream?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    let (answer, wrap) = &*shared;
                    converse(wrap(stream)?, |request| {
                        kept.lock().unwrap().push(request.to_owned());
                        answer.lock().unwrap()(request)
                    })
                });
            }
        });
        Self { address, requests }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests as they came, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The bodies of the requests as they came.
    pub(crate) fn bodies(&self) -> Vec<String> {
        let requests = self.requests();
        let bodies = requests.iter().map(|request| body(request).to_owned());
        bodies.collect()
    }
}

/// The body of a request.
pub(crate) fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").unwrap().1
}

/// Reads a request and answers it. A client that goes away, or was killed, is no fault of the test.
fn converse(mut stream: impl Read + Write, answer: impl FnOnce(&str) -> Reply) -> io::Result<()> {
    let request = read(&mut stream)?;
    match answer(&request) {
        Reply::Bytes(bytes) => stream.write_all(bytes.as_bytes())?,
        Reply::Drop => {}
        Reply::Never => {
            let _ = stream.read(&mut [0]);
        }
        Reply::Silent(begun) => {
            stream.write_all(format!("{STREAM}{begun}").as_bytes())?;
            stream.flush()?;
            // Whoever gives up closes the connection, which ends this.
            let _ = stream.read(&mut [0]);
        }
    }
    stream.flush()
}

/// Reads a request to the end of its body.
fn read(stream: &mut impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer)?;
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
                return Ok(text.into_owned());
            }
        }
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
