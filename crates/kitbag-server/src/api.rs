//! Kitbag's own endpoints.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use http::StatusCode;

use crate::App;

/// The endpoints that anybody may ask: they tell whether the server is well, and nothing else.
pub(crate) fn open_routes() -> Router<Arc<App>> {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
}

/// The endpoints that are asked as somebody.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
}

async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    match app.is_stopping() {
        false => (StatusCode::OK, "ready\n"),
        true => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
    }
}
