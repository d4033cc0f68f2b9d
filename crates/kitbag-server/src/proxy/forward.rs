//! A request on its way to the upstream of its model, and the answer on its way back.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::Method;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue,
};
use http::request::Parts;
use kitbag::provider::ReplyReader;
use kitbag::store::KeyScope;
use kitbag::wire::Dialect;

use super::answer::Answer;
use super::endpoint::{Endpoint, dialect, model_of};
use super::headers;
use super::learn::Learner;
use super::models;
use super::payer::Payer;
use super::prepare::{Prepared, prepare};
use super::refusal::Refusal;
use super::said::ReadBody;
use super::whole::{Held, whole};
use crate::App;
use crate::access::{Caller, deny};
use crate::observe::Event;
use crate::otel::Call;
use crate::upstream::Upstream;

/// Sends a request on to the upstream of its model.
pub(super) async fn forward(State(app): State<Arc<App>>, request: Request) -> Response {
    let dialect = dialect(request.uri(), request.headers());
    match try_forward(&app, request, dialect).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(dialect),
    }
}

async fn try_forward(
    app: &Arc<App>,
    request: Request,
    dialect: Dialect,
) -> Result<Response, Refusal> {
    let (mut head, body) = request.into_parts();
    let endpoint = Endpoint::of(&head.method, &head.uri);
    let largest = app.project.config.server.largest_body();
    let client = head.extensions.get::<Caller>();
    let client = client.filter(|caller| caller.key.is_some());
    let client = client.map(Caller::name);
    let (body, held) = whole(body, largest, Held::new(&app.buffer, client)).await?;
    let upstream = match endpoint {
        Endpoint::Models => return models::list(app, head, dialect).await,
        Endpoint::Model => {
            let model = model_of(&head.uri);
            app.upstreams.of_model(model.as_deref(), dialect)
        }
        _ => app.upstreams.choose(&body, dialect),
    };
    if endpoint == Endpoint::Other && upstream.has_key() {
        check_admin(app, &head).await?;
    }
    let Prepared {
        body,
        told,
        learner,
    } = match endpoint {
        Endpoint::Answer | Endpoint::Count => {
            prepare(app, &head, body, (dialect, endpoint)).await?
        }
        _ => Prepared::unchanged(body),
    };
    let learner = learner.filter(|_| endpoint == Endpoint::Answer);
    let caller = head.extensions.get::<Caller>().cloned();
    let mut payer = caller.map(|caller| Payer::new(app, caller));
    if let Some(payer) = payer.as_mut().filter(|_| is_billed(&head, endpoint)) {
        payer.estimate_request(&body, endpoint);
    }
    headers::for_upstream(&mut head.headers);
    let is_counted = payer.as_ref().is_some_and(Payer::is_limited);
    if (learner.is_some() || is_counted) && head.headers.contains_key(ACCEPT_ENCODING) {
        // An answer that is compressed could not be read.
        let plain = HeaderValue::from_static("identity");
        head.headers.insert(ACCEPT_ENCODING, plain);
    }
    let mut call = match endpoint {
        Endpoint::Answer => Call::begin(app, &head.headers),
        _ => None,
    };
    if let Some(call) = &mut call {
        describe(call, upstream, dialect, &body);
        let conversation = learner.as_ref().and_then(Learner::conversation);
        if let Some(name) = conversation {
            call.tell("gen_ai.conversation.id", name);
        }
    }
    let answer = upstream.send(&head, body).await.inspect_err(|failure| {
        app.metrics.note(Event::UpstreamFailed, failure.kind());
        if let Some(call) = &mut call {
            call.failed(failure.kind());
        }
    })?;
    // Nothing is sent again from here on.
    drop(held);
    let (mut head, body) = answer.into_parts();
    headers::for_client(&mut head.headers);
    if let Some(call) = call.as_mut().filter(|_| !head.status.is_success()) {
        call.failed(head.status.as_str());
    }
    let is_read = endpoint == Endpoint::Answer
        && head.status.is_success()
        && !head.headers.contains_key(CONTENT_ENCODING);
    let is_stream = is_read && is_stream(&head.headers);
    if is_stream {
        // One that breaks off gets an event more.
        head.headers.remove(CONTENT_LENGTH);
    }
    let answer = Answer {
        body,
        dialect,
        idle: upstream.timeouts.idle,
        is_stream,
        reader: ReplyReader::new(dialect).filter(|_| is_read),
        learner,
        call,
        payer: payer.filter(|_| head.status.is_success()),
    };
    head.headers.extend(told);
    Ok(Response::from_parts(head, answer.into_body()))
}

/// Checks that a request for what a provider keeps may be sent with the operator's key: behind that key are the things
/// of all tenants.
async fn check_admin(app: &App, head: &Parts) -> Result<(), Refusal> {
    match head.extensions.get::<Caller>() {
        Some(caller) if !caller.may(KeyScope::Admin) => {
            Err(deny(app, caller, KeyScope::Admin).await.into())
        }
        _ => Ok(()),
    }
}

/// Returns whether a model answers a request, for tokens.
fn is_billed(head: &Parts, endpoint: Endpoint) -> bool {
    match endpoint {
        Endpoint::Answer | Endpoint::Complete | Endpoint::Numbers => true,
        Endpoint::Count | Endpoint::Models | Endpoint::Model => false,
        // Batches and the like.
        Endpoint::Other => {
            let kind = head.headers.get(CONTENT_TYPE);
            let kind = kind.and_then(|kind| kind.to_str().ok());
            head.method == Method::POST
                && kind.is_some_and(|kind| kind.starts_with("application/json"))
        }
    }
}

/// Tells what a call is about.
fn describe(call: &mut Call, upstream: &Upstream, dialect: Dialect, body: &[u8]) {
    call.speaks(dialect);
    call.asks(body);
    let (host, port) = upstream.place();
    call.tell("server.address", host);
    if let Some(port) = port {
        call.tell("server.port", port);
    }
    if call.tells_content()
        && let Some(read) = ReadBody::read(dialect, body)
    {
        let said = read.messages.into_iter();
        call.said(said.map(|message| (message.role, message.texts.join("\n\n"))));
    }
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}
