//! Sending a request to an upstream: its bytes as they are, and again only while nothing has come back.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::Upstream;

/// A request without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendFailure {
    /// The address cannot be made of the request's path.
    #[error("the path cannot be asked for at the upstream `{upstream}`")]
    Path { upstream: String },
    /// There is no connection, or it ended before an answer began.
    #[error("the upstream `{upstream}` cannot be reached: {problem}")]
    Unreachable { upstream: String, problem: String },
    /// The answer did not begin in time.
    #[error("the upstream `{upstream}` did not answer within {} s", after.as_secs_f32())]
    Late { upstream: String, after: Duration },
    /// It failed so often that it is left alone.
    #[error("the upstream `{upstream}` failed several times and is left alone for a moment")]
    LeftAlone { upstream: String, wait: Duration },
}

impl SendFailure {
    /// The kind in a word.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Path { .. } => "path",
            Self::Unreachable { .. } => "unreachable",
            Self::Late { .. } => "timeout",
            Self::LeftAlone { .. } => "left_alone",
        }
    }
}

/// The pause before a second attempt, doubled with each.
const PAUSE: Duration = Duration::from_millis(100);

impl Upstream {
    /// Sends a request. Its headers are those of the client, without what concerned its connection.
    pub(crate) async fn send(
        &self,
        head: &Parts,
        body: Bytes,
    ) -> Result<Response<Incoming>, SendFailure> {
        let upstream = || self.name.clone();
        // Asked first: a provider that is down costs its clients no time.
        if let Some(wait) = self.breaker.wait(Instant::now()) {
            let upstream = upstream();
            return Err(SendFailure::LeftAlone { upstream, wait });
        }
        let address = self.address.of_request(&head.uri);
        let address = address.ok_or_else(|| SendFailure::Path {
            upstream: upstream(),
        })?;
        let mut headers = head.headers.clone();
        // A key of the configuration replaces the client's.
        self.add_own(&mut headers);
        let mut attempt = 0;
        loop {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = head.method.clone();
            *request.uri_mut() = address.clone();
            headers.clone_into(request.headers_mut());
            let limit = self.timeouts.first_byte;
            let problem = match timeout(limit, self.client.send(request)).await {
                Ok(Ok(answer)) => {
                    self.breaker.succeeded();
                    return Ok(answer);
                }
                // An error may quote the address, and that may hold a key.
                Ok(Err(error)) => self.scrubbed(error.to_string()),
                Err(_) => {
                    // Not tried again: the request may have reached the model, and would be billed twice.
                    self.breaker.failed(Instant::now());
                    return Err(SendFailure::Late {
                        upstream: upstream(),
                        after: limit,
                    });
                }
            };
            if attempt == self.retries {
                self.breaker.failed(Instant::now());
                return Err(SendFailure::Unreachable {
                    upstream: upstream(),
                    problem,
                });
            }
            tracing::info!(
                event = "upstream_retry",
                upstream = self.name,
                attempt,
                problem
            );
            // Longer each time, so that a provider that restarts is not flooded.
            tokio::time::sleep(PAUSE * 2_u32.saturating_pow(attempt)).await;
            attempt += 1;
        }
    }
}
