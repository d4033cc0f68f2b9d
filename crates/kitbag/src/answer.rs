//! A turn from its message to the answer that is kept.
//!
//! The message is on the disk before anything else is done with it. The prompt counts as sent with the
//! first byte of the answer, and the answer is kept when it has ended, whole or not. A provider that
//! fails loses nothing.

mod error;

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use jiff::{SignedDuration, Timestamp};
use kitbag_core::message::{Message, MessageMetadata};
use kitbag_core::tokens::TokenCounter;
use kitbag_store::{Learned, Lease, NewMessage, Store, StoreError, StoredTurn};
use serde_json::json;

use crate::engine::{Sources, TurnPrompt, TurnRequest, turn};
use crate::provider::{Provider, ProviderError, Reply, ReplyEvent};
use crate::wire::Request;

pub use error::AnswerError;

/// A lease is short, so that a process that was killed holds nobody up for long; it is renewed while
/// the provider answers.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
const RENEWAL: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(45);

/// The things that answering needs besides the sources of the prompt.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Answering<'a> {
    /// The provider that is asked.
    pub provider: &'a dyn Provider,
    /// Counts the tokens of the prompt.
    pub counter: &'a (dyn TokenCounter + Sync),
    /// Tells the time.
    pub clock: fn() -> Timestamp,
}

impl<'a> Answering<'a> {
    /// Asks a provider.
    #[must_use]
    pub fn new(
        provider: &'a dyn Provider,
        counter: &'a (dyn TokenCounter + Sync),
        clock: fn() -> Timestamp,
    ) -> Self {
        Self {
            provider,
            counter,
            clock,
        }
    }

    /// The prompt of a turn, and the request with which the provider is asked. Nothing is sent.
    ///
    /// # Errors
    /// When there is no prompt.
    pub async fn request(
        &self,
        sources: Sources<'_>,
        request: &TurnRequest,
    ) -> Result<(TurnPrompt, Request), AnswerError> {
        let mut request = request.clone();
        request.prompt.settings.form = self.provider.dialect().form();
        let prompt = turn(sources, &request, self.counter).await?;
        let wire = prompt.composed.request();
        let wire = wire.ok_or(AnswerError::NoRequest)?;
        Ok((prompt, self.provider.prepared(wire)))
    }

    /// Answers a turn. Each event is handed to `show` as it comes. Where `stop` comes to its end the
    /// answer does too, and what has come of it is kept.
    ///
    /// # Errors
    /// When the store fails, when there is no prompt, or when the provider fails. The message is kept
    /// in any case once it was accepted, and so is what came of the answer.
    pub async fn answer(
        &self,
        sources: Sources<'_>,
        mut request: TurnRequest,
        show: &mut (dyn FnMut(&ReplyEvent) + Send),
        stop: Pin<&mut (dyn Future<Output = ()> + Send)>,
    ) -> Result<Answer, AnswerError> {
        self.provider.check()?;
        let store = sources.store;
        let mut kept = None;
        if let (Some(store), Some(memory)) = (store, &mut request.memory) {
            let accepted = store.accept(&memory.incoming, (self.clock)()).await?;
            memory.answering = Some(accepted.message);
            request.prompt.current.id = Some(accepted.message.to_string());
            let lease = store.begin_when_free(accepted.id, LEASE, PATIENCE, self.clock);
            kept = Some(Kept {
                store,
                lease: lease.await?,
                clock: self.clock,
            });
        }
        let (prompt, wire) = match self.request(sources, &request).await {
            Ok(made) => made,
            Err(error) => {
                if let Some(kept) = &kept {
                    kept.fail(&error.to_string()).await?;
                }
                return Err(error);
            }
        };
        let mut exchange = Exchange {
            kept,
            show,
            stop,
            reply: Reply::default(),
            waited: Duration::ZERO,
        };
        let ended = exchange.run(self.provider, &prompt, &wire).await;
        let Exchange {
            kept,
            reply,
            waited,
            ..
        } = exchange;
        let model = wire.model();
        let kept_turn = match &kept {
            Some(kept) => Some(kept.end(&reply, model, ended.as_ref().err()).await?),
            None => None,
        };
        let answer = Answer {
            turn: kept_turn,
            prompt,
            request: wire,
            reply,
            waited,
        };
        match ended {
            Ok(()) => Ok(answer),
            Err(AnswerError::Provider { error, .. }) => Err(AnswerError::Provider {
                error,
                came: Some(Box::new(answer)),
            }),
            Err(AnswerError::Stopped { .. }) => Err(AnswerError::Stopped {
                came: Some(Box::new(answer)),
            }),
            Err(other) => Err(other),
        }
    }
}

