//! The exchange with a provider: the request goes out, the answer comes in piece by piece.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};

use super::{AnswerError, Kept, LEASE, RENEWAL, Show, Stages, Stop};
use crate::engine::TurnPrompt;
use crate::provider::{Provider, Reply};
use crate::wire::Request;

pub(super) struct Exchange<'a, 's> {
    pub(super) kept: Option<Kept<'a>>,
    pub(super) show: Show<'s>,
    pub(super) stop: Stop<'s>,
    pub(super) stages: Stages,
    pub(super) reply: Reply,
    pub(super) waited: Duration,
}

impl Exchange<'_, '_> {
    pub(super) async fn run(
        &mut self,
        provider: &dyn Provider,
        prompt: &TurnPrompt,
        request: &Request,
    ) -> Result<(), AnswerError> {
        let mut stream = self.wait(provider.stream(request)).await??;
        self.stages.end("first byte", provider.name());
        if let Some(kept) = &self.kept {
            let sent = prompt.sent_as(request);
            kept.store.sent(&kept.lease, sent, (kept.clock)()).await?;
            self.stages.end("sent", "archived");
        }
        while let Some(event) = self.wait(stream.next()).await? {
            let event = event?;
            (self.show)(&event);
            self.reply.add(event);
        }
        Ok(self.reply.check_whole()?)
    }

    /// Waits for the provider, renews the lease meanwhile, and ends when it is told to.
    async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, AnswerError> {
        let begun = Instant::now();
        let mut work = pin!(work);
        let result = loop {
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
                        kept.lease = kept.store.renew(&kept.lease, LEASE, now).await?;
                    }
                }
            }
        };
        self.waited += begun.elapsed();
        result
    }
}
