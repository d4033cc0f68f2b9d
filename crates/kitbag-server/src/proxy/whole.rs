//! The body of a request as one piece, within a limit for each and one for all that wait at a time.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::Refusal;
use crate::serve::BodyLate;

/// The room for the bodies of requests that no upstream has begun to answer.
#[derive(Debug)]
pub(crate) struct Buffer(Arc<Semaphore>);

/// A part of that room.
pub(super) type Held = Option<OwnedSemaphorePermit>;

/// The bytes of one permit: a permit for each piece of a body would be too many.
const UNIT: usize = 64 << 10;
/// The bytes of all that wait. Eight of the largest requests, or many thousands of usual ones.
const ROOM: usize = 512 << 20;

impl Default for Buffer {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ROOM / UNIT)))
    }
}

impl Buffer {
    /// Takes more room, if a body of this size needs more than it has.
    fn hold(&self, held: &mut Held, size: usize) -> Result<(), Refusal> {
        let units = size.div_ceil(UNIT).min(ROOM / UNIT);
        let has = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = u32::try_from(units.saturating_sub(has)).unwrap_or(u32::MAX);
        if missing == 0 {
            return Ok(());
        }
        let more = Arc::clone(&self.0).try_acquire_many_owned(missing);
        let more = more.map_err(|_| Refusal {
            retry_after: Some(Duration::from_secs(1)),
            ..Refusal::permanent(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many large requests wait for their answers",
            )
        })?;
        match held {
            Some(held) => held.merge(more),
            None => *held = Some(more),
        }
        Ok(())
    }
}

/// Reads the bytes of a request, at most so many, and holds room for them. A small one needs none, so that it is never
/// refused because of large ones.
pub(super) async fn whole(
    body: Body,
    most: usize,
    buffer: &Buffer,
) -> Result<(Bytes, Held), Refusal> {
    let mut body = body;
    let longest = body.size_hint().upper();
    let longest = longest.and_then(|longest| usize::try_from(longest).ok());
    let is_small = longest.is_some_and(|longest| longest < UNIT);
    let mut held = None;
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
            buffer.hold(&mut held, size)?;
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

    #[tokio::test]
    async fn x07_bodies_that_wait_have_room_together() {
        let buffer = Buffer(Arc::new(Semaphore::new(3)));
        let body = |units: usize| Body::from(vec![b'x'; units * UNIT]);
        let (bytes, held) = whole(body(2), 10 * UNIT, &buffer).await.unwrap();
        assert_eq!(bytes.len(), 2 * UNIT);
        let refusal = whole(body(2), 10 * UNIT, &buffer).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(refusal.retry_after.is_some());
        let rest = whole(body(1), 10 * UNIT, &buffer).await.unwrap();
        // Small ones come in all the same.
        let (bytes, none) = whole(Body::from("{}"), UNIT, &buffer).await.unwrap();
        assert_eq!((bytes.as_ref(), none.is_none()), (&b"{}"[..], true));
        drop((held, rest));
        assert!(whole(body(2), 10 * UNIT, &buffer).await.is_ok());
        let refusal = whole(body(2), UNIT, &buffer).await.unwrap_err();
        assert_eq!(refusal.status, StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[tokio::test]
    async fn a_body_in_pieces_is_the_same_body() {
        let buffer = Buffer::default();
        for pieces in [&[][..], &["{}"], &["", "{", "", "}"], &["{", "}"]] {
            let sent = pieces.iter().map(|piece| Ok::<_, std::io::Error>(*piece));
            let body = Body::from_stream(futures_util::stream::iter(sent.collect::<Vec<_>>()));
            let (bytes, _) = whole(body, UNIT, &buffer).await.unwrap();
            assert_eq!(bytes.as_ref(), pieces.concat().as_bytes());
        }
    }
}
