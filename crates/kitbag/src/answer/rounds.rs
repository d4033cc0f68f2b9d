//! The rounds of a turn: the model is asked, the tools that it asks for are called, and it is asked again
//! with their results, until it answers or a limit is reached.
//!
//! A round only appends: the request of the next one begins with all that this one's said.

mod made_call;

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

use kitbag_core::entity::SessionIdRegistry;
use kitbag_core::history::message_cost;
use kitbag_core::message::Message;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::record::InferenceRecord;
use kitbag_core::role::Visibility;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_store::ResultId;

use super::calls::{self, Call, CallResult, Recorded};
use super::exchange::Exchange;
use super::inference::inference;
use super::{AnswerError, Stages, run_end};
use crate::engine::{Engine, TurnError, TurnPrompt, largest_result};
use crate::extension::{EndedCall, ExtensionHost, Phase};
use crate::provider::{Provider, Reply, ReplyEvent};
use crate::tool::Toolbox;
use crate::wire::Request;
use crate::words::counted;

pub(super) use made_call::MadeCall;

pub(super) struct Rounds<'e> {
    pub(super) engine: &'e Engine,
    pub(super) provider: &'e dyn Provider,
    /// The latest prompt.
    pub(super) prompt: TurnPrompt,
    /// The request that was made of it.
    pub(super) request: Request,
    /// The calls so far, each with its result.
    pub(super) steps: Vec<Message>,
    pub(super) inferences: Vec<InferenceRecord>,
    /// The tools of the engine and of the skills that are active in the turn.
    toolbox: Toolbox,
    /// The purpose of the next prompts, where they ask for something else than the answer.
    pub(super) purpose: Option<&'static str>,
    /// The entities whose refs the model may write in the place of ids.
    pub(super) refs: Option<SessionIdRegistry>,
    /// The calls since somebody looked.
    pub(super) made_calls: Vec<MadeCall>,
    /// The extensions that take part.
    pub(super) host: ExtensionHost,
    /// The places of steps that are not kept: messages for prompts of this turn alone.
    fleeting: BTreeSet<usize>,
    begun: Instant,
    made: u32,
    /// The results so far whose whole was kept.
    cut: u32,
}

/// Room for the results that tell of a limit.
const LAST_WORDS: Tokens = Tokens(256);

/// A result with less room says nothing.
const SMALLEST: Tokens = Tokens(64);

/// The tokens that a request has around a result.
const AROUND: u32 = 16;

impl<'e> Rounds<'e> {
    pub(super) fn new(
        engine: &'e Engine,
        provider: &'e dyn Provider,
        (prompt, request): (TurnPrompt, Request),
        host: ExtensionHost,
    ) -> Self {
        let mut toolbox = engine.toolbox.clone();
        // Tools of active skills last for this turn only, so the engine's own set is not changed.
        toolbox.tools = toolbox.tools.and(&prompt.tools);
        Self {
            engine,
            provider,
            toolbox,
            prompt,
            request,
            steps: Vec::new(),
            inferences: Vec::new(),
            purpose: None,
            refs: None,
            made_calls: Vec::new(),
            host,
            fleeting: BTreeSet::new(),
            begun: Instant::now(),
            made: 0,
            cut: 0,
        }
    }

    /// Goes on with another prompt, whose steps are still to be made.
    pub(super) fn go_on_with(&mut self, prompt: TurnPrompt, request: Request) {
        // The time of the request before: the cache's age counts from there.
        let previous_at = self.prompt.previous_at;
        self.prompt = TurnPrompt {
            previous_at,
            ..prompt
        };
        self.request = request;
        self.steps.clear();
        self.fleeting.clear();
    }

