//! A turn from its message to the answer that is kept.
//!
//! The message is on the disk before anything else is done with it. With the first byte of the answer the
//! prompt counts as sent: it is archived while the answer is read. The answer is kept when it has ended,
//! whole or not. A provider that fails loses nothing, and the part of an answer that arrived is returned even if
//! the store fails. A model that asks for tools is asked again with their results.
//!
//! # The loop
//!
//! With [`nodes`](crate::engine::EngineBuilder::nodes) four nodes answer a turn one after the other:
//! Understand, Think, Act, Reply.

mod cache;
mod calls;
mod error;
mod exchange;
mod inference;
mod kept;
mod nodes;
mod prepare;
mod rounds;
mod stages;

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use jiff::SignedDuration;
use kitbag_core::message::Message;
use kitbag_core::record::{TurnRecord, Usage, total_cost_micros};
use kitbag_store::{Incoming, Lease, Store, StoreError, StoredTurn, TurnId};

use crate::engine::{Composed, Engine, TurnPrompt, TurnRequest};
use crate::extension::{Phase, RunEnd};
use crate::learn::ClosedLayers;
use crate::provider::{Provider, ProviderError, Reply, ReplyEvent, StopReason};
use crate::receive::Findings;
use crate::route::Route;
use crate::wire::Request;

pub(crate) use cache::expected;
pub use error::AnswerError;
use exchange::Exchange;
pub(crate) use inference::cost;
use kept::Kept;
pub use nodes::NodeLimits;
use nodes::Nodes;
use prepare::Prepared;
use rounds::Rounds;
pub(crate) use stages::Stages;

/// A lease is short, so that a process that was killed holds nobody up for long; it is renewed while
/// the provider answers.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
const RENEWAL: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(45);

/// Shows the pieces of an answer as they come.
pub type Show<'a> = &'a mut (dyn FnMut(&ReplyEvent) + Send);

/// Ends an answer early when it completes.
pub type Stop<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

