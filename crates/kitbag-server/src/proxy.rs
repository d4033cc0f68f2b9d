//! The endpoints of model providers: requests go on as they come, but for what memory adds, and answers
//! come back as they are.

mod answer;
mod breakpoints;
mod chain;
mod endpoint;
mod forward;
mod guard;
mod headers;
mod identity;
mod learn;
mod memory;
mod models;
mod payer;
mod prepare;
mod refusal;
mod said;
mod splice;
mod whole;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::any;
use http::Uri;

use crate::App;
pub(crate) use headers::own_text;
use refusal::Refusal;
pub(crate) use whole::Buffer;

/// Everything below `/v1`, whatever its method: what is not known here is the upstream's to refuse.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/v1/{*path}", any(forward::forward))
}

/// Returns whether an address is one of a provider's.
pub(crate) fn is_proxied(address: &Uri) -> bool {
    address.path().starts_with("/v1/")
}

/// The refusal of a request before it is looked at, in the words of the API that it belongs to.
pub(crate) fn refused(request: &Request, refusal: crate::refusal::Refusal) -> Response {
    let dialect = endpoint::dialect(request.uri(), request.headers());
    Refusal::from(refusal).into_response(dialect)
}
