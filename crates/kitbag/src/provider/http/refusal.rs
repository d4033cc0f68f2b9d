//! A refused request: the words of the provider, without the key that they may repeat.

use std::time::Duration;

use http::response::Parts;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde_json::Value;

use super::retry;
use crate::provider::key::scrubbed;
use crate::provider::{ProviderError, Secret};

/// The most bytes of an error that are read.
const MOST: usize = 64 << 10;

/// The most characters of an error that are shown.
const SHOWN: usize = 400;

/// The longest wait for the text of an error.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn read(
    head: &Parts,
    body: Incoming,
    address: String,
    secrets: &[Secret],
) -> ProviderError {
    // The status alone is an answer: a body that is too long or too slow is left out.
    let body = tokio::time::timeout(PATIENCE, Limited::new(body, MOST).collect()).await;
    let body = body.ok().and_then(Result::ok).map(|body| body.to_bytes());
    let text = body.map(|body| String::from_utf8_lossy(&body).into_owned());
    ProviderError::Status {
        address,
        status: head.status.as_u16(),
        // Scrubbed before it is shortened: half of a key would not be recognised.
        message: shortened(&scrubbed(secrets, message(&text.unwrap_or_default()))),
        retry_after: retry::after(&head.headers),
    }
}

/// The message of an error: that of a JSON object in one of the usual shapes, or else the whole text.
fn message(body: &str) -> String {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    let places = ["/error/message", "/message", "/error", "/detail"].into_iter();
    let mut said = places.filter_map(|place| json.pointer(place)?.as_str());
    said.next().unwrap_or(body).trim().to_owned()
}

/// On one line, and not too long.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
