//! A request on its way: memory added, sent to the upstream of its model, the answer passed on.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue,
};
use http::request::Parts;
use http::{HeaderName, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kitbag::layout::ProxyMemory;
use kitbag::provider::ReplyReader;
use kitbag::store::Store;
use kitbag::wire::Dialect;
use tokio::time::timeout;

use super::answer::Answer;
use super::endpoint::{Endpoint, dialect};
use super::headers;
use super::identity::Identity;
use super::learn::Learner;
use super::memory::Asked;
use super::refusal::Refusal;
use super::said::ReadBody;
use crate::App;
use crate::access::Caller;

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
    let Memory {
        body,
        told,
        learner,
    } = match endpoint {
        Endpoint::Answer | Endpoint::Count => remember(app, &head, body, dialect).await,
        Endpoint::Other => Memory::none(body),
    };
    let learner = learner.filter(|_| endpoint == Endpoint::Answer);
    let caller = head.extensions.get::<Caller>().cloned();
    headers::for_upstream(&mut head.headers);
    if learner.is_some() && head.headers.contains_key(ACCEPT_ENCODING) {
        // An answer that is compressed could not be read.
        let plain = HeaderValue::from_static("identity");
        head.headers.insert(ACCEPT_ENCODING, plain);
    }
    let answer = upstream.send(&head, body).await?;
    let (mut head, body) = answer.into_parts();
    headers::for_client(&mut head.headers);
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
        caller: caller.map(|caller| (Arc::clone(app), caller)),
    };
    head.headers.extend(told);
    Ok(Response::from_parts(head, answer.into_body()))
}

/// A request after memory was asked.
struct Memory {
    body: Bytes,
    /// Headers that tell the client what was done.
    told: HeaderMap,
    learner: Option<Learner>,
}

/// Tells what memory brings to the newest question: `added`, `none` if nothing relevant is known, `off` if it
/// is not asked, or `unavailable`.
const MEMORY: HeaderName = HeaderName::from_static("x-kitbag-memory");
/// Tells how many tokens of a request are memory, by estimate.
const TOKENS: HeaderName = HeaderName::from_static("x-kitbag-memory-tokens");

impl Memory {
    fn none(body: Bytes) -> Self {
        Self {
            body,
            told: HeaderMap::new(),
            learner: None,
        }
    }

    fn told(mut self, what: &'static str) -> Self {
        self.told.insert(MEMORY, HeaderValue::from_static(what));
        self
    }
}

/// Adds what is remembered, as long as that takes no longer than it may. An error is told and holds nothing
/// up.
async fn remember(app: &Arc<App>, head: &Parts, body: Bytes, dialect: Dialect) -> Memory {
    let Some((store, mode)) = memory_for(head) else {
        return Memory::none(body);
    };
    let config = &app.project.config;
    let Some(read) = ReadBody::read(dialect, &body) else {
        return Memory::none(body).told("unavailable");
    };
    let has_tools = read.has_tools;
    let identity = Identity::of(&head.headers, &read, config.hooks.scope());
    let is_admitted = config.channels.admit(&identity.channel, &identity.sender);
    // Coding agents have the model name sessions and the like: what needs no tools is no work.
    if !is_admitted || (identity.agent.is_some() && !has_tools) {
        return Memory::none(body).told("off");
    }
    let asked = Asked::new(identity, read);
    let budget = config.server.memory_budget();
    let added = asked.added(&store, budget, (app.clock)());
    let added = timeout(config.server.memory_time_limit(), added).await;
    let mut memory = match added {
        Ok(Ok(added)) => {
            let mut memory = Memory::none(added.put_into(&body));
            let tokens = added.tokens.0;
            memory.told.insert(TOKENS, HeaderValue::from(tokens));
            memory.told(if added.is_asked { "added" } else { "none" })
        }
        Ok(Err(error)) => {
            tracing::warn!(event = "memory_failed", problem = %error);
            Memory::none(body).told("unavailable")
        }
        Err(_) => {
            tracing::warn!(event = "memory_late");
            Memory::none(body).told("unavailable")
        }
    };
    memory.learner = (mode == ProxyMemory::On).then(|| Learner {
        app: Arc::clone(app),
        store,
        asked,
    });
    memory
}

/// The memory of the caller, and what may be done with it: no more than is configured, and no more than the
/// request says.
fn memory_for(head: &Parts) -> Option<(Store, ProxyMemory)> {
    let caller = head.extensions.get::<Caller>()?;
    let said = head.headers.get(MEMORY);
    // Whoever says something that is not understood did not ask for more.
    let said = said.map(|said| {
        let word = said.to_str().unwrap_or_default().trim();
        ProxyMemory::of_word(word).unwrap_or(ProxyMemory::Off)
    });
    let mode = caller.memory.max(said.unwrap_or_default());
    let store = caller.store.clone()?;
    (mode != ProxyMemory::Off).then_some((store, mode))
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
