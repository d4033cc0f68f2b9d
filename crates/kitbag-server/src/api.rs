//! Kitbag's own endpoints, in one table of which the routes and their description are made.

mod ask;
mod context;
mod conversations;
mod difference;
mod fit;
mod input;
mod memory;
mod openapi;
mod pack;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::response::IntoResponse as _;
use axum::routing::{MethodRouter, get};
use axum::{Json, Router, middleware};
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use kitbag::store::KeyScope;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use tokio::time::timeout;

pub(crate) use ask::tell_problems;

use crate::refusal::Refusal;
use crate::{App, access};

/// An endpoint: its route, who may ask it, and the shapes of what goes in and comes out.
pub(crate) struct Endpoint {
    method: Method,
    path: &'static str,
    scope: KeyScope,
    summary: &'static str,
    /// The shape of the body.
    body: Option<SchemaOf>,
    /// The shape of the query.
    query: Option<SchemaOf>,
    answer: Answer,
    handler: MethodRouter<Arc<App>>,
}

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The form of an answer.
pub(crate) enum Answer {
    Json(SchemaOf),
    /// JSON, or a stream of events where the request asks for one.
    JsonOrEvents(SchemaOf),
    /// Lines of JSON.
    Lines,
    Text,
    /// A text, or the JSON of a request to a provider.
    Prompt,
}

impl Endpoint {
    fn new(
        method: Method,
        path: &'static str,
        scope: KeyScope,
        answer: Answer,
        handler: MethodRouter<Arc<App>>,
    ) -> Self {
        Self {
            method,
            path,
            scope,
            summary: "",
            body: None,
            query: None,
            answer,
            handler,
        }
    }

    fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(schema_of::<T>);
        self
    }

    fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(schema_of::<T>);
        self
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn json<T: JsonSchema>() -> Answer {
    Answer::Json(schema_of::<T>)
}

/// All of them.
fn endpoints() -> Vec<Endpoint> {
    let mut all = vec![pack::endpoint(), context::endpoint(), ask::endpoint()];
    all.extend(memory::endpoints());
    all.extend(conversations::endpoints());
    all.extend(turns::endpoints());
    all.push(fit::endpoint());
    all.push(
        Endpoint::new(
            Method::GET,
            "/metrics",
            KeyScope::Admin,
            Answer::Text,
            get(metrics),
        )
        .summary("Counters for Prometheus"),
    );
    all
}

/// The endpoints that are asked as somebody.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let mut router = Router::new();
    for endpoint in endpoints() {
        // Each route checks its own scope, so that an endpoint without a check cannot be written.
        let state = (Arc::clone(app), endpoint.scope);
        let needs = middleware::from_fn_with_state(state, access::needs);
        router = router.route(endpoint.path, endpoint.handler.layer(needs));
    }
    router
        .layer(DefaultBodyLimit::max(
            app.project.config.server.largest_body(),
        ))
        .method_not_allowed_fallback(async || {
            let what = "the endpoint has no such method";
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", what)
                .hint("`/openapi.json` lists the methods")
        })
}

/// The endpoints that anybody may ask: they tell whether the server is well and what it can do, and nothing
/// else.
pub(crate) fn open_routes() -> Router<Arc<App>> {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/readyz/memory", get(memory_ready))
        .route("/openapi.json", get(async || Json(openapi::document())))
}

/// Says whether requests can be answered: not while the server stops. Without its memory it is ready, since requests
/// to models go on: a balancer that took all nodes away with their database would end them, too.
async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    match app.is_stopping() {
        true => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
        false => (StatusCode::OK, "ready\n"),
    }
}

/// Says whether the memory answers, too.
async fn memory_ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if app.is_stopping() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    let Some(store) = &app.store else {
        return (StatusCode::OK, "there is no memory\n");
    };
    // The cheapest question that needs the database to answer.
    let problem = match timeout(LONGEST_CHECK, store.has_keys()).await {
        Ok(Ok(_)) => return (StatusCode::OK, "ready\n"),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer in time".to_owned(),
    };
    tracing::error!(event = "memory_not_ready", problem);
    let what = "the memory cannot be reached\n";
    (StatusCode::SERVICE_UNAVAILABLE, what)
}

/// A check waits no longer for the memory: whoever asks has a limit of its own, which is a few seconds as a rule.
const LONGEST_CHECK: Duration = Duration::from_secs(2);

async fn metrics(State(app): State<Arc<App>>) -> axum::response::Response {
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, app.metrics.text()).into_response()
}
