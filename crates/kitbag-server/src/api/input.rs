//! Reading bodies and queries, with errors that say which value is wrong.

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use http::StatusCode;
use http::request::Parts;
use kitbag::core::tokens::Tokens;
use kitbag::store::{MessageTime, Store};
use serde::de::DeserializeOwned;

use crate::access::Caller;
use crate::refusal::Refusal;

/// A body of JSON.
pub(super) struct Input<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Input<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let read = Json::from_request(request, state).await;
        read.map(|Json(input)| Self(input)).map_err(|rejection| {
            let status = rejection.status();
            match (&rejection, status) {
                // Required, because a browser's page can send other types without asking for permission.
                (JsonRejection::MissingJsonContentType(_), _) => {
                    let what = "the body is not marked as JSON";
                    Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", what)
                        .hint("send `content-type: application/json`")
                }
                (_, StatusCode::PAYLOAD_TOO_LARGE) => {
                    let what = "the body is larger than this server takes";
                    Refusal::new(status, "too_large", what)
                        .hint("`server: {largest_body: 64M}` says how much it takes")
                }
                _ => Refusal::invalid(told(&rejection.body_text()))
                    .hint("`/openapi.json` describes the body"),
            }
        })
    }
}

/// The query of an address.
pub(super) struct Asked<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = Query::from_request_parts(parts, state).await;
        read.map(|Query(asked)| Self(asked))
            .map_err(|rejection: QueryRejection| {
                Refusal::invalid(told(&rejection.body_text()))
                    .hint("`/openapi.json` describes the query")
            })
    }
}

/// The id in a path.
pub(super) struct Named<T>(pub(super) T);

impl<S: Send + Sync, T> FromRequestParts<S> for Named<T>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let id: Result<Path<String>, _> = Path::from_request_parts(parts, state).await;
        let Path(id) = id.map_err(|rejection| Refusal::invalid(told(&rejection.body_text())))?;
        let id = id.parse().map_err(|error: T::Err| {
            let hint = "`/api/v1/conversations` lists the conversations";
            Refusal::invalid(error.to_string()).hint(hint)
        })?;
        Ok(Self(id))
    }
}

/// The memory of whoever asks.
pub(super) fn memory(caller: &Caller) -> Result<&Store, Refusal> {
    caller.store.as_ref().ok_or_else(|| {
        let what = "this server has no memory";
        Refusal::new(StatusCode::NOT_FOUND, "no_memory", what)
            .hint("start it without `--no-memory`")
    })
}

/// A time in a request.
pub(super) fn time(name: &str, text: Option<&str>) -> Result<Option<MessageTime>, Refusal> {
    let read = |text: &str| {
        MessageTime::parse(text).ok_or_else(|| {
            let text = text.escape_debug();
            let what = format!("`{name}` is `{text}`, and not a time such as 2024-05-01");
            Refusal::invalid(what)
        })
    };
    text.map(read).transpose()
}

/// A budget in a request.
pub(super) fn budget(tokens: Option<u32>) -> Result<Option<Tokens>, Refusal> {
    match tokens {
        // Zero would be refused later with an error about pinned parts, which nobody would understand.
        Some(0) => Err(Refusal::invalid(
            "`budget` is 0, and a prompt needs some tokens",
        )),
        Some(tokens) if tokens > MOST_TOKENS => {
            let what = format!("`budget` is {tokens}, and may be at most {MOST_TOKENS}");
            Err(Refusal::invalid(what))
        }
        tokens => Ok(tokens.map(Tokens)),
    }
}

const MOST_TOKENS: u32 = 2_000_000;

/// The limit of a list, within what an endpoint gives.
pub(super) fn limit(asked: Option<u32>, usual: u32, most: u32) -> Result<u32, Refusal> {
    match asked.unwrap_or(usual) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        limit => {
            let what = format!("`limit` is {limit}, and may be 1 to {most}");
            Err(Refusal::invalid(what))
        }
    }
}

/// A message of axum, as ours begin.
fn told(text: &str) -> String {
    let text = text
        // Our errors begin with what is wrong.
        .trim_start_matches("Failed to deserialize the JSON body into the target type: ")
        .trim_start_matches("Failed to parse the request body as JSON: ")
        .trim_start_matches("Failed to deserialize query string: ");
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "the request cannot be read".to_owned(),
    }
}
