//! Sends a request to an upstream: its bytes unchanged, and retried only before the first byte of an answer.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::Upstream;
use super::breaker::Failure;
use crate::access::Caller;

/// A request without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendFailure {
    /// The address cannot be made of the request's path.
    #[error("the path cannot be asked for at the upstream `{upstream}`")]
    Path { upstream: String },
    /// There is no connection, or it ended before an answer began.
    #[error("the upstream `{upstream}` cannot be reached")]
    Unreachable { upstream: String },
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

/// The pause before a second attempt, doubled with each. Up to half of it is left out, so that requests which failed
/// together do not come back together.
const PAUSE: Duration = Duration::from_millis(100);

impl Upstream {
    /// Sends a request. Its headers are those of the client, without what concerned its connection.
    pub(crate) async fn send(
        &self,
        head: &Parts,
        body: Bytes,
    ) -> Result<Response<Incoming>, SendFailure> {
        let upstream = || self.name.clone();
        let address = self.address.of_request(&head.uri);
        // Before the breaker, whose one attempt a request that cannot be sent would waste.
        let address = address.ok_or_else(|| SendFailure::Path {
            upstream: upstream(),
        })?;
        // A provider that is down costs its clients no time.
        if let Some(wait) = self.breaker.wait(Instant::now()) {
            let upstream = upstream();
            return Err(SendFailure::LeftAlone { upstream, wait });
        }
        let caller = head.extensions.get::<Caller>().map(Caller::name);
        let no_answer = Failure::NoAnswer(caller.as_deref().unwrap_or_default());
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
            let (failure, problem) = match timeout(limit, self.client.send(request)).await {
                Ok(Ok(answer)) => {
                    self.breaker.succeeded();
                    return Ok(answer);
                }
                // An error may quote the address, and that may hold a key.
                Ok(Err(error)) => match error.is_connect() {
                    true => (Failure::Connect, self.scrubbed(error.to_string())),
                    false => (no_answer, self.scrubbed(error.to_string())),
                },
                Err(_) => {
                    // Not tried again: the request may have reached the model, and would be billed twice.
                    self.note(no_answer);
                    return Err(SendFailure::Late {
                        upstream: upstream(),
                        after: limit,
                    });
                }
            };
            if attempt == self.retries {
                self.note(failure);
                // For the operator alone: it may name machines of the operator's network.
                tracing::warn!(
                    event = "upstream_unreachable",
                    upstream = self.name,
                    problem
                );
                return Err(SendFailure::Unreachable {
                    upstream: upstream(),
                });
            }
            tracing::info!(
                event = "upstream_retry",
                upstream = self.name,
                attempt,
                problem
            );
            // Longer each time, so that a provider that restarts is not flooded.
            tokio::time::sleep(pause(attempt, getrandom::u32().unwrap_or_default())).await;
            attempt += 1;
        }
    }

    fn note(&self, failure: Failure<'_>) {
        if self.breaker.failed(failure, Instant::now()) {
            tracing::warn!(event = "upstream_left_alone", upstream = self.name);
        }
    }
}

fn pause(attempt: u32, random: u32) -> Duration {
    let longest = PAUSE * 2_u32.saturating_pow(attempt);
    let left_out = longest.mul_f64(0.5 * f64::from(random) / f64::from(u32::MAX));
    longest.saturating_sub(left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x06_pauses_grow_and_differ() {
        assert_eq!([pause(0, 0), pause(1, 0)], [PAUSE, 2 * PAUSE]);
        assert_eq!(pause(1, u32::MAX), PAUSE);
        // Whatever a configuration says, it is a pause and no panic.
        assert!(pause(40, 7) > pause(20, 7));
    }
}
