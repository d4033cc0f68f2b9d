//! Slack: messages to the app are answered in their thread, and the answer is shown while it comes.
//!
//! A message is acknowledged as soon as it is kept; Slack waits three seconds for that, and delivers it again if it
//! cannot be kept. A thread of a channel is a conversation that all who speak there share, whose sender is the channel; a direct
//! message is its sender's own.

mod client;
mod event;
mod post;
mod signature;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use http::{HeaderMap, StatusCode};
use kitbag::Engine;
use kitbag::answer::AnswerError;
use kitbag::core::role::Role;
use kitbag::layout::SlackSettings;
use kitbag::provider::{Key, ProviderError, ReplyEvent, Secret};
use kitbag::receive;
use kitbag::store::{ConversationChoice, Incoming, NewMessage, StoreError};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::App;
use crate::api::tell_problems;
use crate::engines::Choices;
use crate::refusal::Refusal;
use client::Client;
use event::{Delivery, Said};

/// A Slack app.
#[derive(Debug)]
pub struct Slack {
    signing_secret: Secret,
    client: Client,
    /// The latest messages: Slack delivers one again where its acknowledgement was late.
    seen: Mutex<BTreeSet<String>>,
    /// The names of those who spoke lately.
    names: Mutex<BTreeMap<String, String>>,
}

/// The most messages and names to keep in memory.
const MOST: usize = 10_000;

impl Slack {
    /// The app of a configuration. Its secrets are read here.
    ///
    /// # Errors
    /// When a secret is missing, or when the address is none.
    pub fn open(
        settings: &SlackSettings,
        root: &std::path::Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderError> {
        let read = |source| match Key::of(source, root, variable) {
            Some(key) => key.read("slack"),
            None => Err(ProviderError::Setting {
                provider: "slack".to_owned(),
                problem: "its secret is at a place that is not known".to_owned(),
            }),
        };
        Ok(Self {
            signing_secret: read(&settings.signing_secret)?,
            client: Client::new(&settings.base_url, read(&settings.token)?)?,
            seen: Mutex::default(),
            names: Mutex::default(),
        })
    }

    /// Notes a message, and returns whether it is new.
    fn is_new(&self, said: &Said) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MOST {
            // Times begin the keys, so that the oldest goes.
            seen.pop_first();
        }
        seen.insert(said.key())
    }

    /// Forgets a message, which is then new when it is delivered again.
    fn forget(&self, said: &Said) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.remove(&said.key());
    }

    /// The name of a speaker, as Slack shows it; the id where it does not say.
    async fn name(&self, user: &str) -> String {
        let lock = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = lock().get(user).cloned() {
            return name;
        }
        let asked = timeout(LONGEST_NAME, self.client.name(user)).await;
        let name = match asked.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
            Ok(name) => name,
            Err(problem) => {
                tracing::warn!(event = "slack_name", problem);
                return user.to_owned();
            }
        };
        let mut names = lock();
        if names.len() >= MOST {
            // All at once: names are looked up again, and no order of use has to be kept.
            names.clear();
        }
        names.insert(user.to_owned(), name.clone());
        name
    }
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/slack/events", post(receive_event))
}

/// Receives an event. Nothing is done before the signature, its age and the body that it covers are checked.
async fn receive_event(State(app): State<Arc<App>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(slack) = &app.slack else {
        let what = "this server has no Slack app";
        return Refusal::missing(what)
            .hint("`server: {slack: …}` in kitbag.yaml declares one")
            .into_response();
    };
    let now = (app.clock)();
    if let Err(problem) = signature::check(&slack.signing_secret, &headers, &body, now) {
        tracing::warn!(event = "slack_refused", problem);
        let refusal = Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", problem);
        return refusal.into_response();
    }
    match Delivery::read(&body) {
        Some(Delivery::Challenge(challenge)) => {
            Json(json!({ "challenge": challenge })).into_response()
        }
        Some(Delivery::Said(said)) if slack.is_new(&said) => {
            let (send, accepted) = oneshot::channel();
            let begun = Accepting(Some(send));
            let work = answer(Arc::clone(&app), Arc::clone(slack), said.clone(), begun);
            app.in_background(work);
            if let Ok(Ok(())) = timeout(LONGEST_ACCEPTING, accepted).await {
                return StatusCode::OK.into_response();
            }
            tracing::error!(event = "slack_not_accepted");
            // Slack delivers it again. If it is kept meanwhile, its key makes one turn of both.
            slack.forget(&said);
            Refusal::no_memory_now().into_response()
        }
        // What is no message to the app, or was delivered before, is acknowledged all the same.
        _ => StatusCode::OK.into_response(),
    }
}

