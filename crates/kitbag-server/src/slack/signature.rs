//! The signature of a request: by the app's secret, over the time and the body as they came.

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use jiff::Timestamp;
use kitbag::provider::Secret;
use sha2::Sha256;

/// A request that is older, or that far in the future, may have been recorded.
const LONGEST: i64 = 300;

/// Checks that Slack sent a request lately.
pub(super) fn check(
    secret: &Secret,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<(), &'static str> {
    let text = |name| headers.get(name)?.to_str().ok();
    let sent = text("x-slack-request-timestamp").ok_or("the request has no time")?;
    let seconds: i64 = sent
        .parse()
        .map_err(|_| "the time of the request is no number")?;
    if now.as_second().abs_diff(seconds) > LONGEST.unsigned_abs() {
        return Err("the request is too old");
    }
    let signature = text("x-slack-signature").and_then(|text| text.strip_prefix("v0="));
    let signature = signature
        .and_then(bytes)
        .ok_or("the request is not signed")?;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes())
        .map_err(|_| "the signing secret cannot be one")?;
    mac.update(b"v0:");
    mac.update(sent.as_bytes());
    mac.update(b":");
    mac.update(body);
    // In constant time.
    mac.verify_slice(&signature)
        .map_err(|_| "the signature is not that of the request")
}

/// The bytes of hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect()
}
