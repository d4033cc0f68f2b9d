//! A call of the server with nothing in between: a connection that stays open, bytes out, bytes in.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use crate::upstream::Upstream;

pub(crate) struct Direct {
    stream: TcpStream,
}

impl Direct {
    pub(crate) fn connect(upstream: &Upstream) -> Self {
        let stream = TcpStream::connect(upstream.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    /// Sends a body, reads the answer to its end, and tells when its first words came.
    pub(crate) fn call(&mut self, body: &str) -> Instant {
        let length = body.len();
        let request = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).unwrap();
        let mut first = None;
        let mut answer = Vec::new();
        let mut buffer = [0; 16 << 10];
        while !answer.ends_with(b"\r\n0\r\n\r\n") {
            let count = self.stream.read(&mut buffer).unwrap();
            assert!(count > 0, "the answer is cut off");
            first.get_or_insert_with(Instant::now);
            answer.extend_from_slice(&buffer[..count]);
        }
        first.unwrap()
    }
}