    pub(super) async fn run(&mut self, exchange: &mut Exchange<'_, '_>) -> Result<(), AnswerError> {
        let mut limit = None;
        loop {
            self.infer_and_tell(exchange).await?;
            let asks = !exchange.reply.tool_calls.is_empty();
            let offers = !self.prompt.composed.draft.tools.is_empty();
            let has_tools = !self.toolbox.tools.is_empty();
            if !asks || !offers || !has_tools || limit.is_some() {
                return self.enter(Phase::StepEnd, exchange).await;
            }
            let counter = self.engine.calibrated_counter().await;
            let counter = counter.unwrap_or_else(|_| self.engine.counter_of_model());
            // Calls after a limit have results, too: an API refuses a call without one.
            limit = Box::pin(self.step(exchange, &counter)).await?;
            self.enter(Phase::StepEnd, exchange).await?;
            self.begin_step(exchange).await?;
            self.compose(limit.as_deref(), &counter)?;
            let result = format_args!("{} tokens", self.prompt.composed.assembly.tokens.0);
            exchange.stages.end("prompt", result);
            (exchange.show)(&ReplyEvent::Typing);
        }
    }

    /// Sends the request of a step that calls no tools.
    pub(super) async fn infer_alone(
        &mut self,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        self.infer_and_tell(exchange).await?;
        self.enter(Phase::StepEnd, exchange).await
    }

    /// Lets the extensions work before the request of another step is made. One that has ended the run keeps it
    /// from being made.
    pub(super) async fn begin_step(
        &mut self,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        self.host.next_step();
        for phase in [Phase::StepStart, Phase::BeforeInference] {
            self.enter(phase, exchange).await?;
        }
        self.check_ended()
    }

    /// Fails if an extension has ended the run.
    pub(super) fn check_ended(&mut self) -> Result<(), AnswerError> {
        match self.host.ended.take() {
            Some(ended) => Err(ended.into()),
            None => Ok(()),
        }
    }

    async fn infer_and_tell(&mut self, exchange: &mut Exchange<'_, '_>) -> Result<(), AnswerError> {
        // Boxed, since all of it together would not fit on the stack of a small thread.
        Box::pin(self.infer(exchange)).await?;
        if self.host.is_empty() {
            return Ok(());
        }
        let phase = Phase::AfterInference(exchange.reply.clone());
        self.enter(phase, exchange).await
    }

    /// Lets the extensions work in a phase.
    async fn enter(
        &mut self,
        phase: Phase,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        if self.host.is_empty() {
            return Ok(());
        }
        let entered = Box::pin(exchange.attend(self.host.enter(phase))).await;
        exchange.stages.tell_extensions(&mut self.host);
        let problems = mem::take(&mut self.host.problems);
        let ledger = &mut self.prompt.composed.assembly.ledger;
        ledger.problems.extend(problems);
        entered
    }

    /// Tells the extensions that the run has ended.
    pub(super) async fn end(
        &mut self,
        problem: Option<&AnswerError>,
        exchange: &mut Exchange<'_, '_>,
    ) {
        // Also where the answer was stopped: extensions have a limit of their own.
        drop(self.enter(Phase::RunEnd(run_end(problem)), exchange).await);
    }

    /// The steps without the messages that only prompts of this turn hold.
    pub(super) fn kept_steps(&self) -> Vec<Message> {
        let steps = self.steps.iter().enumerate();
        let kept = steps.filter(|(place, _)| !self.fleeting.contains(place));
        kept.map(|(_, step)| step.clone()).collect()
    }

    /// Sends the request, and reads the answer to its end.
    async fn infer(&mut self, exchange: &mut Exchange<'_, '_>) -> Result<(), AnswerError> {
        let sent = (self.engine.clock)();
        exchange.is_begun = false;
        for (name, value) in &self.host.parameters {
            self.request.set(name, value);
        }
        let number = u32::try_from(self.inferences.len()).unwrap_or(u32::MAX);
        let run = exchange.run(self.provider, &self.prompt, &self.request, number);
        let ended = run.await;
        match &ended {
            Ok(()) => exchange.stages.end("stream", "whole"),
            Err(error) => exchange.stages.end("stream", error),
        }
        if exchange.is_begun {
            let counter = self.engine.counter();
            let (prompt, request) = (&self.prompt, &self.request);
            let mut record = inference(
                self.provider,
                prompt,
                request,
                &exchange.reply,
                counter,
                sent,
            );
            record.purpose = self.purpose.map(str::to_owned);
            self.inferences.push(record);
            let injected = self.prompt.composed.draft.injected.iter();
            self.host.sent(injected.chain(&self.prompt.told));
            self.prompt.told.clear();
        }
        // The next prompt of the turn continues this one.
        self.prompt.previous_at = Some(sent);
        ended
    }

