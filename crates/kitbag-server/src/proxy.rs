//! The endpoints of model providers: requests are sent on as they come, and so are answers.

mod forward;
mod headers;
mod refusal;

use std::sync::Arc;

use axum::Router;
use axum::routing::any;

use crate::App;

/// Everything below `/v1`, whatever its method: what is not known here is the upstream's to refuse.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/v1/{*path}", any(forward::forward))
}
