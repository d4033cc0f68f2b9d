//! A provider over HTTP: one request, its answer as a stream, patience and retries.
//!
//! A request is tried again only as long as not one byte of an answer has come: what a person has
//! begun to read is never said twice.

mod answer;
mod client;
mod credentials;
mod refusal;
mod retry;

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue};
use http::{Method, Uri};
use http_body_util::{BodyExt as _, Full};
use indexmap::IndexMap;
use kitbag_core::content::RawJson;
use serde_json::Value;
use tokio::time::timeout;

use super::decode::Api;
use super::key::scrubbed;
use super::{Key, Provider, ProviderError, ProviderFuture, ReplyStream, Secret, Stage};
use crate::tokens::ModelProfile;
use crate::wire::{Dialect, Request};
pub use client::{HttpClient, SendError};
pub use credentials::Credentials;

/// The places and times of a provider over HTTP.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// Its name in errors and logs.
    pub name: String,
    /// The API that it speaks.
    pub dialect: Dialect,
    /// The address before the paths of the API.
    pub base_url: String,
    /// The model of requests that name none.
    pub model: Option<String>,
    /// The key, where one is needed.
    pub key: Option<Key>,
    /// Headers besides those of the API. Values are secret.
    pub headers: IndexMap<String, Key>,
    /// Fields that are set in each request.
    pub fields: IndexMap<String, RawJson>,
    /// The times after which it is given up.
    pub timeouts: Timeouts,
    /// The number of times that a request is tried again before the first byte of an answer.
    pub retries: u32,
}

impl HttpSettings {
    /// A provider without a key, with the usual times.
    #[must_use]
    pub fn new(name: impl Into<String>, dialect: Dialect, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            dialect,
            base_url: base_url.into(),
            model: None,
            key: None,
            headers: IndexMap::new(),
            fields: IndexMap::new(),
            timeouts: Timeouts::default(),
            // A third failure within seconds is rarely a hiccup, and somebody is waiting.
            retries: 2,
        }
    }
}

/// The times after which a provider is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// From the request to the first byte of the answer. A model may think for long.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Models that reason may be silent for minutes.
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
        }
    }
}

/// A provider over HTTP.
///
/// ```
/// use kitbag::provider::{HttpProvider, HttpSettings, Key, Provider, Secret};
/// use kitbag::wire::Dialect;
///
/// let mut settings = HttpSettings::new("local", Dialect::OpenAi, "http://localhost:8000/v1");
/// settings.key = Some(Key::Value(Secret::new("hidden")));
/// let provider = HttpProvider::new(settings)?;
/// assert!(!format!("{provider:?}").contains("hidden"));
/// # Ok::<(), kitbag::provider::ProviderError>(())
/// ```
pub struct HttpProvider {
    settings: HttpSettings,
    api: Api,
    address: Uri,
    client: HttpClient,
    /// The headers with their secrets, once they were read.
    ready: OnceLock<PreparedHeaders>,
    random: Box<dyn Fn() -> u32 + Send + Sync>,
}

/// Values that are read once, when they are first needed.
struct PreparedHeaders {
    headers: HeaderMap,
    secrets: Vec<Secret>,
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("HttpProvider");
        shown
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl HttpProvider {
    /// A provider. Connects to nothing, and reads no key before it is needed.
    ///
    /// # Errors
    /// When the address or the proxy of the environment cannot be used.
    pub fn new(settings: HttpSettings) -> Result<Self, ProviderError> {
        // Both spellings are common in other programs' settings.
        let base = settings.base_url.trim_end_matches('/');
        let wrong = |problem: String| ProviderError::Setting {
            provider: settings.name.clone(),
            problem,
        };
        let api = Api::of(settings.dialect)
            .ok_or_else(|| wrong("a flat text is no request over HTTP".to_owned()))?;
        let path = match api {
            // The version is part of the path here, and of the base address for OpenAI, as their own clients
            // have it.
            Api::Anthropic => "/v1/messages",
            Api::Chat => "/chat/completions",
            Api::Responses => "/responses",
        };
        let address = format!("{base}{path}");
        let address: Uri = address
            .parse()
            .map_err(|error| wrong(format!("`{address}` is no address: {error}")))?;
        let client = HttpClient::new(&address, settings.timeouts.connect).map_err(wrong)?;
        Ok(Self {
            settings,
            api,
            address,
            client,
            ready: OnceLock::new(),
            random: Box::new(|| getrandom::u32().unwrap_or_default()),
        })
    }

    /// The same with another source of randomness for the pauses between attempts.
    #[must_use]
    pub fn with_random(mut self, random: impl Fn() -> u32 + Send + Sync + 'static) -> Self {
        self.random = Box::new(random);
        self
    }

    fn ready(&self) -> Result<&PreparedHeaders, ProviderError> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let ready = self.read()?;
        // Another thread may have been faster; both have read the same key.
        Ok(self.ready.get_or_init(|| ready))
    }

