//! A request on its way to the upstream of its model, and the answer on its way back.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue,
};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kitbag::provider::ReplyReader;
use kitbag::wire::Dialect;

use super::answer::Answer;
use super::endpoint::{Endpoint, dialect};
use super::headers;
use super::learn::Learner;
use super::prepare::{Prepared, prepare};
use super::refusal::Refusal;
use super::said::ReadBody;
use crate::App;
use crate::access::Caller;
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
    let body = whole(body, app.project.config.server.largest_body()).await?;
    let upstream = app.upstreams.choose(&body, dialect);
    let Prepared {
        body,
        told,
        learner,
    } = match endpoint {
        Endpoint::Answer | Endpoint::Count => prepare(app, &head, body, dialect).await?,
        Endpoint::Other => Prepared::unchanged(body),
    };
    let learner = learner.filter(|_| endpoint == Endpoint::Answer);
    let caller = head.extensions.get::<Caller>().cloned();
    headers::for_upstream(&mut head.headers);
    if learner.is_some() && head.headers.contains_key(ACCEPT_ENCODING) {
        // An answer that is compressed could not be read.
        let plain = HeaderValue::from_static("identity");
        head.headers.insert(ACCEPT_ENCODING, plain);
    }
    let mut call = match endpoint {
        Endpoint::Answer => Call::begin(app, &head.headers),
        Endpoint::Count | Endpoint::Other => None,
    };
    if let Some(call) = &mut call {
        describe(call, upstream, dialect, &body);
        let conversation = learner.as_ref().and_then(Learner::conversation);
        if let Some(name) = conversation {
            call.tell("gen_ai.conversation.id", name);
        }
    }
    let answer = upstream.send(&head, body).await.inspect_err(|failure| {
        if let Some(call) = &mut call {
            call.failed(failure.kind());
        }
    })?;
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
        caller: caller.map(|caller| (Arc::clone(app), caller)),
    };
    head.headers.extend(told);
    Ok(Response::from_parts(head, answer.into_body()))
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

/// The bytes of a request.
async fn whole(body: Body, most: usize) -> Result<Bytes, Refusal> {
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal::permanent(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request has more than {most} bytes, the most that this server takes"),
        )),
        Err(error) => Err(Refusal::permanent(
            StatusCode::BAD_REQUEST,
            format!("the request cannot be read: {error}"),
        )),
    }
}
