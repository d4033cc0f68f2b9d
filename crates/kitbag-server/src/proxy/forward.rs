//! Sending a request on and its answer back, byte for byte.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use http::{HeaderMap, StatusCode, Uri};
use http_body_util::{BodyExt as _, BodyStream, LengthLimitError, Limited};
use kitbag::wire::Dialect;

use super::headers;
use super::refusal::Refusal;
use crate::App;

/// Sends a request on to the upstream of its model.
pub(super) async fn forward(State(app): State<Arc<App>>, request: Request) -> Response {
    let dialect = dialect(request.uri(), request.headers());
    match try_forward(&app, request, dialect).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(dialect),
    }
}

async fn try_forward(app: &App, request: Request, dialect: Dialect) -> Result<Response, Refusal> {
    let (mut head, body) = request.into_parts();
    let body = whole(body, app.project.config.server.largest_body()).await?;
    headers::for_upstream(&mut head.headers);
    let upstream = app.upstreams.choose(None, dialect);
    let answer = upstream.send(&head, body).await?;
    let (mut head, body) = answer.into_parts();
    headers::for_client(&mut head.headers);
    let frames = BodyStream::new(body).try_filter_map(async |frame| Ok(frame.into_data().ok()));
    Ok(Response::from_parts(head, Body::from_stream(frames)))
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

/// The bytes of a request.
async fn whole(body: Body, most: usize) -> Result<Bytes, Refusal> {
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal::permanent(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request has more than {most} bytes, the most that this server takes"),
        )),
        Err(error) => Err(Refusal::permanent(
            StatusCode::BAD_REQUEST,
            format!("the request cannot be read: {error}"),
        )),
    }
}