    /// Calls the tools that the answer asks for, or tells the limit that keeps them from being called.
    async fn step(
        &mut self,
        exchange: &mut Exchange<'_, '_>,
        counter: &Arc<dyn TokenCounter>,
    ) -> Result<Option<String>, AnswerError> {
        let reply = mem::take(&mut exchange.reply);
        let mut calls = calls::of_reply(&reply.tool_calls, &self.steps);
        for call in &mut calls {
            if let Some(refs) = &self.refs {
                call.resolve(refs);
            }
            let phase = Phase::BeforeTool(call.call.clone());
            self.enter(phase, exchange).await?;
            if let Some(reason) = self.host.take_refusal(&call.call.name) {
                call.refuse(&reason);
            }
        }
        let said = said(&reply, &calls);
        let room = self.room(&said, calls.len(), counter.as_ref());
        let limit = self.limit(room);
        let toolbox = &self.toolbox;
        let limits = &toolbox.limits;
        let left = limits.time.saturating_sub(self.begun.elapsed());
        let (results, ended) = match &limit {
            Some(limit) => {
                let text = format!("not called: {limit}; answer with what you have");
                let told = calls.iter().map(|_| CallResult::problem(&text));
                (told.collect(), Ok(()))
            }
            None => {
                self.made += 1;
                let time = limits.call_time.min(left);
                calls::make(toolbox, &calls, time, exchange).await
            }
        };
        self.steps.push(said);
        // The note about a limit has its own room.
        let room = room.max(SMALLEST);
        for (call, result) in calls.iter().zip(&results) {
            let recorded = self
                .recorded(call, result, room, exchange, counter.as_ref())
                .await;
            self.prompt.composed.redacted.extend(recorded.redacted);
            let tokens = counter.count(&recorded.text);
            self.made_calls.push(MadeCall {
                arguments: call.call.arguments.as_str().to_owned(),
                text: recorded.text.clone(),
                is_ok: result.output.is_ok(),
            });
            tell(&mut exchange.stages, call, result, tokens);
            (exchange.show)(&ReplyEvent::Called {
                tool: call.call.name.clone(),
                tokens,
                time: result.time,
                problem: result.output.clone().err(),
            });
            let answered = Message::tool(&call.call.id, recorded.text);
            // The words of the model are for people; what it read is its own.
            self.steps
                .push(answered.with_visibility(Visibility::Internal));
        }
        ended?;
        for (call, result) in calls.into_iter().zip(results) {
            let ended = EndedCall {
                call: call.call,
                result: result.output,
            };
            self.enter(Phase::AfterTool(ended), exchange).await?;
        }
        Ok(limit)
    }

    /// A result as it is recorded. The whole of one that is cut is kept under a handle, where there is a tool
    /// that reads it.
    async fn recorded(
        &mut self,
        call: &Call,
        result: &CallResult,
        room: Tokens,
        exchange: &mut Exchange<'_, '_>,
        counter: &dyn TokenCounter,
    ) -> Recorded {
        let name = &call.call.name;
        let mut recorded = result.cleaned(name);
        if counter.count(&recorded.text) > room {
            let handle = self.keep(&recorded.text, exchange).await;
            recorded.cut(name, room, handle.as_ref(), counter);
        }
        recorded
    }

    /// Keeps the whole of a result, and returns its handle.
    async fn keep(&mut self, whole: &str, exchange: &mut Exchange<'_, '_>) -> Option<ResultId> {
        self.toolbox.tools.spec("expand")?;
        // Copied out: what shows the answer may not be shared with another thread while this waits.
        let kept = exchange.kept.as_ref();
        let (store, lease) = kept.map(|kept| (kept.store, kept.lease.clone()))?;
        let number = self.cut + 1;
        match store.keep_result(&lease, number, whole).await {
            Ok(id) => {
                self.cut = number;
                Some(id)
            }
            Err(error) => {
                tracing::warn!(event = "result_not_kept", %error);
                None
            }
        }
    }

