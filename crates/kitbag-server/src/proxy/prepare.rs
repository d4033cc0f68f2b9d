//! A request before it is sent on: memory put in, and brought within its budget.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderName;
use http::header::{HeaderMap, HeaderValue};
use http::request::Parts;
use kitbag::layout::ProxyMemory;
use kitbag::store::Store;
use kitbag::wire::Dialect;
use tokio::time::timeout;

use super::breakpoints::Breakpoints;
use super::guard::{Guarded, guard};
use super::identity::Identity;
use super::learn::Learner;
use super::memory::{Added, Asked};
use super::refusal::Refusal;
use super::said::ReadBody;
use super::splice::spliced;
use crate::App;
use crate::access::Caller;

/// A request as it is sent on.
pub(super) struct Prepared {
    pub(super) body: Bytes,
    /// Headers that tell the client what was done.
    pub(super) told: HeaderMap,
    /// Keeps what is said.
    pub(super) learner: Option<Learner>,
}

impl Prepared {
    pub(super) fn unchanged(body: Bytes) -> Self {
        Self {
            body,
            told: HeaderMap::new(),
            learner: None,
        }
    }
}

/// Tells what memory brings to the newest question: `added`, `none` if nothing relevant is known, `off` if it
/// is not asked, or `unavailable`.
const MEMORY: HeaderName = HeaderName::from_static("x-kitbag-memory");
/// Tells how many tokens of a request are memory, by estimate.
const TOKENS: HeaderName = HeaderName::from_static("x-kitbag-memory-tokens");
/// Tells how many results of tools were shortened.
const SHORTENED: HeaderName = HeaderName::from_static("x-kitbag-results-shortened");

/// Tells how many cache breakpoints were set.
const BREAKPOINTS: HeaderName = HeaderName::from_static("x-kitbag-breakpoints");

/// Reads a request, if there is anything to do for it, and does that. A request that exceeds its budget
/// is refused; memory refuses nothing.
pub(super) async fn prepare(
    app: &Arc<App>,
    head: &Parts,
    body: Bytes,
    dialect: Dialect,
) -> Result<Prepared, Refusal> {
    let memory = memory_for(head);
    let budget = app.project.config.server.history_budget;
    // From here on every way out sends at least what the client sent.
    let mut prepared = Prepared::unchanged(body);
    if memory.is_none() && budget.is_none() {
        return Ok(prepared);
    }
    let Some(read) = ReadBody::read(dialect, &prepared.body) else {
        prepared.told.insert(MEMORY, UNAVAILABLE);
        return Ok(prepared);
    };
    let breakpoints = match app.project.config.server.sets_breakpoints() {
        true => Breakpoints::of(dialect, &prepared.body, &read),
        false => Breakpoints::default(),
    };
    let mut splices = Vec::new();
    if let Some(budget) = budget {
        // Before memory: the budget is for what the client says.
        let guarded = guard(dialect, &prepared.body, &read, budget)?;
        let Guarded { shortened, .. } = guarded;
        prepared
            .told
            .insert(SHORTENED, HeaderValue::from(shortened));
        splices.extend(guarded.splices);
    }
    if let Some((store, mode)) = memory {
        let remembered = remember(app, head, read, &store).await;
        prepared.told.insert(MEMORY, remembered.told());
        if let Remembered::Asked(asked, added) = remembered {
            if let Some(added) = added {
                let tokens = HeaderValue::from(added.tokens.0);
                prepared.told.insert(TOKENS, tokens);
                splices.extend(added.splices);
            }
            prepared.learner = (mode == ProxyMemory::On).then(|| Learner {
                app: Arc::clone(app),
                store,
                asked,
            });
        }
    }
    if breakpoints.count() > 0 {
        let count = HeaderValue::from(breakpoints.count());
        prepared.told.insert(BREAKPOINTS, count);
        splices = breakpoints.with(splices);
    }
    // All at once, since each change moves the places of those behind it.
    prepared.body = spliced(&prepared.body, splices);
    Ok(prepared)
}

const UNAVAILABLE: HeaderValue = HeaderValue::from_static("unavailable");

/// The part of memory in a request.
enum Remembered {
    /// Nothing.
    Off,
    /// It was asked, and has answered, unless it took too long or failed.
    Asked(Box<Asked>, Option<Added>),
}

impl Remembered {
    fn told(&self) -> HeaderValue {
        match self {
            Self::Off => HeaderValue::from_static("off"),
            Self::Asked(_, None) => UNAVAILABLE,
            Self::Asked(_, Some(added)) if added.is_asked => HeaderValue::from_static("added"),
            Self::Asked(_, Some(_)) => HeaderValue::from_static("none"),
        }
    }
}

/// Asks memory, for no longer than it may take.
async fn remember(app: &App, head: &Parts, read: ReadBody, store: &Store) -> Remembered {
    let config = &app.project.config;
    let has_tools = read.has_tools;
    let identity = Identity::of(&head.headers, &read, config.hooks.scope());
    let is_admitted = config.channels.admit(&identity.channel, &identity.sender);
    // Coding agents have the model name sessions and the like: what needs no tools is no work.
    if !is_admitted || (identity.agent.is_some() && !has_tools) {
        return Remembered::Off;
    }
    let asked = Asked::new(identity, read);
    let added = asked.added(store, config.server.memory_budget(), (app.clock)());
    let added = match timeout(config.server.memory_time_limit(), added).await {
        Ok(Ok(added)) => Some(added),
        Ok(Err(error)) => {
            tracing::warn!(event = "memory_failed", problem = %error);
            None
        }
        Err(_) => {
            tracing::warn!(event = "memory_late");
            None
        }
    };
    Remembered::Asked(Box::new(asked), added)
}

/// The memory of the caller, and what may be done with it: no more than is configured, and no more than the
/// request says.
fn memory_for(head: &Parts) -> Option<(Store, ProxyMemory)> {
    let caller = head.extensions.get::<Caller>()?;
    let said = head.headers.get(MEMORY);
    // Whoever says something that is not understood did not ask for more.
    let said = said.map(|said| {
        let word = said.to_str().unwrap_or_default().trim();
        ProxyMemory::of_word(word).unwrap_or(ProxyMemory::Off)
    });
    // The greater allows less, so a request can only restrict.
    let mode = caller.memory.max(said.unwrap_or_default());
    let store = caller.store.clone()?;
    (mode != ProxyMemory::Off).then_some((store, mode))
}
