//! The list of models: that of the upstream which takes most requests, with those of the upstreams that take some.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::join_all;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use kitbag::wire::Dialect;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::answer::Answer;
use super::headers;
use super::refusal::Refusal;
use crate::App;
use crate::access::CREDENTIALS;
use crate::upstream::Upstream;

/// No list is longer.
const LARGEST: usize = 16 << 20;
/// A list that is not there by then is left out.
const LONGEST: Duration = Duration::from_secs(10);

/// Lists the models, each from the upstream that requests for it go to. An upstream that does not answer is left out.
pub(super) async fn list(
    app: &App,
    mut head: Parts,
    dialect: Dialect,
) -> Result<Response, Refusal> {
    headers::for_upstream(&mut head.headers);
    let usual = app.upstreams.of_model(None, dialect);
    let others = app.upstreams.of_some_models();
    if others.is_empty() {
        let (mut answer, body) = usual.send(&head, Bytes::new()).await?.into_parts();
        headers::for_client(&mut answer.headers);
        let body = within_idle(body, usual, dialect);
        return Ok(Response::from_parts(answer, body));
    }
    let plain = HeaderValue::from_static("identity");
    head.headers.insert(ACCEPT_ENCODING, plain);
    let of_usual = async {
        let (mut answer, body) = usual.send(&head, Bytes::new()).await?.into_parts();
        headers::for_client(&mut answer.headers);
        let body = Limited::new(within_idle(body, usual, dialect), LARGEST);
        let body = body.collect().await.map_err(|error| {
            let what = format!("the list of models broke off: {error}");
            Refusal::permanent(StatusCode::BAD_GATEWAY, what)
        })?;
        Ok((answer, body.to_bytes()))
    };
    let of_others = others.iter().filter(|other| other.name != usual.name);
    let of_others = join_all(of_others.map(|other| models_of(app, other, &head, dialect)));
    let (usual_answer, others) = tokio::join!(of_usual, of_others);
    let mut models: Vec<Value> = others.into_iter().flatten().collect();
    let (mut answer, mut body) = match usual_answer {
        Ok((answer, body)) if answer.status.is_success() => {
            let Some((fields, data)) = read(&body) else {
                return Ok(Response::from_parts(answer, Body::from(body)));
            };
            let is_there = |model: &Value| goes_to(app, usual, model, dialect);
            models.extend(data.into_iter().filter(is_there));
            (answer, fields)
        }
        // Whoever has no key for that upstream still learns of the other models.
        Ok(_) | Err(_) if !models.is_empty() => {
            let (answer, ()) = http::Response::new(()).into_parts();
            let fields = json!({"object": "list", "has_more": false});
            (answer, fields.as_object().cloned().unwrap_or_default())
        }
        Ok((answer, body)) => return Ok(Response::from_parts(answer, Body::from(body))),
        Err(refusal) => return Err(refusal),
    };
    body.insert("data".to_owned(), Value::from(models));
    for of_body in [CONTENT_LENGTH, CONTENT_ENCODING] {
        answer.headers.remove(of_body);
    }
    let kind = HeaderValue::from_static("application/json");
    answer.headers.insert(CONTENT_TYPE, kind);
    let body = Value::from(body).to_string();
    Ok(Response::from_parts(answer, Body::from(body)))
}

/// A body that ends with an error where its upstream is silent for too long.
fn within_idle(body: Incoming, upstream: &Upstream, dialect: Dialect) -> Body {
    let answer = Answer {
        body,
        dialect,
        idle: upstream.timeouts.idle,
        is_stream: false,
        reader: None,
        learner: None,
        call: None,
        payer: None,
    };
    answer.into_body()
}

/// The models that requests go to an upstream for.
async fn models_of(
    app: &App,
    upstream: &Arc<Upstream>,
    head: &Parts,
    dialect: Dialect,
) -> Vec<Value> {
    let mut head = head.clone();
    // The client's credential is for the upstream that it believes to speak to.
    for credential in CREDENTIALS {
        head.headers.remove(credential);
    }
    head.headers.remove(COOKIE);
    // Some APIs take a key in the query, and the pages of one list are none of another's.
    let Ok(path) = head.uri.path().parse() else {
        return Vec::new();
    };
    head.uri = path;
    let asked = async {
        let answer = upstream.send(&head, Bytes::new()).await.ok()?;
        let is_success = answer.status().is_success();
        let body = Limited::new(answer.into_body(), LARGEST).collect().await;
        let (_, data) = read(&body.ok().filter(|_| is_success)?.to_bytes())?;
        Some(data)
    };
    let Ok(Some(mut data)) = timeout(LONGEST, asked).await else {
        tracing::warn!(event = "models_not_listed", upstream = upstream.name);
        return Vec::new();
    };
    data.retain(|model| goes_to(app, upstream, model, dialect));
    data
}

fn goes_to(app: &App, upstream: &Upstream, model: &Value, dialect: Dialect) -> bool {
    let id = model.get("id").and_then(Value::as_str);
    app.upstreams.of_model(id, dialect).name == upstream.name
}

/// The fields of a list, and its models.
fn read(body: &[u8]) -> Option<(Map<String, Value>, Vec<Value>)> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(body) else {
        return None;
    };
    match fields.remove("data") {
        Some(Value::Array(data)) => Some((fields, data)),
        _ => None,
    }
}
