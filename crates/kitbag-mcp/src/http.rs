//! A server over HTTP: each request is answered by itself, so that any node answers any of them.
//!
//! Access is checked by whoever hands a request in: keys, origins and hosts.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use hyper::body::Body;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use crate::Server;
use crate::server::Causes;

/// Answers a request of a client in either era of the protocol. No session is kept: the scope of the server
/// says whose memory is meant.
pub async fn answer_http<B>(
    mut server: Server,
    request: Request<B>,
    largest_body: usize,
) -> Response<BoxBody<Bytes, Infallible>>
where
    B: Body<Data: Send> + Send + 'static,
    B::Error: Display,
{
    server.causes = Causes::Logged;
    #[cfg(feature = "conformance")]
    if crate::conformance::is_asked_for() {
        return crate::conformance::answer_http(server, request, largest_body).await;
    }
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(largest_body)
        .disable_allowed_hosts();
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    service.handle(request).await
}
