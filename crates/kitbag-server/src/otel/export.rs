//! A collector that takes one kind of signal.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use kitbag::provider::HttpClient;
use serde_json::Value;
use tokio::time::timeout;

/// The address that one kind of signal is posted to.
#[derive(Debug)]
pub(super) struct Target {
    address: Uri,
    client: HttpClient,
    /// Keys for the collector among them.
    headers: HeaderMap,
    limit: Duration,
}

const CONNECT: Duration = Duration::from_secs(5);
/// A collector has nothing longer to say.
const LARGEST: usize = 1 << 20;

impl Target {
    pub(super) fn new(
        address: Uri,
        mut headers: HeaderMap,
        limit: Duration,
    ) -> Result<Self, String> {
        let client = HttpClient::new(&address, CONNECT)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self {
            address,
            client,
            headers,
            limit,
        })
    }

    /// Posts it. What a collector does not take is lost, and that is logged.
    pub(super) async fn send(&self, body: Value) {
        let problem = match timeout(self.limit, self.post(body)).await {
            Ok(Ok(status)) if status.is_success() => return,
            Ok(Ok(status)) => format!("it answered {status}"),
            Ok(Err(problem)) => problem,
            Err(_) => "it did not answer in time".to_owned(),
        };
        tracing::warn!(event = "telemetry_lost", problem);
    }

    async fn post(&self, body: Value) -> Result<http::StatusCode, String> {
        let mut request = Request::new(Full::new(Bytes::from(body.to_string())));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.address.clone();
        self.headers.clone_into(request.headers_mut());
        let answer = self.client.send(request).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let (head, body) = answer.into_parts();
        // Read to its end, so that the connection can be used again.
        drop(Limited::new(body, LARGEST).collect().await);
        Ok(head.status)
    }
}
