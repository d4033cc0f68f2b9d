//! Asking a model, whose answer comes whole or as a stream of events.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Extension, Json};
use futures_util::stream;
use http::{HeaderMap, Method, StatusCode};
use kitbag::Engine;
use kitbag::answer::AnswerError;
use kitbag::core::problem::Problem;
use kitbag::provider::{ProviderError, Providers, ReplyEvent};
use kitbag::receive;
use kitbag::report::AnswerReport;
use kitbag::store::{Action, Incoming, KeyScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::context::MessageInput;
use super::{Answer, Endpoint, schema_of};
use crate::App;
use crate::access::Caller;
use crate::api::input::Input;
use crate::otel::Call;
use crate::refusal::Refusal;

/// A message to answer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskInput {
    /// The message
    message: String,
    /// The sender of the message, `user` unless it is given
    sender: Option<String>,
    /// The channel that it comes in on, `http` unless it is given
    channel: Option<String>,
    /// The conversation, by its name or by its id, such as 7.12; the open one unless it is given
    conversation: Option<String>,
    /// The agent that answers; needed only if the project has several
    agent: Option<String>,
    /// The model that is asked; the agent's or the project's unless it is given
    model: Option<String>,
    /// The most tokens that the prompt may have
    budget: Option<u32>,
    /// Names the request: the same name from the same sender is one turn, also when it is sent again
    idempotency_key: Option<String>,
    /// Answers with server-sent events: text, thinking, called, then done with the whole answer, or error
    #[serde(default)]
    stream: bool,
}

/// An answer, or the reply to a message that is a command, such as `/facts`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Responded {
    Answer(Box<AnswerReport<'static>>),
    Command(CommandReport),
}

#[derive(Serialize, JsonSchema)]
struct CommandReport {
    /// The reply
    text: String,
}

pub(super) fn endpoint() -> Endpoint {
    let answer = Answer::JsonOrEvents(schema_of::<Responded>);
    Endpoint::new(
        Method::POST,
        "/api/v1/ask",
        KeyScope::Write,
        answer,
        post(ask),
    )
    .summary("Asks a model with the context that the message needs, and remembers the exchange")
    .body::<AskInput>()
}

async fn ask(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Input(asked): Input<AskInput>,
) -> Result<Response, Refusal> {
    let message = MessageInput {
        message: asked.message,
        sender: asked.sender,
        channel: asked.channel,
        conversation: asked.conversation,
        agent: asked.agent,
        model: asked.model,
        budget: asked.budget,
    };
    let mut incoming = message.incoming(caller.store.as_ref()).await?;
    if let Some(key) = asked.idempotency_key {
        incoming = incoming.with_idempotency_key(key);
    }
    check_model(&app, &caller, message.model.as_deref())?;
    let engine = app.engines.get(message.choices(), || {
        let built = message.engine(&app)?.configured_provider().build();
        built.map_err(Refusal::from)
    })?;
    let engine = engine.with_store(caller.store.clone());
    // Before anything is stored: a missing key is a mistake of the server's setup, not of the message.
    engine.check()?;
    let (send, mut events) = mpsc::unbounded_channel();
    let (alive, gone) = oneshot::channel();
    // A client that disconnects ends the answer, and the part that arrived is kept.
    let call = Call::begin(&app, &headers);
    // Not tied to the request: learning goes on after the answer, and a client that leaves must not lose what
    // came.
    let work = respond(
        Arc::clone(&app),
        caller,
        engine,
        (incoming, call),
        send,
        gone,
    );
    if !app.in_background(work) {
        let what = "too many answers are being made";
        let busy = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", what);
        return Err(busy.retry_after(Duration::from_secs(1)));
    }
    if asked.stream {
        let events = stream::unfold(Some((events, alive)), async |state| {
            let (mut events, alive) = state?;
            let told = events
                .recv()
                .await
                .unwrap_or_else(|| Told::Failed(broken_off()));
            let is_last = matches!(told, Told::Done(_) | Told::Failed(_));
            let state = (!is_last).then_some((events, alive));
            Some((Ok::<_, Infallible>(told.event()), state))
        });
        let events = Sse::new(events).keep_alive(KeepAlive::default());
        return Ok(events.into_response());
    }
    while let Some(told) = events.recv().await {
        match told {
            Told::Done(body) => return Ok(Json(body).into_response()),
            Told::Failed(refusal) => return Err(refusal),
            // Without a stream only the end matters.
            Told::Piece(..) => {}
        }
    }
    drop(alive);
    Err(broken_off())
}

/// Checks that a caller with a key asks a provider that the operator chose. Others are built in, and one of them starts
/// a program.
fn check_model(app: &App, caller: &Caller, model: Option<&str>) -> Result<(), Refusal> {
    let Some(model) = model.filter(|_| caller.key.is_some()) else {
        return Ok(());
    };
    let variable = |name: &str| std::env::var(name).ok();
    let project = &app.project;
    let providers = Providers::new(&project.config, &project.root, &variable);
    if providers.is_chosen_by_user(model) {
        return Ok(());
    }
    let what = format!(
        "the provider of `{}` is not one of this server's",
        model.escape_debug()
    );
    let refusal = Refusal::new(StatusCode::FORBIDDEN, "forbidden", what);
    Err(refusal.hint("its operator can declare it under `providers:`"))
}

/// The work of an answer ended without a last word, with a bug or with the server.
fn broken_off() -> Refusal {
    Refusal::bug("the answer broke off")
}

