//! The body of a request as one piece, within a limit for each and one for all that wait at a time.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;

use super::refusal::Refusal;
use crate::serve::BodyLate;

/// The room for the bodies of requests that no upstream has begun to answer.
#[derive(Debug)]
pub(crate) struct Buffer {
    used: Mutex<Used>,
    /// The bytes of all together, and of one client.
    room: usize,
    share: usize,
}

#[derive(Debug, Default)]
struct Used {
    all: usize,
    /// By the key of a client. Only those that hold something are here.
    clients: BTreeMap<String, usize>,
}

/// A part of that room, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    buffer: Arc<Buffer>,
    client: Option<String>,
    size: usize,
}

/// A body below this size needs no room.
const SMALL: usize = 64 << 10;
/// The bytes of all that wait. Eight of the largest requests, or many thousands of usual ones.
const ROOM: usize = 512 << 20;
/// The part of it that one client gets: two of the largest requests, and room for three other clients.
const SHARE: usize = ROOM / 4;

impl Default for Buffer {
    fn default() -> Self {
        Self::new(ROOM, SHARE)
    }
}

impl Buffer {
    fn new(room: usize, share: usize) -> Self {
        Self {
            used: Mutex::default(),
            room,
            share,
        }
    }
}

impl Held {
    /// Nothing yet. Clients without a key are programs of one machine, and have the whole room.
    pub(super) fn new(buffer: &Arc<Buffer>, client: Option<String>) -> Self {
        Self {
            buffer: Arc::clone(buffer),
            client,
            size: 0,
        }
    }

    /// Takes more room, if a body of this size needs more than it has.
    fn grow(&mut self, size: usize) -> Result<(), Refusal> {
        let Buffer { used, room, share } = &*self.buffer;
        // A body that is longer than the room is let in where it is alone.
        let more = size.min(*room).saturating_sub(self.size);
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.all + more > *room {
            return Err(no_room("too many large requests wait for their answers"));
        }
        if let Some(client) = &self.client {
            let own = used.clients.entry(client.clone()).or_default();
            // A single body may be as long as the settings allow.
            if *own > self.size && *own + more > *share {
                return Err(no_room(
                    "too many large requests of this key wait for their answers",
                ));
            }
            *own += more;
        }
        used.all += more;
        self.size += more;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let used = self.buffer.used.lock();
        let mut used = used.unwrap_or_else(PoisonError::into_inner);
        used.all = used.all.saturating_sub(self.size);
        if let Some(client) = &self.client
            && let Some(own) = used.clients.get_mut(client)
        {
            *own = own.saturating_sub(self.size);
            if *own == 0 {
                used.clients.remove(client);
            }
        }
    }
}

fn no_room(problem: &str) -> Refusal {
    Refusal {
        retry_after: Some(Duration::from_secs(1)),
        ..Refusal::permanent(StatusCode::SERVICE_UNAVAILABLE, problem)
    }
}

/// Reads the bytes of a request, at most so many, and holds room for them. A small one needs none, so that it is never
/// refused because of large ones.
pub(super) async fn whole(
    mut body: Body,
    most: usize,
    mut held: Held,
) -> Result<(Bytes, Held), Refusal> {
    let longest = body.size_hint().upper();
    let longest = longest.and_then(|longest| usize::try_from(longest).ok());
    let is_small = longest.is_some_and(|longest| longest < SMALL);
    // The usual request comes in one piece, and is not copied.
    let mut only: Option<Bytes> = None;
    // Of several pieces: pieces of a few bytes each would take many times their size if they were kept apart.
    let mut whole = Vec::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        // Trailers are of the connection.
        let Ok(piece) = frame.map_err(|error| unreadable(&error))?.into_data() else {
            continue;
        };
        size += piece.len();
        if size > most {
            return Err(Refusal::permanent(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the request has more than {most} bytes, the most that this server takes"),
            ));
        }
        if !is_small {
            held.grow(size)?;
        }
        if size == piece.len() {
            only = Some(piece);
            continue;
        }
        if let Some(first) = only.take() {
            whole.extend_from_slice(&first);
        }
        whole.extend_from_slice(&piece);
    }
    Ok((only.unwrap_or_else(|| Bytes::from(whole)), held))
}

fn unreadable(error: &axum::Error) -> Refusal {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = source {
        if error.is::<BodyLate>() {
            return Refusal {
                retry_after: Some(Duration::from_secs(1)),
                ..Refusal::permanent(StatusCode::REQUEST_TIMEOUT, error.to_string())
            };
        }
        source = error.source();
    }
    let what = format!("the request cannot be read: {error}");
    Refusal::permanent(StatusCode::BAD_REQUEST, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a body that needs room.
    fn body(units: usize) -> Body {
        Body::from(vec![b'x'; units * SMALL])
    }

    async fn read(buffer: &Arc<Buffer>, client: &str, body: Body) -> Result<Held, Refusal> {
        let held = Held::new(buffer, Some(client.to_owned()).filter(|it| !it.is_empty()));
        whole(body, 10 * SMALL, held).await.map(|(_, held)| held)
    }

    #[tokio::test]
    async fn x07_bodies_that_wait_have_room_together() {
        let buffer = Arc::new(Buffer::new(3 * SMALL, 3 * SMALL));
        let held = read(&buffer, "", body(2)).await.unwrap();
        let refusal = read(&buffer, "", body(2)).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(refusal.retry_after.is_some());
        let rest = read(&buffer, "", body(1)).await.unwrap();
        // Small ones come in all the same.
        let small = read(&buffer, "", Body::from("{}")).await.unwrap();
        drop((held, rest, small));
        assert!(read(&buffer, "", body(2)).await.is_ok());
        let too_large = read(&buffer, "", body(11)).await.unwrap_err();
        assert_eq!(too_large.status, StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[tokio::test]
    async fn x07_a_client_leaves_room_to_the_others() {
        let buffer = Arc::new(Buffer::new(8 * SMALL, 2 * SMALL));
        // One may be as long as it is allowed to be; then others of that client wait.
        let long = read(&buffer, "a", body(3)).await.unwrap();
        let refusal = read(&buffer, "a", body(1)).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE);
        let other = [(); 2].map(|()| read(&buffer, "b", body(1)));
        let [first, second] = other;
        let other = (first.await.unwrap(), second.await.unwrap());
        assert!(read(&buffer, "b", body(1)).await.is_err());
        drop(long);
        assert!(read(&buffer, "a", body(2)).await.is_ok());
        drop(other);
        let used = buffer.used.lock().unwrap();
        assert_eq!((used.all, used.clients.len()), (0, 0));
    }

    #[tokio::test]
    async fn a_body_in_pieces_is_the_same_body() {
        let buffer = Arc::new(Buffer::default());
        for pieces in [&[][..], &["{}"], &["", "{", "", "}"], &["{", "}"]] {
            let sent = pieces.iter().map(|piece| Ok::<_, std::io::Error>(*piece));
            let body = Body::from_stream(futures_util::stream::iter(sent.collect::<Vec<_>>()));
            let held = Held::new(&buffer, None);
            let (bytes, _) = whole(body, SMALL, held).await.unwrap();
            assert_eq!(bytes.as_ref(), pieces.concat().as_bytes());
        }
    }
}
