//! The endpoints whose requests are read, and the API of all others.

use http::{HeaderMap, Method, Uri};
use kitbag::wire::Dialect;

/// The part of an API that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A model answers.
    Answer,
    /// The tokens of a request are counted.
    Count,
    /// Anything else, which is passed on without being read.
    Other,
}

impl Endpoint {
    pub(super) fn of(method: &Method, address: &Uri) -> Self {
        match (address.path(), method == Method::POST) {
            ("/v1/messages" | "/v1/chat/completions" | "/v1/responses", true) => Self::Answer,
            ("/v1/messages/count_tokens" | "/v1/responses/input_tokens", true) => Self::Count,
            _ => Self::Other,
        }
    }
}

/// The API that a request belongs to.
pub(super) fn dialect(address: &Uri, headers: &HeaderMap) -> Dialect {
    let path = address.path();
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
