//! Each request as a line of the log and in the metrics: method, route, status, time, and whose key. Never
//! what was said, nor an address with its query.

mod metrics;

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderName;
use http::header::X_CONTENT_TYPE_OPTIONS;
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::access::Caller;
use crate::{App, proxy};

pub(crate) use metrics::{Event, Metrics};

/// The header of a request's name. One that a client or a balancer gave is kept if it is a plain word.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Runs a request, and tells what became of it.
pub(crate) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request_id(&request);
    let method = request.method().clone();
    let is_proxied = proxy::is_proxied(request.uri());
    let route = request.extensions().get::<MatchedPath>();
    // A path that no route matches is a stranger's words.
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    let span = tracing::info_span!("request", id = id.as_str());
    let mut response = next.run(request).instrument(span).await;
    let status = response.status().as_u16();
    let took = begun.elapsed();
    app.metrics.count(&route, status, took);
    let caller = response.extensions().get::<Caller>();
    tracing::info!(
        event = "request",
        id,
        %method,
        route,
        status,
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        key = caller.and_then(Caller::key_id),
    );
    if !is_proxied {
        // No browser takes an export for a script.
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    // The upstream of a proxied request has named it already.
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().entry(REQUEST_ID).or_insert(value);
    }
    response
}

fn request_id(request: &Request) -> String {
    let given = request.headers().get(REQUEST_ID);
    let given = given.and_then(|value| value.to_str().ok());
    let is_plain = |id: &&str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        (1..=64).contains(&id.len()) && id.chars().all(is_word)
    };
    let made = || format!("{:016x}", getrandom::u64().unwrap_or_default());
    given.filter(is_plain).map_or_else(made, str::to_owned)
}
