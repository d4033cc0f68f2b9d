//! The transport of servers over HTTP: requests through Kitbag's own client, answers as JSON or as events.
//!
//! No redirect is followed, since headers hold keys. No stream stays open between calls. Errors name the
//! host alone: the rest of an address may be a key.

mod events;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use kitbag::provider::HttpClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::http_header::HEADER_SESSION_ID;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::config::Endpoint;

/// The most bytes of a refusal that are read.
const LONGEST_REFUSAL: usize = 64 << 10;

/// The largest message, as over stdio.
const LARGEST: usize = 16 << 20;

/// A server over HTTP, and its latest problem.
#[derive(Clone)]
pub(super) struct HttpServer(Arc<Inner>);

struct Inner {
    client: HttpClient,
    endpoint: Endpoint,
    time: Duration,
    problem: Mutex<Option<String>>,
}

/// A problem of the transport. [`HttpServer::problem`] keeps it too, since the layers above drop it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct HttpProblem(String);

type Failed = StreamableHttpError<HttpProblem>;

impl HttpServer {
    /// A server, with the longest wait for the head of each answer.
    pub(super) fn new(endpoint: Endpoint, time: Duration) -> Result<Self, String> {
        let client = HttpClient::new(&endpoint.address, time)?;
        Ok(Self(Arc::new(Inner {
            client,
            endpoint,
            time,
            problem: Mutex::default(),
        })))
    }

    pub(super) fn transport(&self) -> StreamableHttpClientTransport<Self> {
        // The requests go to our own address; the one given here only appears in messages.
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.host());
        config.allow_stateless = true;
        StreamableHttpClientTransport::with_client(self.clone(), config)
    }

    /// The reason of the latest failure, once.
    pub(super) fn problem(&self) -> Option<String> {
        let mut problem = self
            .0
            .problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        problem.take()
    }

    fn fail(&self, problem: String) -> Failed {
        let secrets = self.0.endpoint.secrets.iter();
        // A server may repeat a header of the request in its error.
        let problem = secrets.fold(problem, |problem, secret| secret.scrubbed(problem));
        let mut latest = self
            .0
            .problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *latest = Some(problem.clone());
        StreamableHttpError::Client(HttpProblem(problem))
    }

    fn host(&self) -> String {
        let address = &self.0.endpoint.address;
        let host = address.authority().map_or("", |host| host.as_str());
        format!("{}://{host}", address.scheme_str().unwrap_or_default())
    }

    async fn send(
        &self,
        method: Method,
        body: Vec<u8>,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response<Incoming>, Failed> {
        let endpoint = &self.0.endpoint;
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        request.uri_mut().clone_from(&endpoint.address);
        let sent = request.headers_mut();
        sent.extend(headers);
        let version = concat!("kitbag/", env!("CARGO_PKG_VERSION"));
        sent.insert(header::USER_AGENT, HeaderValue::from_static(version));
        let json = HeaderValue::from_static("application/json");
        sent.insert(header::CONTENT_TYPE, json);
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        sent.insert(header::ACCEPT, accepted);
        // The file cannot name headers of the protocol; it may replace the user agent.
        for (name, value) in &endpoint.headers {
            sent.insert(name, value.clone());
        }
        if let Some(session) = session {
            let wrong = |_| self.fail("it gave a session that is no header".to_owned());
            let session = HeaderValue::from_str(session).map_err(wrong)?;
            sent.insert(HeaderName::from_static("mcp-session-id"), session);
        }
        match tokio::time::timeout(self.0.time, self.0.client.send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                Err(self.fail(format!("`{}` cannot be reached: {error}", self.host())))
            }
            Err(_) => {
                let millis = self.0.time.as_millis();
                Err(self.fail(format!(
                    "`{}` gave no answer within {millis} ms",
                    self.host()
                )))
            }
        }
    }
}

