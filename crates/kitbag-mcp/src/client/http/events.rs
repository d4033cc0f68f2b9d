//! Reads the events of an answer, each up to a size.

use std::io;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use sse_stream::{Sse, SseStream};

/// Reads events. One with more than `largest` bytes ends the answer.
pub(super) fn read(
    body: Incoming,
    largest: usize,
) -> BoxStream<'static, Result<Sse, sse_stream::Error>> {
    let pieces = body.into_data_stream();
    let state = (pieces, Event::default());
    let pieces = stream::try_unfold(state, move |(mut pieces, mut event)| async move {
        let Some(piece) = pieces.next().await else {
            return Ok(None);
        };
        let piece: Bytes = piece.map_err(io::Error::other)?;
        event.read(&piece);
        match event.length > largest {
            true => Err(io::Error::other("an event is too large")),
            false => Ok(Some((piece, (pieces, event)))),
        }
    });
    SseStream::from_bytes_stream(pieces).boxed()
}

/// The event that is being read: an empty line ends it.
#[derive(Default)]
struct Event {
    length: usize,
    line: usize,
}

impl Event {
    fn read(&mut self, piece: &[u8]) {
        for byte in piece {
            self.length += 1;
            match byte {
                b'\n' if self.line == 0 => self.length = 0,
                b'\n' => self.line = 0,
                // A line may end with both characters; an empty line is one with neither before its newline.
                b'\r' => {}
                _ => self.line += 1,
            }
        }
    }
}
