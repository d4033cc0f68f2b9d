//! The exchange with a provider: the request goes out, the answer comes in piece by piece.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use kitbag_store::StoreError;

use super::{AnswerError, Kept, LEASE, RENEWAL, Show, Stages, Stop};
use crate::engine::TurnPrompt;
use crate::provider::{Provider, Reply, ReplyEvent, ReplyStream};
use crate::wire::Request;

pub(super) struct Exchange<'a, 's> {
    pub(super) kept: Option<Kept<'a>>,
    pub(super) show: Show<'s>,
    pub(super) stop: Stop<'s>,
    pub(super) stages: Stages,
    pub(super) reply: Reply,
    pub(super) waited: Duration,
    /// True once the provider has begun to answer the latest request.
    pub(super) is_begun: bool,
    /// True while the words that come are for a program, so that they are not shown.
    pub(super) is_quiet: bool,
}

impl Exchange<'_, '_> {
    pub(super) async fn run(
        &mut self,
        provider: &dyn Provider,
        prompt: &TurnPrompt,
        request: &Request,
        number: u32,
    ) -> Result<(), AnswerError> {
        let stream = self.wait(provider.stream(request)).await??;
        self.is_begun = true;
        self.stages.end("first byte", provider.name());
        let kept = self.kept.as_ref();
        let kept = kept.map(|kept| (kept.store, kept.lease.clone(), (kept.clock)()));
        let archive = async {
            let Some((store, lease, now)) = kept else {
                return Ok(None);
            };
            let begun = Instant::now();
            let sent = prompt.sent_as(request).inference(number);
            store.sent(&lease, sent, now).await?;
            Ok::<_, StoreError>(Some(begun.elapsed()))
        };
        // What has come is shown first: nobody waits for the disk to read the first words.
        let (read, archived) = match select(pin!(self.read(stream)), pin!(archive)).await {
            Either::Left((read, archive)) => (read, archive.await),
            // Somebody else answers this turn.
            Either::Right((Err(lost @ StoreError::LeaseLost { .. }), _)) => return Err(lost.into()),
            Either::Right((archived, read)) => (read.await, archived),
        };
        match archived {
            Ok(None) => {}
            Ok(Some(time)) => self.stages.add("sent", "archived", time),
            Err(error) => return read.and(Err(error.into())),
        }
        read
    }

    /// Reads the answer to its end.
    async fn read(&mut self, mut stream: ReplyStream) -> Result<(), AnswerError> {
        while let Some(event) = self.wait(stream.next()).await? {
            let event = event?;
            if !self.is_quiet || matches!(event, ReplyEvent::ToolCall(_)) {
                (self.show)(&event);
            }
            self.reply.add(event);
        }
        Ok(self.reply.check_whole()?)
    }

    /// Waits for the provider.
    async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, AnswerError> {
        let begun = Instant::now();
        let result = self.attend(work).await;
        self.waited += begun.elapsed();
        result
    }

    /// Does some work, renews the lease meanwhile, and ends when it is stopped.
    pub(super) async fn attend<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, AnswerError> {
        let mut work = pin!(work);
        loop {
            let pause = pin!(tokio::time::sleep(RENEWAL));
            let wake = select(self.stop.as_mut(), pause);
            match select(work.as_mut(), wake).await {
                Either::Left((result, _)) => break Ok(result),
                Either::Right((Either::Left(_), _)) => {
                    break Err(AnswerError::Stopped { came: None });
                }
                Either::Right((Either::Right(_), _)) => {
                    if let Some(kept) = &mut self.kept {
                        let now = (kept.clock)();
                        match kept.store.renew(&kept.lease, LEASE, now).await {
                            Ok(lease) => kept.lease = lease,
                            Err(lost @ StoreError::LeaseLost { .. }) => {
                                break Err(lost.into());
                            }
                            // The lease outlasts a few failures, and what is committed checks it.
                            Err(error) => tracing::warn!(event = "lease_not_renewed", %error),
                        }
                    }
                }
            }
        }
    }
}