impl Engine {
    /// Answers a message, and comes back when all of the answer is there.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub async fn ask(&self, incoming: Incoming) -> Result<Answer, AnswerError> {
        let request = self.turn(incoming)?;
        let stop = pin!(pending());
        Box::pin(self.answer(request, &mut |_| (), stop)).await
    }

    /// Tells before anything is stored what keeps the provider from answering, such as a missing key.
    ///
    /// # Errors
    /// When no message could be answered.
    pub fn check(&self) -> Result<(), AnswerError> {
        Ok(self.asked_provider()?.check()?)
    }

    /// The prompt of a turn, and the request with which the provider is asked. Nothing is sent, and
    /// nothing changes: no classifier is asked, and extensions take no part.
    ///
    /// # Errors
    /// When there is no prompt.
    pub async fn request(
        &self,
        mut turn: TurnRequest,
    ) -> Result<(TurnPrompt, Request), AnswerError> {
        Findings::of_turn(&turn).sanitise(&mut turn);
        let route = self.planned_route(&turn);
        let asked = route.as_ref().and_then(|route| route.engine.as_deref());
        let asked = asked.unwrap_or(self);
        let routed = Box::pin(asked.request_routed(turn, self, route.as_ref()));
        let (_, prompt, request) = routed.await?;
        Ok((prompt, request))
    }

    async fn request_of_sanitised(
        &self,
        mut turn: TurnRequest,
    ) -> Result<(TurnPrompt, Request), AnswerError> {
        let provider = self.asked_provider()?;
        turn.prompt.settings.form = provider.dialect().form();
        // A turn may name its sender also where nothing is kept.
        let is_remembered = self.store.is_some() && turn.memory.is_some();
        let mut prompt = Box::pin(self.prompt_of_sanitised(turn)).await?;
        let Composed {
            draft, assembly, ..
        } = &mut prompt.composed;
        if !is_remembered && draft.tools.is_empty() && draft.history.is_empty() {
            // No request begins like this one, and a marker would only make it cost more.
            assembly.breakpoints.clear();
        }
        let request = prompt.make_request();
        let request = request.ok_or(AnswerError::NoRequest)?;
        Ok((prompt, provider.prepared(request)))
    }

    /// The first request of a turn, and the nodes that follow it, where nodes answer.
    async fn first_request(
        &self,
        turn: TurnRequest,
    ) -> Result<(Option<Box<Nodes>>, TurnPrompt, Request), AnswerError> {
        if let Some(limits) = self.nodes {
            let (nodes, prompt, request) = Box::pin(Nodes::begin(self, limits, turn)).await?;
            return Ok((Some(nodes), prompt, request));
        }
        let (prompt, request) = Box::pin(self.request_of_sanitised(turn)).await?;
        Ok((None, prompt, request))
    }

    /// Answers a turn with a model, also one whose message reads as a command; see
    /// [`respond`](Self::respond). Each event is handed to `show` as it comes. When `stop` completes the
    /// answer ends too, and what has come of it is kept.
    ///
    /// # Errors
    /// When the sender may not send messages on the channel, when the store fails, when there is no
    /// prompt, or when the provider fails. The message is kept in any case once it was accepted, and so is
    /// the part of the answer that arrived.
    pub async fn answer(
        &self,
        turn: TurnRequest,
        show: Show<'_>,
        stop: Stop<'_>,
    ) -> Result<Answer, AnswerError> {
        let (stages, findings) = self.receive(&turn).await?;
        Box::pin(self.answer_received(turn, stages, &findings, show, stop)).await
    }

    /// Answers a turn that was received.
    pub(crate) async fn answer_received(
        &self,
        mut turn: TurnRequest,
        mut stages: Stages,
        findings: &Findings,
        show: Show<'_>,
        stop: Stop<'_>,
    ) -> Result<Answer, AnswerError> {
        // Fused: what ends the run afterwards looks at it once more, and may not poll what has completed.
        let stop = pin!(stop.fuse());
        let mut stop: Stop<'_> = stop;
        let provider = self.asked_provider()?;
        // Routing may choose another provider, which is checked when it is chosen.
        if self.routing.is_none() {
            provider.check()?;
        }
        show(&ReplyEvent::Typing);
        stages.end("typing", "signalled");
        let mut kept = None;
        if let (Some(store), Some(memory)) = (&self.store, &mut turn.memory) {
            let begun = store.accept_and_begin(&memory.incoming, LEASE, (self.clock)());
            let (accepted, lease) = begun.await?;
            stages.end("accept", format_args!("turn {}", accepted.id));
            show(&ReplyEvent::Accepted);
            memory.answering = Some(accepted.message);
            turn.prompt.current.id = Some(accepted.message.to_string());
            let lease = match lease {
                Some(lease) => lease,
                None => {
                    let lease = self.lease(store, accepted.id, show);
                    unless_stopped(&mut stop, lease).await??
                }
            };
            kept = Some(Kept {
                store,
                lease,
                clock: self.clock,
                counter: self.counter(),
                user: memory.incoming.message.text().into_owned(),
                state: turn.state.clone(),
                has_traced: false,
                closed: None,
            });
            stages.end("lease", "held");
        }
        findings.sanitise(&mut turn);
        // Boxed, as all that is large: together it would not fit on the stack of a small thread.
        let mut host = Box::pin(self.extension_host(&turn, kept.as_ref())).await?;
        let made = Box::pin(self.prepare(turn, &mut host, &mut stages));
        let made = unless_stopped(&mut stop, made).await;
        let prepared = match made {
            Ok(Ok(made)) => made,
            Ok(Err(error)) | Err(error) => {
                stages.end("prompt", &error);
                let end = Phase::RunEnd(run_end(Some(&error)));
                Box::pin(host.enter(end)).await;
                stages.tell_extensions(&mut host);
                if let Some(kept) = &kept {
                    let record = stages.into_record(Vec::new());
                    kept.fail(&error.to_string(), record).await?;
                }
                return Err(error);
            }
        };
        let Prepared {
            engine,
            mut nodes,
            prompt,
            request,
            route,
        } = *prepared;
        let asked = engine.as_deref().unwrap_or(self);
        let provider = asked.asked_provider()?;
        let assembly = &prompt.composed.assembly;
        stages.end("prompt", format_args!("{} tokens", assembly.tokens.0));
        if let Some(shown) = &prompt.composed.compacted {
            let told = format_args!("{} messages summarised", shown.compaction.messages);
            stages.add("history", told, Duration::ZERO);
        }
        if !prompt.skills.is_empty() {
            stages.add("skills", stages::of_skills(&prompt), Duration::ZERO);
        }
        let mut exchange = Exchange {
            kept,
            show,
            stop,
            stages,
            reply: Reply::default(),
            waited: Duration::ZERO,
            is_begun: false,
            is_quiet: false,
        };
        let mut rounds = Rounds::new(asked, provider, (prompt, request), host);
        let ended = match &mut nodes {
            Some(nodes) => Box::pin(nodes.run(&mut rounds, &mut exchange)).await,
            None => Box::pin(rounds.run(&mut exchange)).await,
        };
        Box::pin(rounds.end(ended.as_ref().err(), &mut exchange)).await;
        Box::pin(finished(rounds, nodes, exchange, (ended, route))).await
    }

    /// Takes the lease of a turn, and tells when another turn is waited for.
    async fn lease(
        &self,
        store: &Store,
        turn: TurnId,
        show: &mut (dyn FnMut(&ReplyEvent) + Send),
    ) -> Result<Lease, StoreError> {
        let at_once = store.begin_when_free(turn, LEASE, Duration::ZERO, self.clock);
        match at_once.await {
            Err(StoreError::Busy { .. }) => {
                show(&ReplyEvent::Queued);
                let lease = store.begin_when_free(turn, LEASE, PATIENCE, self.clock);
                lease.await
            }
            other => other,
        }
    }

    pub(crate) fn asked_provider(&self) -> Result<&dyn Provider, AnswerError> {
        self.provider.as_deref().ok_or(AnswerError::NoProvider)
    }
}