/// Something to tell a client.
enum Told {
    /// A piece of the answer, by its kind.
    Piece(&'static str, Value),
    /// The whole of it.
    Done(Value),
    Failed(Refusal),
}

impl Told {
    fn event(self) -> Event {
        let (name, data) = match self {
            Self::Piece(name, data) => (name, data),
            Self::Done(data) => ("done", data),
            Self::Failed(refusal) => {
                let data = serde_json::to_value(refusal.report());
                ("error", data.unwrap_or_default())
            }
        };
        Event::default().event(name).data(data.to_string())
    }
}

/// Responds to a message, tells how it goes, and learns from it afterwards.
async fn respond(
    app: Arc<App>,
    caller: Caller,
    engine: Engine,
    (incoming, mut call): (Incoming, Option<Call>),
    send: mpsc::UnboundedSender<Told>,
    gone: oneshot::Receiver<()>,
) {
    // Whoever has left hears nothing.
    let tell = |told| drop(send.send(told));
    let mut show = |event: &ReplyEvent| {
        if let (Some(call), ReplyEvent::Text(_) | ReplyEvent::Thinking(_)) = (&mut call, event) {
            call.begins_to_answer();
        }
        if let Some((name, data)) = piece(event) {
            tell(Told::Piece(name, data));
        }
    };
    let stop = pin!(async { drop(gone.await) });
    let turn = match engine.turn(incoming) {
        Ok(turn) => turn,
        Err(error) => {
            if let Some(call) = call {
                call.forget();
            }
            return tell(Told::Failed(error.into()));
        }
    };
    let answer = match engine.respond(turn, &mut show, stop).await {
        Ok(receive::Response::Answer(answer)) => answer,
        Ok(receive::Response::Command(reply)) => {
            if let Some(call) = call {
                call.forget();
            }
            let text = reply.text;
            tell(Told::Done(json!(CommandReport { text })));
            if let Some(closed) = reply.closed {
                tell_problems(&engine.learn_from(closed).await.problems);
            }
            return;
        }
        Err(error) => {
            match (call, &error) {
                (Some(mut call), AnswerError::Provider { .. }) => call.failed("provider"),
                (Some(call), _) => call.forget(),
                (None, _) => {}
            }
            return tell(Told::Failed(error.into()));
        }
    };
    if let Some(call) = call {
        describe(call, &answer);
    }
    if let Some(usage) = answer.usage() {
        // Also for an answer that nobody waits for any more: it was billed.
        caller.spend(&app, &usage);
    }
    let turn = answer.turn.as_ref().map(|turn| turn.id.to_string());
    if let Some(store) = &caller.store
        && let Err(error) = store
            .audit(caller.key_id(), Action::Ask, turn.as_deref(), (app.clock)())
            .await
    {
        tracing::error!(event = "audit_failed", %error);
    }
    // Asked before the client is told: a client that asks again at once must not overtake it.
    let after = engine.after(&answer).await;
    tell(Told::Done(json!(AnswerReport::of(&answer))));
    // Ends the client's stream; learning below is none of its business.
    drop(send);
    if let Some(after) = after {
        tell_problems(&engine.learn_after(after).await.problems);
    }
}

/// Tells of the call that an answer came from; of all its calls as one where tools were called.
fn describe(mut call: Call, answer: &kitbag::answer::Answer) {
    call.speaks(answer.request.dialect);
    if let Some(model) = answer.request.model() {
        call.names(model);
    }
    if let Some(turn) = &answer.turn {
        let conversation = turn.id.conversation().to_string();
        call.tell("gen_ai.conversation.id", conversation);
    }
    call.answered(&answer.reply);
    call.billed(answer.usage());
}

/// A piece of an answer as an event; none for what programs need not know.
fn piece(event: &ReplyEvent) -> Option<(&'static str, Value)> {
    Some(match event {
        ReplyEvent::Text(text) => ("text", json!({"text": text})),
        ReplyEvent::Thinking(text) => ("thinking", json!({"text": text})),
        ReplyEvent::Called {
            tool,
            tokens,
            problem,
            ..
        } => (
            "called",
            json!({"tool": tool, "tokens": tokens.0, "problem": problem}),
        ),
        ReplyEvent::Queued => ("queued", json!({})),
        _ => return None,
    })
}

pub(crate) fn tell_problems(problems: &[Problem]) {
    for problem in problems {
        tracing::warn!(event = "learning", %problem);
    }
}

impl From<AnswerError> for Refusal {
    fn from(error: AnswerError) -> Self {
        let hint = error.hint();
        let message = error.to_string();
        match error {
            AnswerError::Refused(_) => {
                Self::new(StatusCode::FORBIDDEN, "forbidden", message).hint_if(hint)
            }
            AnswerError::Command(_) => Self::invalid(message).hint_if(hint),
            AnswerError::Turn(error) => error.into(),
            AnswerError::Store { error, .. } => error.into(),
            AnswerError::Provider { error, .. } => Self::from(error),
            AnswerError::Stopped { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", message)
            }
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", message).hint_if(hint),
        }
    }
}

impl From<ProviderError> for Refusal {
    fn from(error: ProviderError) -> Self {
        let message = error.to_string();
        let hint = error.hint();
        match error {
            ProviderError::UnknownModel { .. } => Self::invalid(message).hint_if(hint),
            ProviderError::Status {
                status: 429,
                retry_after,
                ..
            } => {
                let refusal = Self::new(StatusCode::TOO_MANY_REQUESTS, "upstream", message);
                // Passed on, since only the provider knows when its limit ends.
                let wait = retry_after.unwrap_or(Duration::from_secs(1));
                refusal.hint_if(hint).retry_after(wait)
            }
            ProviderError::Timeout { .. } => {
                Self::new(StatusCode::GATEWAY_TIMEOUT, "upstream", message).hint_if(hint)
            }
            _ => Self::new(StatusCode::BAD_GATEWAY, "upstream", message).hint_if(hint),
        }
    }
}