impl HttpServer {
    /// Reads a whole answer, up to a length and within the time of an answer.
    async fn body(&self, body: Incoming, most: usize) -> Result<Bytes, Failed> {
        let read = tokio::time::timeout(self.0.time, Limited::new(body, most).collect()).await;
        match read {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                Err(self.fail(format!("its answer has more than {most} bytes")))
            }
            Ok(Err(_)) => Err(self.fail("its answer broke off".to_owned())),
            Err(_) => Err(self.fail("its answer did not end in time".to_owned())),
        }
    }

    /// The problem with an answer that is no success, with advice.
    async fn refused(&self, response: Response<Incoming>, asked: &ClientJsonRpcMessage) -> Refused {
        let status = response.status();
        let location = response.headers().get(header::LOCATION).cloned();
        let endpoint = &self.0.endpoint;
        let is_asked_to_sign_in =
            matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if status.is_redirection() {
            let target =
                location.and_then(|target| target.to_str().ok()?.parse::<http::Uri>().ok());
            let host = target.and_then(|target| target.authority().map(ToString::to_string));
            let target = host.map_or_else(|| "another path".to_owned(), |host| format!("`{host}`"));
            return Refused::Failed(self.fail(format!(
                "it redirects to {target}, which is not followed: put the address that it moved to into `url`"
            )));
        }
        if is_asked_to_sign_in {
            let hint = match endpoint.headers.contains_key(header::AUTHORIZATION) {
                true => "check the header `Authorization` of the file",
                false => {
                    r#"give it `"headers": {"Authorization": "Bearer ${VARIABLE}"}` in the file"#
                }
            };
            return Refused::Failed(
                self.fail(format!("it refuses us (HTTP {}): {hint}", status.as_u16())),
            );
        }
        let body = self.body(response.into_body(), LONGEST_REFUSAL).await;
        let body = body.unwrap_or_default();
        if let ClientJsonRpcMessage::Request(request) = asked
            && let ClientRequest::DiscoverRequest(_) = request.request
            && status.is_client_error()
        {
            // An older server does not know this request. The error makes the client fall back to `initialize`.
            let error = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
                Ok(ServerJsonRpcMessage::Error(error)) => error.error,
                _ => ErrorData::invalid_request("the request is not known", None),
            };
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Refused::Answered(Box::new(answer));
        }
        if endpoint.is_legacy_sse {
            return Refused::Failed(self.fail(format!(
                "it refuses streamable HTTP (HTTP {}), and the older transport `sse` is not supported: \
                 put its newer address into `url`, which often ends in /mcp",
                status.as_u16()
            )));
        }
        let said = String::from_utf8_lossy(&body);
        let said: Vec<&str> = said.split_whitespace().collect();
        let said: String = said.join(" ").chars().take(SHOWN).collect();
        Refused::Failed(self.fail(format!("it answered with HTTP {}: {said}", status.as_u16())))
    }
}

/// The most characters of a refusal that are shown.
const SHOWN: usize = 200;

enum Refused {
    Answered(Box<ServerJsonRpcMessage>),
    Failed(Failed),
}

impl StreamableHttpClient for HttpServer {
    type Error = HttpProblem;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = serde_json::to_vec(&message)?;
        let response = self.send(Method::POST, body, session.as_deref(), headers);
        let response = response.await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            // The protocol's answer for a session that the server has dropped: the client begins a new one.
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return match self.refused(response, &message).await {
                Refused::Answered(answer) => Ok(StreamableHttpPostResponse::Json(*answer, None)),
                Refused::Failed(failed) => Err(failed),
            };
        }
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        let field = |name: &str| response.headers().get(name)?.to_str().ok();
        let session = field(HEADER_SESSION_ID).map(str::to_owned);
        let kind = field("content-type").unwrap_or_default().to_owned();
        if kind.starts_with("text/event-stream") {
            let events = events::read(response.into_body(), LARGEST);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        // A notification has no answer, so its body does not matter.
        if !is_request {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !kind.starts_with("application/json") {
            let kind: String = kind.chars().take(SHOWN).collect();
            return Err(self.fail(format!(
                "it answers with `{kind}` and not with JSON: check its `url`"
            )));
        }
        let body = self.body(response.into_body(), LARGEST).await?;
        let answer = serde_json::from_slice(&body)
            .map_err(|_| self.fail("its answer is no message of the protocol".to_owned()))?;
        Ok(StreamableHttpPostResponse::Json(answer, session))
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let ended = self.send(Method::DELETE, Vec::new(), Some(&session), headers);
        ended.await.map(drop)
    }

    /// Refuses the stream between calls: tools are listed once, so there is nothing to listen for.
    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, sse_stream::Error>>, Failed> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}
