//! Who may ask: a server without keys answers programs on its own machine, and no pages of browsers.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, StatusCode, Uri};
use kitbag::layout::ProxyMemory;
use kitbag::store::Store;

use crate::App;

/// Whoever sent a request, as the check of access found. Handlers find it among the request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The memory of the caller's tenant; nothing where none is used.
    pub(crate) store: Option<Store>,
    /// The most that may be done with it.
    pub(crate) memory: ProxyMemory,
}

/// An address that a server without keys does not listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} can be reached from other machines, and there is no key that would keep them out")]
pub struct BindError(SocketAddr);

impl BindError {
    /// What to do about it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "listen on 127.0.0.1"
    }
}

/// Checks that only programs of this machine reach an address.
///
/// # Errors
/// When others do.
pub fn check_bind(address: SocketAddr) -> Result<(), BindError> {
    match address.ip().is_loopback() {
        true => Ok(()),
        false => Err(BindError(address)),
    }
}

/// Lets a request through that may come in, with its [`Caller`].
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(header) = foreign(request.headers()) {
        let problem = format!("this server answers programs of its own machine: see `{header}`\n");
        return (StatusCode::FORBIDDEN, problem).into_response();
    }
    let caller = Caller {
        store: app.store.clone(),
        memory: app.project.config.server.memory(),
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// The header by which a page of a browser is known: one from elsewhere names its origin, and one that had
/// this machine's address put under its own name asks for that host.
fn foreign(headers: &HeaderMap) -> Option<HeaderName> {
    let text = |name: &HeaderName| Some(headers.get(name)?.to_str().unwrap_or_default());
    if let Some(origin) = text(&ORIGIN) {
        let origin: Option<Uri> = origin.parse().ok();
        if !origin.is_some_and(|origin| origin.host().is_some_and(is_local)) {
            return Some(ORIGIN);
        }
    }
    let host: Option<Authority> = text(&HOST)?.parse().ok();
    match host.is_some_and(|host| is_local(host.host())) {
        true => None,
        false => Some(HOST),
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let address: Option<std::net::IpAddr> = address.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}
