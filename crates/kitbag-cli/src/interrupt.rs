//! Ctrl-C, and the exit code of what it ended.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

/// The exit code that shells give a program which Ctrl-C ended.
pub(crate) const EXIT_CODE: u8 = 130;

/// Completes with the next Ctrl-C. Where no signal can be heard, it never does.
pub(crate) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        pending::<()>().await;
    }
}

/// The result of some work, unless Ctrl-C comes first.
pub(crate) async fn unless_interrupted<T>(
    work: impl Future<Output = T>,
    interrupted: impl Future<Output = ()>,
) -> Option<T> {
    let (mut work, mut interrupted) = (pin!(work), pin!(interrupted));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => interrupted.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Ctrl-C again and again. One that comes while nobody waits for it is not missed.
pub(crate) struct Interrupts(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Interrupts {
    pub(crate) fn listen() -> Self {
        Self(Box::pin(interrupted()))
    }

    pub(crate) async fn next(&mut self) {
        self.0.as_mut().await;
        *self = Self::listen();
    }
}

/// Completes when the process is asked to end: by Ctrl-C, or by whoever supervises it.
#[cfg(feature = "server")]
pub(crate) async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            unless_interrupted(terminated.recv(), interrupted()).await;
            return;
        }
    }
    interrupted().await;
}
