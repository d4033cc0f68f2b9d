//! Signals that ask the process to end, and the exit code after each.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

/// A signal that asks the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Ctrl-C. A chat ends the answer and goes on.
    CtrlC,
    /// The terminal has closed.
    HangUp,
    /// Whoever supervises the process stops it.
    Terminate,
}

impl Interrupt {
    /// The exit code that shells give a program which this signal ended.
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Self::HangUp => 129,
            Self::CtrlC => 130,
            Self::Terminate => 143,
        }
    }
}

/// Listens to these signals from now on. One that comes while nobody waits for it is not missed.
pub(crate) struct Interrupts {
    signals: Vec<(Interrupt, Signal)>,
    /// A signal after which nothing goes on.
    last: Option<Interrupt>,
}

impl Interrupts {
    /// Listens to all signals. None of them ends the process by itself any more, so somebody must wait for the next one
    /// until the process ends.
    pub(crate) fn listen() -> Self {
        Self::listen_to(&[Interrupt::CtrlC, Interrupt::HangUp, Interrupt::Terminate])
    }

    fn listen_to(wanted: &[Interrupt]) -> Self {
        // A signal that cannot be heard ends the process, as it does by default.
        let signals = wanted.iter().filter_map(|one| Some((*one, signal(*one)?)));
        Self {
            signals: signals.collect(),
            last: None,
        }
    }

    /// The next signal. After one that is not Ctrl-C, the same again and again.
    pub(crate) async fn next(&mut self) -> Interrupt {
        let next = match self.last {
            Some(last) => last,
            None => poll_fn(|context| self.poll(context)).await,
        };
        self.last = Some(next).filter(|next| *next != Interrupt::CtrlC);
        next
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Interrupt> {
        let mut signals = self.signals.iter_mut();
        let heard = signals.find_map(|(interrupt, signal)| {
            let is_heard = signal.poll_recv(context).is_ready();
            is_heard.then_some(*interrupt)
        });
        heard.map_or(Poll::Pending, Poll::Ready)
    }

    /// The signal that ends a chat, if one has come.
    pub(crate) const fn last(&self) -> Option<Interrupt> {
        self.last
    }

    /// The result of some work, or the signal that came first.
    pub(crate) async fn unless_interrupted<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, Interrupt> {
        unless(work, self.next()).await
    }
}

/// Completes with the next signal.
pub(crate) async fn interrupted() -> Interrupt {
    Interrupts::listen().next().await
}

/// Completes when a server is asked to end: by Ctrl-C, or by whoever supervises it. It listens from the call on, and
/// not only once it is awaited: a signal in between would end the process.
#[cfg(feature = "server")]
pub(crate) fn stopped() -> impl Future<Output = ()> + Send + 'static {
    let mut signals = Interrupts::listen_to(&[Interrupt::CtrlC, Interrupt::Terminate]);
    async move {
        signals.next().await;
    }
}

/// The result of some work, or of what else came first.
pub(crate) async fn unless<T, E>(
    work: impl Future<Output = T>,
    other: impl Future<Output = E>,
) -> Result<T, E> {
    let (mut work, mut other) = (pin!(work), pin!(other));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Ok(done)),
        Poll::Pending => other.as_mut().poll(context).map(Err),
    })
    .await
}

#[cfg(unix)]
type Signal = tokio::signal::unix::Signal;

#[cfg(unix)]
fn signal(wanted: Interrupt) -> Option<Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    let kind = match wanted {
        Interrupt::CtrlC => SignalKind::interrupt(),
        Interrupt::HangUp => SignalKind::hangup(),
        Interrupt::Terminate => SignalKind::terminate(),
    };
    signal(kind).ok()
}

#[cfg(windows)]
type Signal = tokio::signal::windows::CtrlC;

#[cfg(windows)]
fn signal(wanted: Interrupt) -> Option<Signal> {
    // The other signals do not exist there.
    (wanted == Interrupt::CtrlC)
        .then(tokio::signal::windows::ctrl_c)?
        .ok()
}
