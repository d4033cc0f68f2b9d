//! The methods of Slack's Web API that are called.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use kitbag::provider::{HttpClient, ProviderError, Secret};
use serde_json::{Value, json};
use tokio::time::timeout;

/// Slack's Web API.
#[derive(Debug)]
pub(super) struct Client {
    base: String,
    client: HttpClient,
    token: Secret,
    authorization: HeaderValue,
}

const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(20);
/// A larger answer cannot come from Slack.
const LARGEST: usize = 1 << 20;
/// The number of retries of a method that was called too often.
const RETRIES: u32 = 3;
/// It is never waited for longer.
const LONGEST_WAIT: u64 = 30;

impl Client {
    pub(super) fn new(base: &str, token: Secret) -> Result<Self, ProviderError> {
        let wrong = |problem: String| ProviderError::Setting {
            provider: "slack".to_owned(),
            problem,
        };
        let address: Uri = base
            .parse()
            .map_err(|_| wrong(format!("`{base}` is no address")))?;
        let client = HttpClient::new(&address, CONNECT).map_err(wrong)?;
        let authorization = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
        let mut authorization =
            authorization.map_err(|_| wrong("its token cannot stand in a header".to_owned()))?;
        // Keeps it out of debug output of requests.
        authorization.set_sensitive(true);
        Ok(Self {
            base: base.trim_end_matches('/').to_owned(),
            client,
            token,
            authorization,
        })
    }

    /// Posts a message, and returns its name.
    pub(super) async fn post(
        &self,
        channel: &str,
        thread: Option<&str>,
        text: &str,
    ) -> Result<String, String> {
        let message = match thread {
            Some(thread) => {
                json!({"channel": channel, "text": escaped(text), "thread_ts": thread})
            }
            None => json!({"channel": channel, "text": escaped(text)}),
        };
        let posted = self
            .call(Method::POST, "chat.postMessage", &message)
            .await?;
        let name = posted.get("ts").and_then(Value::as_str).map(str::to_owned);
        name.ok_or_else(|| "chat.postMessage gave no `ts`".to_owned())
    }

    /// Replaces the text of a message.
    pub(super) async fn update(&self, channel: &str, ts: &str, text: &str) -> Result<(), String> {
        let message = json!({"channel": channel, "ts": ts, "text": escaped(text)});
        self.call(Method::POST, "chat.update", &message)
            .await
            .map(drop)
    }

    /// The name of a user, as Slack shows it.
    pub(super) async fn name(&self, user: &str) -> Result<String, String> {
        // The id becomes part of an address, and comes from outside.
        if !user.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err("the id of the user is none".to_owned());
        }
        let method = format!("users.info?user={user}");
        let found = self.call(Method::GET, &method, &Value::Null).await?;
        let places = [
            "/user/profile/display_name",
            "/user/real_name",
            "/user/name",
        ];
        let names = places.into_iter().filter_map(|place| found.pointer(place));
        let mut names = names.filter_map(Value::as_str);
        let name = names.find(|name| !name.trim().is_empty());
        let name = name.ok_or("users.info gave no name")?;
        // A name is one line of some length in the store.
        let name: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
        Ok(name)
    }

    /// Calls a method, again where Slack asks to come back later.
    async fn call(&self, method: Method, name: &str, body: &Value) -> Result<Value, String> {
        let mut attempt = 0;
        loop {
            match self.call_once(&method, name, body).await? {
                // Slack answers errors with the status 200 too.
                CallOutcome::Answer(answer) if answer.get("ok") == Some(&Value::Bool(true)) => {
                    return Ok(answer);
                }
                CallOutcome::Answer(answer) => {
                    let error = answer
                        .get("error")
                        .and_then(Value::as_str)
                        .unwrap_or("no reason");
                    return Err(self.token.scrubbed(format!("{name} was refused: {error}")));
                }
                CallOutcome::Later(wait) if attempt < RETRIES => tokio::time::sleep(wait).await,
                CallOutcome::Later(_) => return Err(format!("{name} was called too often")),
            }
            attempt += 1;
        }
    }

    async fn call_once(
        &self,
        method: &Method,
        name: &str,
        body: &Value,
    ) -> Result<CallOutcome, String> {
        let failed = |problem: String| self.token.scrubbed(format!("{name} failed: {problem}"));
        let bytes = match body {
            Value::Null => Bytes::new(),
            body => body.to_string().into(),
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/{name}", self.base))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json; charset=utf-8")
            .body(Full::new(bytes))
            .map_err(|error| failed(error.to_string()))?;
        let answer = timeout(ANSWER, async {
            let answer = self
                .client
                .send(request)
                .await
                .map_err(|error| error.to_string())?;
            let (head, body) = answer.into_parts();
            // Whoever answers in Slack's place must not fill the memory.
            let body = Limited::new(body, LARGEST).collect().await;
            let body = body.map_err(|error| error.to_string())?.to_bytes();
            Ok::<_, String>((head, body))
        });
        let answer = answer
            .await
            .map_err(|_| failed("it took too long".to_owned()))?;
        let (head, body) = answer.map_err(failed)?;
        if head.status == http::StatusCode::TOO_MANY_REQUESTS {
            let wait = head
                .headers
                .get(RETRY_AFTER)
                .and_then(|wait| wait.to_str().ok());
            let wait = wait.and_then(|wait| wait.parse().ok()).unwrap_or(1);
            return Ok(CallOutcome::Later(Duration::from_secs(
                LONGEST_WAIT.min(wait),
            )));
        }
        let answer = serde_json::from_slice(&body);
        let status = head.status;
        let answer = answer.map_err(|_| failed(format!("it answered {status} without JSON")))?;
        Ok(CallOutcome::Answer(answer))
    }
}

enum CallOutcome {
    Answer(Value),
    Later(Duration),
}

/// The text without what Slack would take for a mention or a link: nobody is called by what a model says.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
