//! A server on loopback that answers every request with the same stream, and remembers when it began
//! to speak.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

pub(crate) struct Upstream {
    address: SocketAddr,
    spoke: Arc<Mutex<Option<Instant>>>,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let spoke = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&spoke);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let spoke = Arc::clone(&shared);
                thread::spawn(move || serve(stream.unwrap(), &spoke));
            }
        });
        Self { address, spoke }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The time at which the first words of the latest answer were written.
    pub(crate) fn spoke_at(&self) -> Instant {
        self.spoke.lock().unwrap().unwrap()
    }
}

/// Answers one request after the other on a connection.
fn serve(mut stream: TcpStream, spoke: &Mutex<Option<Instant>>) {
    stream.set_nodelay(true).unwrap();
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let usage = r#"{"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":1}"#;
    let start = format!(r#"{{"type":"message_start","message":{{"usage":{usage}}}}}"#);
    let words = |text: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
        )
    };
    let first = format!("{head}{}", chunk(&[start, words("Well, ")]));
    let mut rest: Vec<String> = (0..24).map(|_| words("as was said before, ")).collect();
    rest.push(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":80}}"#.to_owned());
    rest.push(r#"{"type":"message_stop"}"#.to_owned());
    let rest = format!("{}0\r\n\r\n", chunk(&rest));
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while read_request(&mut reader).is_some() {
        *spoke.lock().unwrap() = Some(Instant::now());
        if stream.write_all(first.as_bytes()).is_err() || stream.write_all(rest.as_bytes()).is_err()
        {
            return;
        }
    }
}

/// Events as one chunk of the body.
fn chunk(events: &[String]) -> String {
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    let events: String = events.collect();
    format!("{:x}\r\n{events}\r\n", events.len())
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<()> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(told) = line.strip_prefix("content-length:") {
            length = told.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()
}