    /// The tokens that each result may have.
    fn room(&self, said: &Message, calls: usize, counter: &dyn TokenCounter) -> Tokens {
        let budget = self.prompt.composed.settings.budget;
        let used = self.prompt.composed.assembly.tokens;
        let used = used.saturating_add(message_cost(said, counter));
        let free = self
            .budget()
            .saturating_sub(used.saturating_add(LAST_WORDS));
        let calls = u32::try_from(calls.max(1)).unwrap_or(u32::MAX);
        // Shared evenly, because nobody knows in advance which result will be long.
        let each = Tokens((free.0 / calls).saturating_sub(AROUND));
        let most = self.toolbox.limits.result;
        each.min(most).min(largest_result(budget))
    }

    /// The budget of prompts with steps.
    fn budget(&self) -> Tokens {
        let composed = &self.prompt.composed;
        let budget = composed.settings.budget;
        budget.saturating_add(self.prompt.room_for_steps)
    }

    /// The limit that keeps the turn from calling any tool, if one is reached.
    pub(super) fn limit_of_turn(&self) -> Option<String> {
        self.limit(SMALLEST)
    }

    /// The limit that is reached, if any is.
    fn limit(&self, room: Tokens) -> Option<String> {
        let limits = &self.toolbox.limits;
        let counts = self.inferences.iter().map(|one| u64::from(one.counted));
        let next = u64::from(self.prompt.composed.assembly.tokens.0);
        let reached = if self.made >= limits.steps {
            counted(limits.steps.into(), "step", "steps")
        } else if self.begun.elapsed() >= limits.time {
            format!("{} seconds", limits.time.as_secs())
        } else if counts.sum::<u64>().saturating_add(next) > limits.tokens {
            format!("{} tokens for all prompts of a turn", limits.tokens)
        } else if room < SMALLEST {
            format!("{} tokens for a prompt", self.budget().0)
        } else {
            return None;
        };
        Some(format!("the limit of {reached} is reached"))
    }

    /// The next prompt, which tells a limit as a problem, and its request.
    pub(super) fn compose(
        &mut self,
        limit: Option<&str>,
        counter: &Arc<dyn TokenCounter>,
    ) -> Result<(), AnswerError> {
        let budget = self.budget();
        let (told, held) = self.host.take_due();
        let before = self.steps.len();
        let composed = &mut self.prompt.composed;
        for message in &told {
            if message.is_prompt_injected() {
                self.fleeting.insert(self.steps.len());
            }
            let key = composed.draft.key.as_deref();
            self.steps.push(message.to_step(key));
        }
        match composed.with_steps(&self.steps, budget, counter.as_ref()) {
            Ok(next) => *composed = next,
            Err(error) => {
                // Nothing was sent, so that the messages wait for another request.
                self.steps.truncate(before);
                self.fleeting.retain(|place| *place < before);
                self.host.put_back(told);
                return Err(TurnError::from(error).into());
            }
        }
        let (ledger, key) = (&mut composed.assembly.ledger, &composed.draft.key);
        ledger.add_context_messages(told.iter(), key.as_deref(), &held, counter.as_ref());
        self.prompt.told = told;
        self.prompt.room_for_steps = Tokens::ZERO;
        if let Some(limit) = limit {
            let message = format!("{limit}, and the model was told to answer with what it has");
            let problem = Problem::new("tools", ProblemKind::LeftOut, message);
            composed.assembly.ledger.problems.push(problem);
        }
        let request = self.prompt.make_request();
        let request = request.ok_or(AnswerError::NoRequest)?;
        self.request = self.provider.prepared(request);
        Ok(())
    }
}

/// The message that calls tools. Where it has no words it is not for people.
fn said(reply: &Reply, calls: &[Call]) -> Message {
    let made = calls.iter().map(|call| call.call.clone()).collect();
    let said = Message::assistant(reply.content())
        .with_tool_calls(made)
        .with_calls_after(&reply.calls_after);
    match reply.text().trim().is_empty() {
        true => said.with_visibility(Visibility::Internal),
        false => said,
    }
}

fn tell(stages: &mut Stages, call: &Call, result: &CallResult, tokens: Tokens) {
    let name = &call.call.name;
    let told = match &result.output {
        Ok(_) => format!("{name}: {} tokens", tokens.0),
        Err(problem) => format!("{name}: {problem}"),
    };
    stages.add("tool", told, result.time);
}
