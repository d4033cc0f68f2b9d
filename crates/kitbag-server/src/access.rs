//! Access to the server: with a key, anybody whom its tenant gave one; without keys, programs of this machine. Never
//! pages of browsers from elsewhere.

mod keyring;
mod limits;
mod origin;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode};
use kitbag::core::record::Usage;
use kitbag::layout::ProxyMemory;
use kitbag::secrets::redact;
use kitbag::store::{Action, Key, KeyScope, Store, Tenant};
use tokio::time::timeout;

use crate::App;
use crate::refusal::Refusal;

pub(crate) use keyring::Keyring;
use keyring::NotAsked;
pub(crate) use limits::Limits;

/// The sender of a request, as the check of access found. Handlers find it among the request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The memory of the caller's tenant; nothing where none is used.
    pub(crate) store: Option<Store>,
    /// The most that may be done with it.
    pub(crate) memory: ProxyMemory,
    /// The key that was shown; nothing where none is needed.
    pub(crate) key: Option<Arc<Key>>,
    /// The tenant of the key.
    tenant: Tenant,
}

impl Caller {
    /// The id of the key.
    pub(crate) fn key_id(&self) -> Option<&str> {
        self.key.as_deref().map(|key| key.id.as_str())
    }

    /// A name that no other caller has.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.tenant, self.key_id().unwrap_or_default())
    }

    /// Counts what a provider billed for a request of the caller.
    pub(crate) fn spend(&self, app: &App, usage: &Usage) {
        app.metrics.count_usage(usage);
        if let Some(key) = &self.key {
            let tokens = usage.input.saturating_add(usage.output);
            app.limits.spend_tokens(&self.tenant, key, tokens);
        }
    }

    /// Counts the tokens of a request whose provider did not say how many it bills.
    pub(crate) fn spend_estimate(&self, app: &App, tokens: u64) {
        if let Some(key) = &self.key {
            app.limits.spend_tokens(&self.tenant, key, tokens);
        }
    }

    /// Returns whether the key allows something. Whoever needs no key may do everything.
    pub(crate) fn may(&self, scope: KeyScope) -> bool {
        let key = self.key.as_deref();
        key.is_none_or(|key| key.scopes.allow(scope))
    }
}

/// An address that a server without keys does not listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} can be reached from other machines, and there is no key that would keep them out")]
pub struct BindError(SocketAddr);

impl BindError {
    /// Advice for whoever chose the address.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        "make a key with `kitbag key create NAME`, or listen on 127.0.0.1"
    }
}

/// Checks that only programs of this machine reach an address, unless clients need a key.
///
/// # Errors
/// When others reach it, and no key keeps them out.
pub fn check_bind(address: SocketAddr, has_keys: bool) -> Result<(), BindError> {
    match has_keys || address.ip().is_loopback() {
        true => Ok(()),
        false => Err(BindError(address)),
    }
}

/// The headers that clients put a key into, the one for a key beside a provider's own credential first.
const KEYS: [&str; 5] = [
    "x-kitbag-key",
    CREDENTIALS[0],
    CREDENTIALS[1],
    CREDENTIALS[2],
    CREDENTIALS[3],
];

/// The headers that clients put a provider's credential into.
pub(crate) const CREDENTIALS: [&str; 4] =
    ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// Lets a request through that may come in, with its [`Caller`]. Our keys are taken out of the headers, so
/// that none goes on to a provider.
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    // First of all, so that whatever happens later our key is no longer among the headers.
    let shown = take_key(request.headers_mut());
    let found = match shown {
        Some(shown) => by_key(&app, &shown).await,
        None => without_key(&app).await,
    };
    let caller = match found {
        Ok(caller) => caller,
        Err(refusal) => return refusal.to(&request),
    };
    // After the key: a page may use the server if its user gave it a key.
    if let Some(header) = origin::foreign(request.headers(), caller.key.is_some()) {
        let what = format!("this server answers no pages of other places: see `{header}`");
        let refusal = Refusal::new(StatusCode::FORBIDDEN, "foreign", what);
        return refusal.to(&request);
    }
    if let Some(key) = &caller.key
        && let Some(wait) = app.limits.take_request(&caller.tenant, key)
    {
        return too_many(wait).to(&request);
    }
    request.extensions_mut().insert(caller.clone());
    let mut response = next.run(request).await;
    // For the log line, which is written when the response is there.
    response.extensions_mut().insert(caller);
    response
}

/// Lets a request through whose key has a right.
pub(crate) async fn needs(
    State((app, scope)): State<(Arc<App>, KeyScope)>,
    request: Request,
    next: Next,
) -> Response {
    let caller = request.extensions().get::<Caller>();
    let Some(caller) = caller.filter(|caller| !caller.may(scope)) else {
        return next.run(request).await;
    };
    deny(&app, caller, scope).await.to(&request)
}

/// The refusal of a request whose key lacks a right, which is noted once a minute.
pub(crate) async fn deny(app: &App, caller: &Caller, scope: KeyScope) -> Refusal {
    if let (Some(store), Some(key)) = (&caller.store, &caller.key)
        && app.limits.is_first_denial(&caller.tenant, key, scope)
    {
        let denied = store.audit(Some(&key.id), Action::Deny, None, (app.clock)());
        let limit = app.project.config.server.memory_time_limit();
        // The request is refused all the same.
        match timeout(limit, denied).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(event = "audit_failed", %error),
            Err(_) => tracing::error!(event = "audit_late"),
        }
    }
    let what = format!("the key may not do this: it has no scope `{scope}`");
    let refusal = Refusal::new(StatusCode::FORBIDDEN, "forbidden", what);
    refusal.hint("ask whoever made it for one with that scope")
}

