//! The endpoints whose requests are read, those that keep nothing, and the API of all others.

use std::borrow::Cow;

use http::{HeaderMap, Method, Uri};
use kitbag::wire::Dialect;

/// The part of an API that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A model answers a conversation.
    Answer,
    /// The tokens of a request are counted.
    Count,
    /// A model goes on with a text.
    Complete,
    /// A model answers with numbers or pictures, whose bytes are no tokens.
    Numbers,
    /// The models are listed.
    Models,
    /// A model is described.
    Model,
    /// Anything else.
    Other,
}

impl Endpoint {
    pub(super) fn of(method: &Method, address: &Uri) -> Self {
        let path = plain(address.path());
        match (&*path, method) {
            ("/v1/messages" | "/v1/chat/completions" | "/v1/responses", &Method::POST) => {
                Self::Answer
            }
            ("/v1/messages/count_tokens" | "/v1/responses/input_tokens", &Method::POST) => {
                Self::Count
            }
            ("/v1/completions" | "/v1/responses/compact", &Method::POST) => Self::Complete,
            (
                "/v1/embeddings" | "/v1/moderations" | "/v1/rerank" | "/v1/images/generations",
                &Method::POST,
            ) => Self::Numbers,
            ("/v1/models", &Method::GET) => Self::Models,
            (_, &Method::GET) if model_of(address).is_some() => Self::Model,
            _ => Self::Other,
        }
    }
}

/// The model that an address describes.
pub(super) fn model_of(address: &Uri) -> Option<String> {
    let path = plain(address.path());
    let name = path.strip_prefix("/v1/models/")?;
    let decoded = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
    (!name.contains('/')).then(|| decoded.into_owned())
}

/// The API that a request belongs to.
pub(super) fn dialect(address: &Uri, headers: &HeaderMap) -> Dialect {
    let path = plain(address.path());
    let is_under = |place: &str| {
        let rest = path.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match () {
        () if is_under("/v1/messages") => Dialect::Anthropic,
        () if is_under("/v1/responses") => Dialect::Responses,
        () if is_under("/v1/chat") => Dialect::OpenAi,
        () if headers.contains_key("anthropic-version") => Dialect::Anthropic,
        () => Dialect::OpenAi,
    }
}

/// A path with one slash wherever it has several, and none at its end: providers do not tell these apart.
fn plain(path: &str) -> Cow<'_, str> {
    if !path.contains("//") && !path.ends_with('/') {
        return Cow::Borrowed(path);
    }
    let parts = path.split('/').filter(|part| !part.is_empty());
    Cow::Owned(parts.flat_map(|part| ["/", part]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x06_slashes_too_many_make_no_other_endpoint() {
        let of = |path: &str| Endpoint::of(&Method::POST, &path.parse().unwrap());
        for path in ["/v1/messages", "/v1/messages/", "/v1//messages?beta=true"] {
            assert_eq!(of(path), Endpoint::Answer, "{path}");
            let dialect = dialect(&path.parse().unwrap(), &HeaderMap::new());
            assert_eq!(dialect, Dialect::Anthropic, "{path}");
        }
        assert_eq!(of("/v1/messages/batches"), Endpoint::Other);
        let read = |path: &str| Endpoint::of(&Method::GET, &path.parse().unwrap());
        assert_eq!(read("/v1/models/gpt-4o"), Endpoint::Model);
        let model = model_of(&"/v1/models/org%2Fllama".parse().unwrap());
        assert_eq!(model.as_deref(), Some("org/llama"));
        assert_eq!(read("/v1/models/x/files"), Endpoint::Other);
        assert_eq!(read("/v1/responses/resp_1"), Endpoint::Other);
    }
}
