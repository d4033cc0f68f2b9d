//! A thread on which an extension works, so that one that panics or blocks holds up nobody else.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, mpsc};
use std::thread;

use futures_util::FutureExt as _;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::{AnyExtension, ExtensionError, Phase, Run};

/// A phase that an extension has come through.
pub(super) enum Outcome {
    Done(Result<Run, ExtensionError>),
    Panicked,
}

struct Job {
    phase: Phase,
    run: Run,
    done: oneshot::Sender<Outcome>,
}

/// The thread of one extension in one run. It ends when nobody has work for it any more; one that
/// blocks for ever stays behind.
pub(super) struct Worker(mpsc::Sender<Job>);

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has none.
    pub(super) fn start(extension: Arc<dyn AnyExtension>) -> std::io::Result<Self> {
        let (send, jobs) = mpsc::channel::<Job>();
        let handle = Handle::current();
        let work = move || {
            for Job {
                phase,
                mut run,
                done,
            } in jobs
            {
                let entered = AssertUnwindSafe(async {
                    let entered = extension.enter(&phase, &mut run).await;
                    entered.map(|()| run)
                });
                let outcome = match handle.block_on(entered.catch_unwind()) {
                    Ok(result) => Outcome::Done(result),
                    Err(_) => Outcome::Panicked,
                };
                // Nobody waits for what took too long.
                drop(done.send(outcome));
            }
        };
        thread::Builder::new()
            .name("extension".into())
            .spawn(work)?;
        Ok(Self(send))
    }

    /// Lets the extension work. A thread that has gone counts as a panic.
    pub(super) async fn enter(&self, phase: Phase, run: Run) -> Outcome {
        let (done, outcome) = oneshot::channel();
        match self.0.send(Job { phase, run, done }) {
            Ok(()) => outcome.await.unwrap_or(Outcome::Panicked),
            Err(_) => Outcome::Panicked,
        }
    }
}
