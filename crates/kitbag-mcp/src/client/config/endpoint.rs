//! The address and the headers of a server over HTTP, as a file names them.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Uri, header};
use kitbag::provider::Secret;
use serde_json::Value;

use super::{Endpoint, expand, text};

/// Headers that the protocol itself sets.
const RESERVED: [&str; 6] = [
    "accept",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

pub(super) fn read(
    url: &Value,
    json: &Value,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Endpoint, String> {
    let is_legacy_sse = match json.get("type").and_then(Value::as_str) {
        // Coding agents write the same transport in these ways.
        None | Some("http" | "streamable-http" | "streamableHttp") => false,
        Some("sse") => true,
        Some(other) => {
            return Err(format!(
                "its `type` is `{other}`, and a server with a `url` is `http` or `sse`"
            ));
        }
    };
    // Errors show the address as the file has it: with its variables replaced it may hold a key.
    let written = url.as_str().unwrap_or_default();
    let address = text(url, "url", variable)?;
    let address: Uri = address
        .parse()
        .map_err(|_| format!("its `url` is `{written}`, which is no address"))?;
    let host = address.authority().map(|authority| authority.as_str());
    match (address.scheme_str(), host) {
        // Errors and logs name the host, so that a password in front of it would be shown.
        (Some("http" | "https"), Some(host)) if host.contains('@') => {
            return Err("its `url` has a name or a password: put it into `headers`".to_owned());
        }
        (Some("http" | "https"), Some(_)) => {}
        _ => {
            return Err(format!(
                "its `url` is `{written}`, and must begin with https:// or http://"
            ));
        }
    }
    let mut endpoint = Endpoint {
        // Some services take their key as a parameter of the address.
        secrets: address.query().map(Secret::new).into_iter().collect(),
        address,
        headers: HeaderMap::new(),
        is_legacy_sse,
    };
    match json.get("headers") {
        None | Some(Value::Null) => {}
        Some(Value::Object(headers)) => {
            for (name, value) in headers {
                endpoint.add(name, value, variable)?;
            }
        }
        Some(_) => return Err("`headers` is no object".to_owned()),
    }
    Ok(endpoint)
}

impl Endpoint {
    fn add(
        &mut self,
        name: &str,
        value: &Value,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        let written = value
            .as_str()
            .ok_or_else(|| format!("the header `{name}` is no text"))?;
        let value = expand(written, variable)
            .map_err(|problem| format!("the header `{name}` cannot be sent: {problem}"))?;
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("`{name}` is no name of a header"))?;
        if RESERVED.contains(&header.as_str()) {
            return Err(format!(
                "the header `{name}` is set by the protocol: remove it"
            ));
        }
        let mut sent = HeaderValue::from_str(&value)
            .map_err(|_| format!("the value of `{name}` cannot stand in a header"))?;
        // Keeps the value out of debug output.
        sent.set_sensitive(true);
        // A server may repeat a key in an error, without the `Bearer` before it.
        let key = match header == header::AUTHORIZATION {
            true => value.rsplit(' ').next().unwrap_or(&value),
            false => &value,
        };
        self.secrets.push(Secret::new(key));
        self.headers.insert(header, sent);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(json: &Value) -> String {
        let variable = |name: &str| (name == "KEY").then(|| "sesame-1234".to_owned());
        let read = read(json.get("url").unwrap(), json, &variable);
        read.err().unwrap_or_default()
    }

    #[test]
    fn an_address_is_read_with_its_variables_and_headers() {
        let url = "https://example.com/mcp?key=${KEY}";
        for kind in [
            json!(null),
            json!("http"),
            json!("streamable-http"),
            json!("sse"),
        ] {
            let headers = json!({"Authorization": "Bearer ${KEY}"});
            let json = json!({"type": kind, "url": url, "headers": headers});
            assert_eq!(problem(&json), "");
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_told_without_its_key() {
        for (json, told) in [
            (json!({"url": "ftp://x/${KEY}"}), "must begin with https://"),
            (
                json!({"url": "https://a:${KEY}@x/"}),
                "put it into `headers`",
            ),
            (json!({"url": "https://${KEY} x/"}), "no address"),
            (json!({"url": "https://x", "type": "ws"}), "is `ws`"),
            (
                json!({"url": "https://x", "headers": {"A": "${NO}"}}),
                "the header `A` cannot be sent: the variable `NO` is not set",
            ),
            (
                json!({"url": "https://x", "headers": {"a b": "c"}}),
                "no name of a header",
            ),
            (
                json!({"url": "https://x", "headers": {"A": "${KEY}\n"}}),
                "cannot stand in",
            ),
            (
                json!({"url": "https://x", "headers": {"Accept": "x"}}),
                "set by the protocol",
            ),
        ] {
            let problem = problem(&json);
            assert!(problem.contains(told), "{problem}");
            assert!(!problem.contains("sesame"), "{problem}");
        }
    }
}