/// Slack waits three seconds.
const LONGEST_ACCEPTING: Duration = Duration::from_secs(2);
/// Without its name by then, a speaker has an id.
const LONGEST_NAME: Duration = Duration::from_secs(1);

/// Tells the waiting request that the message is stored. If it is dropped, the message was not stored.
struct Accepting(Option<oneshot::Sender<()>>);

impl Accepting {
    fn accept(&mut self) {
        if let Some(send) = self.0.take() {
            // Nobody waits any more if it took too long.
            let _ = send.send(());
        }
    }
}

/// Answers a message in its thread.
async fn answer(app: Arc<App>, slack: Arc<Slack>, said: Said, accepting: Accepting) {
    let engine = app.engines.get(Choices::default(), || {
        let engine = Engine::builder().project(Arc::clone(&app.project));
        engine.clock(app.clock).configured_provider().build()
    });
    let engine = match engine {
        Ok(engine) => engine.with_store(app.store.clone()),
        Err(error) => {
            tracing::error!(event = "slack_no_engine", %error);
            return;
        }
    };
    let name = slack.name(&said.user).await;
    let (send, pieces) = mpsc::unbounded_channel();
    let posted = post::stream(&slack.client, &said, pieces);
    let answered = respond(&app, &engine, incoming(&said, name), (send, accepting));
    // Side by side, since one shows what the other makes.
    let ((), after) = tokio::join!(posted, answered);
    if let Some(after) = after {
        tell_problems(&engine.learn_after(after).await.problems);
    }
}

/// The message as the engine takes it. Its key makes one turn of a message that is delivered twice, whichever
/// node it comes to.
fn incoming(said: &Said, name: String) -> Incoming {
    let message = NewMessage::new(Role::User, said.text.as_str()).with_speaker(name);
    let mut incoming = Incoming::new("slack", said.sender(), message);
    if let Some(conversation) = said.conversation() {
        incoming.conversation = ConversationChoice::Named(conversation);
    }
    incoming.with_idempotency_key(said.key())
}

/// Something to post.
enum Piece {
    /// The next words.
    Text(String),
    /// All that there is to say.
    Whole(String),
}

async fn respond(
    app: &App,
    engine: &Engine,
    incoming: Incoming,
    (send, mut accepting): (mpsc::UnboundedSender<Piece>, Accepting),
) -> Option<kitbag::learn::AfterTurn> {
    let tell = |piece| drop(send.send(piece));
    let mut show = |event: &ReplyEvent| match event {
        ReplyEvent::Accepted => accepting.accept(),
        // Nothing is kept, so that there is nothing to wait for.
        ReplyEvent::Typing if app.store.is_none() => accepting.accept(),
        ReplyEvent::Text(text) => tell(Piece::Text(text.clone())),
        _ => {}
    };
    let turn = match engine.turn(incoming) {
        Ok(turn) => turn,
        Err(error) => {
            tracing::error!(event = "slack_no_turn", %error);
            return None;
        }
    };
    let never = pin!(std::future::pending());
    let responded = engine.respond(turn, &mut show, never).await;
    let is_kept = accepting.0.is_none();
    match &responded {
        // Slack delivers it again; a word about it would come again with each delivery.
        Err(AnswerError::Store { error, .. }) if !is_kept && !is_elsewhere(error) => {
            tracing::error!(event = "slack_not_kept", %error);
            return None;
        }
        // It is kept already, or need not be.
        _ => accepting.accept(),
    }
    match responded {
        Ok(receive::Response::Answer(answer)) => {
            if let Some(usage) = answer.usage() {
                app.metrics.count_usage(&usage);
            }
            // The whole again: words that were shown may have been replaced by a second attempt.
            tell(Piece::Whole(answer.text()));
            engine.after(&answer).await
        }
        Ok(receive::Response::Command(reply)) => {
            tell(Piece::Whole(reply.text));
            None
        }
        // Another node answers it, or has answered it, or nobody may.
        Err(AnswerError::Store { error, .. }) if is_elsewhere(&error) => None,
        Err(AnswerError::Refused(_)) => None,
        Err(AnswerError::Command(error)) => {
            tell(Piece::Whole(error.to_string()));
            None
        }
        Err(error) => {
            tracing::error!(event = "slack_not_answered", %error);
            tell(Piece::Whole(SORRY.to_owned()));
            None
        }
    }
}

/// Returns true if the message is one that another request has brought.
const fn is_elsewhere(error: &StoreError) -> bool {
    matches!(error, StoreError::Turn { .. } | StoreError::Busy { .. })
}

const SORRY: &str = "I could not answer that. The log of the server says why.";