    /// Reads the key and makes the headers.
    fn read(&self) -> Result<PreparedHeaders, ProviderError> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        let version = concat!("kitbag/", env!("CARGO_PKG_VERSION"));
        headers.insert("user-agent", HeaderValue::from_static(version));
        if self.api == Api::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        let own = self.settings.credentials()?;
        headers.extend(own.headers);
        let secrets = own.secrets;
        Ok(PreparedHeaders { headers, secrets })
    }

    /// Refuses a request that the API would refuse, with advice.
    fn check_request(&self, request: &Request) -> Result<(), ProviderError> {
        let provider = self.settings.name.clone();
        // The API would answer with an error in its own words, after a round trip.
        if request.model().is_none() {
            return Err(ProviderError::NoModel { provider });
        }
        match request.mcp_servers().as_slice() {
            [] => Ok(()),
            [server, ..] => {
                let name = &server.name;
                let problem = format!("it cannot start the MCP server `{name}`: it runs nothing");
                Err(ProviderError::Setting { provider, problem })
            }
        }
    }

    /// Sends the request, again if need be and allowed.
    async fn send(&self, body: Bytes) -> Result<ReplyStream, ProviderError> {
        let ready = self.ready()?;
        let mut attempt = 0;
        loop {
            let error = match self.attempt(ready, body.clone()).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            // Decided by the error: a refusal of the request itself is the same every time.
            let pause = retry::pause(&error, attempt, (self.random)());
            let Some(pause) = pause.filter(|_| attempt < self.settings.retries) else {
                tracing::info!(
                    event = "provider_failed",
                    provider = self.settings.name,
                    attempts = attempt + 1,
                    problem = %error,
                );
                return Err(error);
            };
            tracing::info!(
                event = "provider_retry",
                provider = self.settings.name,
                attempt = attempt + 1,
                problem = %error,
                pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
            );
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Sends the request once, and waits for the first byte of the answer.
    async fn attempt(
        &self,
        ready: &PreparedHeaders,
        body: Bytes,
    ) -> Result<ReplyStream, ProviderError> {
        let mut request = http::Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        request.uri_mut().clone_from(&self.address);
        request.headers_mut().clone_from(&ready.headers);
        let limit = self.settings.timeouts.first_byte;
        // One limit for connection, head and first byte: a person waits for their sum.
        let first = async {
            let response = self.client.send(request).await;
            let response = response.map_err(|error| self.failed(&error, ready))?;
            let (head, mut body) = response.into_parts();
            // Read inside the limit too, since an error's body may never end.
            if !head.status.is_success() {
                return Err(refusal::read(&head, body, self.shown_address(), &ready.secrets).await);
            }
            // Not a byte has come yet: whoever closes the connection here has not answered.
            let first = match body.frame().await {
                Some(frame) => frame.map_err(|error| ProviderError::Connect {
                    address: self.shown_address(),
                    problem: client::reason(&error),
                })?,
                None => {
                    return Err(ProviderError::Connect {
                        address: self.shown_address(),
                        problem: "the answer is empty".to_owned(),
                    });
                }
            };
            Ok((head, first, body))
        };
        let (_, first, body) =
            timeout(limit, first)
                .await
                .map_err(|_| ProviderError::Timeout {
                    address: self.shown_address(),
                    stage: Stage::FirstByte,
                    after: limit,
                })??;
        let idle = self.settings.timeouts.idle;
        let (address, secrets) = (self.shown_address(), ready.secrets.clone());
        let api = self.api;
        Ok(answer::stream(first, body, api, idle, address, secrets))
    }

    fn failed(&self, error: &SendError, ready: &PreparedHeaders) -> ProviderError {
        let address = self.shown_address();
        if let Some(problem) = client::certificate_problem(error) {
            return ProviderError::Certificate { address, problem };
        }
        match client::is_connect_timeout(error) {
            true => ProviderError::Timeout {
                address,
                stage: Stage::Connect,
                after: self.settings.timeouts.connect,
            },
            false => ProviderError::Connect {
                address,
                problem: scrubbed(&ready.secrets, client::reason(error)),
            },
        }
    }

    /// The address without its query, which may hold a key.
    fn shown_address(&self) -> String {
        let scheme = self.address.scheme_str().unwrap_or_default();
        let host = self.address.authority().map_or("", |host| host.as_str());
        format!("{scheme}://{host}{}", self.address.path())
    }
}

/// The tokens for words that an answer has after all that it may reason.
const BESIDE_THINKING: u64 = 8_192;

/// Lets the answer be longer than its reasoning, which counts as a part of it: the API refuses a limit that is not.
/// Where the model or its window leaves no room for that, it may reason less.
fn make_room_to_think(request: &mut Request) {
    let value = |name: &str| -> Option<Value> { request.fields.get(name)?.parse_as().ok() };
    let Some(mut thinking) = value("thinking") else {
        return;
    };
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
    let most = value("max_tokens").and_then(|most| most.as_u64());
    let (Some(budget), Some(most)) = (budget, most) else {
        return;
    };
    let wanted = budget.saturating_add(BESIDE_THINKING);
    if wanted <= most {
        return;
    }
    // What was allowed before fits in any case.
    let limit = wanted.min(longest_answer(request)).max(most);
    request.set("max_tokens", &limit);
    // At least half of a short answer is for words.
    let room = limit.saturating_sub(BESIDE_THINKING).max(limit / 2);
    if room < budget
        && let Some(budget) = thinking.get_mut("budget_tokens")
    {
        *budget = room.into();
        request.set("thinking", &thinking);
    }
}

/// The tokens that the model may write after a request, as far as both are known.
fn longest_answer(request: &Request) -> u64 {
    let model = request.model();
    let Some(model) = model.and_then(|name| ModelProfile::find(&name).ok()) else {
        return u64::MAX;
    };
    // The prompt is not counted again here: few texts have less than three bytes for each token.
    let prompt = request.body().len() as u64 / 3;
    let room = model
        .window
        .map(|window| u64::from(window).saturating_sub(prompt));
    let limits = [model.max_output.map(u64::from), room];
    limits.into_iter().flatten().min().unwrap_or(u64::MAX)
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn dialect(&self) -> Dialect {
        self.settings.dialect
    }

    fn prepared(&self, mut request: Request) -> Request {
        request.set("stream", &true);
        match self.api {
            Api::Anthropic => {}
            // Otherwise a stream of this API has no usage, and the answer no cost.
            Api::Chat => {
                let options = serde_json::json!({ "include_usage": true });
                request.set("stream_options", &options);
            }
            // The store is Kitbag's own, so that reasoning has to come whole to be passed back.
            Api::Responses => {
                request.set("store", &false);
                if request
                    .model()
                    .is_none_or(|model| ModelProfile::may_reason(&model))
                {
                    request.set("include", &["reasoning.encrypted_content"]);
                }
            }
        }
        for (name, value) in &self.settings.fields {
            // Last, so that the configuration has the final word.
            request.fields.insert(name.clone(), value.clone());
        }
        if self.api == Api::Anthropic && !self.settings.fields.contains_key("max_tokens") {
            make_room_to_think(&mut request);
        }
        request
    }

    fn check(&self) -> Result<(), ProviderError> {
        // Reads the key, which is the usual reason why nothing can be asked.
        self.ready().map(drop)
    }

    fn model(&self) -> Option<&str> {
        self.settings.model.as_deref()
    }

    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        Box::pin(async {
            self.check_request(request)?;
            self.send(Bytes::from(request.body())).await
        })
    }
}
