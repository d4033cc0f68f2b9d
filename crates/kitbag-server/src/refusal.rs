//! Refusals of requests: the problem and its remedy, in the words of the API that was asked.

use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use kitbag::store::StoreError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::proxy;

/// A refusal, as Kitbag's own endpoints answer with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    kind: &'static str,
    pub(crate) message: String,
    hint: Option<String>,
    pub(crate) retry_after: Option<Duration>,
}

/// The body of a refusal.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorReport<'a> {
    error: ErrorFields<'a>,
}

#[derive(Serialize, JsonSchema)]
struct ErrorFields<'a> {
    /// The kind, for programs: invalid, not_found, unauthorized, forbidden, rate_limit, conflict, gone,
    /// unavailable, too_large, upstream, failed and others.
    kind: &'a str,
    /// The problem, with the value.
    message: &'a str,
    /// The remedy, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            message: message.into(),
            hint: None,
            retry_after: None,
        }
    }

    /// A request that is wrong itself.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message)
    }

    /// Something that is not there, or is another tenant's.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// Work that ended with a bug.
    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", message)
            .hint("the server's log says why")
    }

    /// A store that does not answer. The database's own words may name hosts and users.
    pub(crate) fn no_memory_now() -> Self {
        let what = "the memory cannot be reached at the moment";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", what)
            .retry_after(Duration::from_secs(1))
            .hint("try again")
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.hint_if(Some(hint))
    }

    pub(crate) fn hint_if(mut self, hint: Option<impl Into<String>>) -> Self {
        self.hint = hint.map(Into::into).or(self.hint);
        self
    }

    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The body.
    pub(crate) fn report(&self) -> ErrorReport<'_> {
        ErrorReport {
            error: ErrorFields {
                kind: self.kind,
                message: &self.message,
                hint: self.hint.as_deref(),
            },
        }
    }

    /// The response to a request: to a client of a model's API in that API's words.
    pub(crate) fn to(self, request: &Request) -> Response {
        match proxy::is_proxied(request.uri()) {
            true => proxy::refused(request, self),
            false => self.into_response(),
        }
    }

    /// The message with the hint, for APIs that have one text.
    pub(crate) fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }
}

/// A time to wait in whole seconds. Rounded up: whoever comes back too early is refused again.
pub(crate) fn retry_after(wait: Duration) -> HeaderValue {
    let seconds = wait.as_millis().div_ceil(1_000).max(1);
    HeaderValue::from(u64::try_from(seconds).unwrap_or(u64::MAX))
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::to_string(&self.report()).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, retry_after(wait));
        }
        response
    }
}

impl From<&StoreError> for Refusal {
    /// A failure of the store. The words of a database are for whoever runs the server, and go to the log.
    fn from(error: &StoreError) -> Self {
        let second = Duration::from_secs(1);
        match error {
            StoreError::Missing { .. } => Self::missing(error.to_string()),
            StoreError::Invalid { .. } => Self::invalid(error.to_string()),
            StoreError::Busy { .. } => {
                Self::new(StatusCode::CONFLICT, "conflict", error.to_string()).retry_after(second)
            }
            StoreError::Turn { .. } | StoreError::LeaseLost { .. } => {
                Self::new(StatusCode::CONFLICT, "conflict", error.to_string())
            }
            // Gone for good, since what the prompt was made of was forgotten.
            StoreError::Replay { .. } => Self::new(StatusCode::GONE, "gone", error.to_string()),
            StoreError::Unreachable { .. }
            | StoreError::Unavailable { .. }
            | StoreError::Exhausted { .. }
            | StoreError::Disconnected { .. }
            | StoreError::Locked { .. }
            | StoreError::Conflict { .. } => {
                tracing::error!(event = "store_unavailable", %error);
                Self::no_memory_now()
            }
            _ => {
                tracing::error!(event = "store_failed", %error);
                Self::bug("the memory failed")
            }
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}
