//! Refusals of our own, as the errors of the API that a client speaks.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use kitbag::wire::Dialect;
use serde_json::json;

use crate::refusal::retry_after;
use crate::upstream::SendFailure;

/// A request that is answered here, with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
    /// When to come back; nothing where that would not help.
    pub(super) retry_after: Option<Duration>,
    /// The name that OpenAI has for it.
    pub(super) code: Option<&'static str>,
}

/// Official clients try again unless this says `false`.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

impl Refusal {
    /// A refusal that will be the same the next time.
    pub(super) fn permanent(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            retry_after: None,
            code: None,
        }
    }

    /// The refusal as a response that a client of the API understands.
    pub(super) fn into_response(self, dialect: Dialect) -> Response {
        let body = error_json(dialect, self.status, &self.message, self.code);
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match self.retry_after {
            Some(wait) => {
                headers.insert(RETRY_AFTER, retry_after(wait));
            }
            // Else official clients would repeat a request that can only fail.
            None => drop(headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"))),
        }
        response
    }
}

impl From<crate::refusal::Refusal> for Refusal {
    fn from(refusal: crate::refusal::Refusal) -> Self {
        Self {
            status: refusal.status,
            message: refusal.text(),
            retry_after: refusal.retry_after,
            code: None,
        }
    }
}

impl From<SendFailure> for Refusal {
    fn from(failure: SendFailure) -> Self {
        let message = failure.to_string();
        // Failures of a connection are short; the client may try again soon.
        let second = Some(Duration::from_secs(1));
        let (status, retry_after) = match failure {
            SendFailure::Path { .. } => (StatusCode::BAD_REQUEST, None),
            SendFailure::Unreachable { .. } => (StatusCode::BAD_GATEWAY, second),
            SendFailure::Late { .. } => (StatusCode::GATEWAY_TIMEOUT, second),
            SendFailure::LeftAlone { wait, .. } => (StatusCode::SERVICE_UNAVAILABLE, Some(wait)),
        };
        Self {
            status,
            message,
            retry_after,
            code: None,
        }
    }
}

/// An error as the API's own are.
pub(super) fn error_json(
    dialect: Dialect,
    status: StatusCode,
    message: &str,
    code: Option<&str>,
) -> String {
    // So that nobody looks for the fault at the provider.
    let message = format!("kitbag: {message}");
    let kind = match (status.as_u16(), dialect) {
        (401, Dialect::Anthropic) => "authentication_error",
        (403, Dialect::Anthropic) => "permission_error",
        (413, Dialect::Anthropic) => "request_too_large",
        (429, Dialect::Anthropic) => "rate_limit_error",
        (503, Dialect::Anthropic) => "overloaded_error",
        (500.., Dialect::Anthropic) => "api_error",
        (500.., _) => "server_error",
        _ => "invalid_request_error",
    };
    let error = match dialect {
        Dialect::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        _ => json!({"error": {"message": message, "type": kind, "param": null, "code": code}}),
    };
    error.to_string()
}
