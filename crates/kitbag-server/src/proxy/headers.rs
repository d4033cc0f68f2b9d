//! Headers that concern one connection, or Kitbag alone, and are not sent on.

use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST};
use http::{HeaderMap, HeaderName};

/// Those of one connection, as RFC 9110 has them.
const OF_CONNECTION: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The beginning of the names of our own.
pub(super) const OWN: &str = "x-kitbag-";

/// The text of a header of our own, whose bytes are UTF-8 as most clients send it; nothing if it is missing.
///
/// # Errors
/// When it is there and says nothing: blank, as a variable that is not set leaves it, or no text. Whoever sends it
/// means something by it, so that it must not count as missing.
pub(crate) fn own_text(
    headers: &HeaderMap,
    name: &'static str,
) -> Result<Option<String>, &'static str> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) if !text.trim().is_empty() => Ok(Some(text.to_owned())),
        _ => Err(name),
    }
}

/// Leaves of a client's headers those that an upstream should see.
pub(super) fn for_upstream(headers: &mut HeaderMap) {
    remove_connection(headers);
    // They follow from the address and the body.
    for name in [HOST, CONTENT_LENGTH, EXPECT] {
        headers.remove(name);
    }
    let own = headers.keys().filter(|name| name.as_str().starts_with(OWN));
    let own: Vec<HeaderName> = own.cloned().collect();
    for name in own {
        headers.remove(name);
    }
}

/// Leaves of an upstream's headers those that a client should see.
pub(super) fn for_client(headers: &mut HeaderMap) {
    remove_connection(headers);
}

fn remove_connection(headers: &mut HeaderMap) {
    let named = headers.get_all(CONNECTION).into_iter();
    let named = named.filter_map(|value| value.to_str().ok());
    let named = named.flat_map(|value| value.split(','));
    let named = named.filter_map(|name| name.trim().parse().ok());
    let named: Vec<HeaderName> = named.collect();
    for name in named {
        headers.remove(name);
    }
    for name in OF_CONNECTION {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_one_connection_stay_there() {
        let mut headers = HeaderMap::new();
        let all = [
            ("connection", "close, x-once"),
            ("x-once", "1"),
            ("te", "trailers"),
            ("host", "here"),
            ("x-kitbag-memory", "off"),
            ("anthropic-beta", "b,a"),
            ("authorization", "Bearer x"),
        ];
        for (name, value) in all {
            headers.insert(name, value.parse().unwrap());
        }
        for_upstream(&mut headers);
        let left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["anthropic-beta", "authorization"]);
    }
}