/// The answer of a turn whose rounds have ended, once the store has kept it. A function of its own: all that it
/// moves about would otherwise take room on the stack while the rounds run.
async fn finished(
    rounds: Rounds<'_>,
    nodes: Option<Box<Nodes>>,
    exchange: Exchange<'_, '_>,
    (ended, route): (Result<(), AnswerError>, Option<Route>),
) -> Result<Answer, AnswerError> {
    let Exchange {
        mut kept,
        reply,
        waited,
        stages,
        ..
    } = exchange;
    let mut steps = rounds.kept_steps();
    let Rounds {
        prompt,
        request,
        inferences,
        mut host,
        ..
    } = rounds;
    if let Some(nodes) = nodes {
        steps = nodes.steps;
        if let Some(kept) = &mut kept {
            kept.state = Some(nodes.state);
            kept.has_traced = true;
        }
    }
    // A model that has nothing to add to what its tools did may end without words.
    let is_useful = !steps.is_empty() && reply.stop == Some(StopReason::End);
    // Only now: a node that answers nothing is asked again.
    let ended = ended.and_then(|()| match is_useful {
        true => Ok(()),
        false => Ok(reply.check_useful()?),
    });
    let mut record = stages.into_record(inferences);
    if let Some(route) = route {
        record.inferences.splice(..0, route.inference);
        record.route = Some(route.record);
    }
    let turn = match &mut kept {
        Some(kept) => {
            // A whole answer is one, also where something else went wrong.
            let is_empty = |error: &&AnswerError| {
                matches!(
                    error,
                    AnswerError::Provider {
                        error: ProviderError::Empty { .. },
                        ..
                    }
                )
            };
            let problem = ended.as_ref().err();
            let problem = problem.filter(|error| !reply.is_whole || is_empty(error));
            let ended = kept.end(&steps, &reply, record.clone(), problem, &mut host);
            Some(Box::pin(ended).await).transpose()
        }
        None => Ok(None),
    };
    let (turn, ended) = match turn {
        Ok(turn) => (turn, ended),
        Err(error) => (None, Err(AnswerError::from(error))),
    };
    let layers = kept.and_then(|kept| kept.closed);
    let answer = Answer {
        turn,
        layers,
        prompt,
        request,
        steps,
        reply,
        waited,
        record,
    };
    match ended {
        Ok(()) => Ok(answer),
        Err(error) => Err(error.with_answer(answer)),
    }
}

/// The end of a run, as extensions get it.
fn run_end(problem: Option<&AnswerError>) -> RunEnd {
    match problem {
        None => RunEnd::Answered,
        Some(error) => RunEnd::Failed {
            problem: error.to_string(),
        },
    }
}

/// The result of some work, unless the answer is stopped first.
async fn unless_stopped<T>(
    stop: &mut Stop<'_>,
    work: impl Future<Output = T>,
) -> Result<T, AnswerError> {
    match select(pin!(work), stop.as_mut()).await {
        Either::Left((result, _)) => Ok(result),
        Either::Right(_) => Err(AnswerError::Stopped { came: None }),
    }
}

/// An answer, and all that it was made of.
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The turn as the store has it; none without memory.
    pub turn: Option<StoredTurn>,
    /// The layers as the turn left them, where the conversation has any.
    pub(crate) layers: Option<Arc<ClosedLayers>>,
    /// The prompt, with its ledger; the last one of a turn with tools.
    pub prompt: TurnPrompt,
    /// The request that was sent, the last one of a turn with tools.
    pub request: Request,
    /// The tool steps before the answer: messages that call tools, and their results.
    pub steps: Vec<Message>,
    pub reply: Reply,
    /// The time that was spent waiting for the provider.
    pub waited: Duration,
    /// The stages of the turn, and what it was billed.
    pub record: TurnRecord,
}

impl Answer {
    /// The words of the answer.
    #[must_use]
    pub fn text(&self) -> String {
        self.reply.text()
    }

    /// The tokens of all prompts and answers of the turn, as far as the provider told them.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let usages = self.record.inferences.iter().filter_map(|one| one.usage);
        usages.reduce(|sum, one| Usage {
            input: sum.input.saturating_add(one.input),
            cache_read: sum.cache_read.saturating_add(one.cache_read),
            cache_write: sum.cache_write.saturating_add(one.cache_write),
            output: sum.output.saturating_add(one.output),
        })
    }

    /// The cost of all prompts of the turn at list prices, in millionths of a US dollar; none where a
    /// price or a usage is not known.
    #[must_use]
    pub fn cost_micros(&self) -> Option<u64> {
        total_cost_micros(&self.record.inferences)
    }
}
