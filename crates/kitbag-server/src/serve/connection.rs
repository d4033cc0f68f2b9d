//! A connection of a client: its time limits, and its end when the server stops.
//!
//! A client that sends slowly, or nothing, holds up nobody: a head and a body have limits of time, and so has an answer that
//! nobody reads. A server that stops waits for the answers that it makes, not for requests that never become whole.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::Request;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tower_service::Service as _;

use super::unread::Unread;

/// The longest time until a head is whole. A connection between two requests counts as one that sends a head, so this
/// is longer than clients and balancers keep a connection for another request.
const HEAD: Duration = Duration::from_secs(75);
/// The longest pause between two pieces of a body.
const PAUSE: Duration = Duration::from_secs(30);
/// The longest time until a body is whole.
const BODY: Duration = Duration::from_secs(300);
/// The time that a stopping server gives a client to finish sending its request.
const GRACE: Duration = Duration::from_secs(2);
/// The time that a stopping server gives its answers: a client that reads nothing must not keep it running.
const LONGEST_ANSWER: Duration = Duration::from_secs(300);

/// Answers the requests of a connection until its client or the server ends it.
pub(super) async fn answer(
    stream: TcpStream,
    router: impl Fn() -> Router + Clone + Send + 'static,
    mut stopping: watch::Receiver<bool>,
) {
    // An answer that waits for a full packet comes forty milliseconds late.
    if let Err(problem) = stream.set_nodelay(true) {
        tracing::debug!(event = "nodelay_failed", error = %problem);
    }
    let work = Work::default();
    let counted = work.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (mut router, work) = (router(), counted.clone());
        async move {
            let answered = Counted::new(&work.answers);
            let request = request.map(|body| body_within_limits(body, &work));
            let response = router.call(request).await;
            response.map(|response: Response| {
                response.map(|body| Answered {
                    body,
                    _counted: answered,
                })
            })
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(Unread::new(stream)), service)
    );
    tokio::select! {
        ended = connection.as_mut() => return told(ended),
        _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
    }
    connection.as_mut().graceful_shutdown();
    let end = Instant::now() + LONGEST_ANSWER;
    while let Err(_still_open) = timeout(GRACE, connection.as_mut()).await {
        if work.is_waiting_for_client() || Instant::now() >= end {
            tracing::info!(event = "connection_cut");
            return;
        }
    }
}

fn told(ended: Result<(), hyper::Error>) {
    // A client that disconnects is normal, so it is logged at debug level.
    if let Err(problem) = ended {
        tracing::debug!(event = "connection_failed", error = %problem);
    }
}

/// The requests of a connection.
#[derive(Debug, Clone, Default)]
struct Work {
    /// Those that are not answered to their end.
    answers: Arc<AtomicUsize>,
    /// Those whose body is not whole.
    bodies: Arc<AtomicUsize>,
}

impl Work {
    fn is_waiting_for_client(&self) -> bool {
        self.answers.load(Ordering::Relaxed) == 0 || self.bodies.load(Ordering::Relaxed) > 0
    }
}

/// Counts itself while it exists.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of a request did not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request did not come in time")]
pub(crate) struct BodyLate;

fn body_within_limits(body: Incoming, work: &Work) -> Body {
    // Most requests that only read have none, and need no timer.
    if body.is_end_stream() {
        return Body::empty();
    }
    Body::new(Timed {
        body,
        pause: Box::pin(sleep(PAUSE)),
        end: Instant::now() + BODY,
        _counted: Counted::new(&work.bodies),
    })
}

/// The body of a request within its limits of time.
struct Timed {
    body: Incoming,
    pause: Pin<Box<Sleep>>,
    end: Instant,
    _counted: Counted,
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let next = (Instant::now() + PAUSE).min(self.end);
            self.pause.as_mut().reset(next);
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        ready!(self.pause.as_mut().poll(context));
        Poll::Ready(Some(Err(BodyLate.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer, which counts as work until its end.
struct Answered {
    body: Body,
    _counted: Counted,
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// All that comes back for a beginning of a request whose client then sends nothing.
    async fn answered(begun: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let router = || Router::new().fallback(async |body: Bytes| body);
        let (_stops, stopping) = watch::channel(false);
        let answering = tokio::spawn(answer(stream, router, stopping));
        client.write_all(begun.as_bytes()).await.unwrap();
        let mut all = String::new();
        client.read_to_string(&mut all).await.unwrap();
        drop(answering.await);
        all
    }

    #[tokio::test(start_paused = true)]
    async fn x06_a_request_that_never_becomes_whole_is_given_up() {
        let begun = Instant::now();
        let head = "POST / HTTP/1.1\r\nhost: x\r\n";
        assert_eq!(answered("").await, "");
        assert_eq!(answered(head).await, "");
        let body = format!("{head}connection: close\r\ncontent-length: 9\r\n\r\n1234");
        let refused = answered(&body).await;
        assert!(refused.starts_with("HTTP/1.1 4"), "{refused}");
        assert!(begun.elapsed() < 2 * HEAD + 2 * PAUSE);
    }
}
