//! Ends a connection whose client reads nothing of its answer for a while. Such an answer would keep its connection to
//! the upstream, and what has come of it, for as long as the client likes.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The longest that a client may take nothing while there is something to take.
const LONGEST: Duration = Duration::from_secs(120);

/// A connection with that limit.
pub(super) struct Unread<S> {
    stream: S,
    /// Set since the first write that found no room.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> Unread<S> {
    pub(super) const fn new(stream: S) -> Self {
        Self { stream, end: None }
    }

    /// Passes on how a write went, or fails when the time is over.
    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(LONGEST)));
        ready!(end.as_mut().poll(context));
        let problem = "the client reads nothing of its answer";
        Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, problem)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Unread<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Unread<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.in_time(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn x06_a_client_that_never_reads_is_given_up() {
        let (_client, server) = duplex(64);
        let begun = Instant::now();
        let written = Unread::new(server).write_all(&[0; 1000]).await;
        assert_eq!(written.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(begun.elapsed(), LONGEST);
    }

    #[tokio::test(start_paused = true)]
    async fn x06_a_client_that_reads_slowly_gets_everything() {
        let (mut client, server) = duplex(64);
        let mut server = Unread::new(server);
        let answering = tokio::spawn(async move { server.write_all(&[0; 1000]).await });
        let (mut piece, mut count) = ([0; 50], 0);
        while count < 1000 {
            sleep(LONGEST / 2).await;
            count += client.read(&mut piece).await.unwrap();
        }
        assert!(answering.await.unwrap().is_ok());
    }
}