/// An answer, and all that it was made of.
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The turn as the store has it; none without memory.
    pub turn: Option<StoredTurn>,
    /// The prompt, with its ledger.
    pub prompt: TurnPrompt,
    /// The request that was sent.
    pub request: Request,
    /// The answer.
    pub reply: Reply,
    /// The time that was spent waiting for the provider.
    pub waited: Duration,
}

/// A turn that the store keeps.
struct Kept<'a> {
    store: &'a Store,
    lease: Lease,
    clock: fn() -> Timestamp,
}

impl Kept<'_> {
    async fn fail(&self, problem: &str) -> Result<StoredTurn, StoreError> {
        self.store
            .failed(&self.lease, problem, (self.clock)())
            .await
    }

    /// Keeps the answer, or what came of it, with what it cost.
    async fn end(
        &self,
        reply: &Reply,
        model: Option<String>,
        problem: Option<&AnswerError>,
    ) -> Result<StoredTurn, StoreError> {
        let problem = problem.map(ToString::to_string);
        if reply.blocks.is_empty() {
            let problem = problem.unwrap_or_else(|| "the answer is empty".to_owned());
            let usage = reply.usage.map(|usage| json!(usage).to_string());
            let usage = usage.map_or_else(String::new, |usage| format!(" (usage: {usage})"));
            return self.fail(&format!("{problem}{usage}")).await;
        }
        let mut message = Message::assistant(reply.content());
        let mut metadata = MessageMetadata::default();
        let told = [
            ("model", model.map(|model| json!(model))),
            ("usage", reply.usage.map(|usage| json!(usage))),
            ("stop", reply.stop.as_ref().map(|stop| json!(stop.as_str()))),
            ("incomplete", problem.map(|problem| json!(problem))),
        ];
        let told = told.into_iter();
        let told = told.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        metadata.extra.extend(told);
        message.metadata = Some(metadata);
        let now = (self.clock)();
        let mut learned = Learned::default();
        learned.reply = Some(NewMessage::from(message).at(now));
        self.store.learned(&self.lease, learned, now).await
    }
}

/// The exchange with a provider.
struct Exchange<'a, 's> {
    kept: Option<Kept<'a>>,
    show: &'s mut (dyn FnMut(&ReplyEvent) + Send),
    stop: Pin<&'s mut (dyn Future<Output = ()> + Send)>,
    reply: Reply,
    waited: Duration,
}

impl Exchange<'_, '_> {
    async fn run(
        &mut self,
        provider: &dyn Provider,
        prompt: &TurnPrompt,
        wire: &Request,
    ) -> Result<(), AnswerError> {
        let mut stream = self.wait(provider.stream(wire)).await??;
        if let Some(kept) = &self.kept {
            let sent = prompt.sent_as(wire);
            kept.store.sent(&kept.lease, sent, (kept.clock)()).await?;
        }
        while let Some(event) = self.wait(stream.next()).await? {
            let event = event?;
            (self.show)(&event);
            self.reply.add(event);
        }
        match self.reply.is_whole {
            true => Ok(()),
            false => Err(AnswerError::from(ProviderError::Cut {
                problem: "the stream ended before the answer did".to_owned(),
            })),
        }
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