async fn by_key(app: &App, shown: &str) -> Result<Caller, Refusal> {
    let unknown = || {
        let what = "the key is not valid: it is mistyped, expired or revoked";
        Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", what)
            .hint("`kitbag key list` shows the keys of a tenant, `kitbag key create` makes one")
    };
    let Some(keys) = &app.keys else {
        // Not “this server has no keys”, which would tell a stranger how it is set up.
        return Err(unknown());
    };
    let limit = app.project.config.server.memory_time_limit();
    let found = keys.find(shown, (app.clock)(), limit).await;
    let Some((store, key)) = found.map_err(not_asked)? else {
        // Without the key, of which a mistyped one is mostly right.
        tracing::warn!(event = "key_refused");
        return Err(unknown());
    };
    Ok(Caller {
        tenant: store.tenant().clone(),
        // Keys are looked up also by a server without memory, whose callers get none.
        store: app.store.is_some().then_some(store),
        memory: app.project.config.server.memory().max(allowed_memory(&key)),
        key: Some(key),
    })
}

/// The most use of memory that a key allows in requests to models: reading and extending it need the same
/// scopes as elsewhere.
fn allowed_memory(key: &Key) -> ProxyMemory {
    let may = |scope| key.scopes.allow(scope);
    match (may(KeyScope::Read), may(KeyScope::Write)) {
        (true, true) => ProxyMemory::On,
        (true, false) => ProxyMemory::Read,
        (false, _) => ProxyMemory::Off,
    }
}

async fn without_key(app: &App) -> Result<Caller, Refusal> {
    let limit = app.project.config.server.memory_time_limit();
    let is_needed = match &app.keys {
        Some(keys) => keys.are_needed(limit).await,
        None => Ok(false),
    };
    if is_needed.map_err(not_asked)? {
        let what = "this server needs a key";
        let hint = "send it as `Authorization: Bearer kitbag_…`, as `x-api-key`, or as `x-kitbag-key` beside \
                    a provider's own; `kitbag key create NAME` makes one";
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", what).hint(hint));
    }
    Ok(Caller {
        store: app.store.clone(),
        memory: app.project.config.server.memory(),
        key: None,
        tenant: Tenant::default(),
    })
}

fn not_asked(NotAsked: NotAsked) -> Refusal {
    Refusal::no_memory_now()
}

pub(crate) fn too_many(wait: Duration) -> Refusal {
    let what = "the key has reached its limit of requests or tokens a minute";
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit", what).retry_after(wait)
}

/// Takes the key of ours out of the headers, and every other one that stands in them. A provider's credential stays.
fn take_key(headers: &mut HeaderMap) -> Option<String> {
    let mut taken: BTreeMap<usize, String> = BTreeMap::new();
    let mut others = HeaderMap::with_capacity(headers.len());
    for (name, value) in &*headers {
        let place = KEYS.iter().position(|key| name == key);
        match place.and_then(|place| Some((place, shown_key(value, place == 0)?))) {
            Some((place, key)) => drop(taken.entry(place).or_insert(key)),
            None if holds_key(value) => {}
            None => drop(others.append(name, value.clone())),
        }
    }
    *headers = others;
    taken.into_values().next()
}

/// The key of ours that a header is, with or without the name of a scheme.
fn shown_key(value: &HeaderValue, is_own: bool) -> Option<String> {
    let value = value.to_str().ok()?.trim();
    let key = value.rsplit_once(' ').map_or(value, |(_, key)| key);
    (is_own || key.starts_with("kitbag_")).then(|| key.to_owned())
}

/// Returns whether a whole key of ours stands anywhere in a header.
fn holds_key(value: &HeaderValue) -> bool {
    let text = String::from_utf8_lossy(value.as_bytes());
    text.contains("kitbag_") && redact(&text, "").text != text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_keys_are_taken_and_those_of_providers_stay() {
        let taken = |named: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in named {
                headers.append(*name, value.parse().unwrap());
            }
            let taken = take_key(&mut headers);
            let left: Vec<String> = headers.keys().map(ToString::to_string).collect();
            (taken.unwrap_or_default(), left.join(" "))
        };
        let [bearer, own] = ["authorization", "x-kitbag-key"];
        for (headers, key, left) in [
            (vec![(bearer, "Bearer kitbag_a_1")], "kitbag_a_1", ""),
            (vec![("x-api-key", "kitbag_a_1")], "kitbag_a_1", ""),
            (
                vec![(bearer, "Bearer sk-1"), (own, "kitbag_a_1")],
                "kitbag_a_1",
                bearer,
            ),
            (
                vec![(bearer, "Bearer kitbag_b_2"), (own, "kitbag_a_1")],
                "kitbag_a_1",
                "",
            ),
            (vec![(bearer, "Bearer sk-1")], "", bearer),
            (vec![("x-api-key", "sk-1")], "", "x-api-key"),
            (
                vec![(bearer, "Bearer sk-1"), (bearer, "Bearer kitbag_a_1")],
                "kitbag_a_1",
                bearer,
            ),
            (vec![("api-key", "kitbag_a_1")], "kitbag_a_1", ""),
            (vec![("x-goog-api-key", "kitbag_a_1")], "kitbag_a_1", ""),
            (vec![("x-title", "kitbag_serve")], "", "x-title"),
        ] {
            assert_eq!(taken(&headers), (key.to_owned(), left.to_owned()));
        }
        let whole = format!("a=b; key=kitbag_main_{}", "0a".repeat(36));
        assert_eq!(taken(&[("cookie", &whole)]), (String::new(), String::new()));
    }
}
