//! The endpoints of model providers: requests go on as they come, but for what memory adds, and answers
//! come back as they are.

mod answer;
mod chain;
mod endpoint;
mod forward;
mod guard;
mod headers;
mod identity;
mod learn;
mod memory;
mod prepare;
mod refusal;
mod said;
mod splice;

use std::sync::Arc;

use axum::Router;
use axum::routing::any;

use crate::App;

/// Everything below `/v1`, whatever its method: what is not known here is the upstream's to refuse.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/v1/{*path}", any(forward::forward))
}
