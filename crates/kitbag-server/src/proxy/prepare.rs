//! A request before it is sent on: memory put in, and brought within its budget.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderName;
use http::header::{HeaderMap, HeaderValue};
use http::request::Parts;
use kitbag::core::tokens::Tokens;
use kitbag::layout::ProxyMemory;
use kitbag::store::{Store, StoreError};
use kitbag::wire::Dialect;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::breakpoints::Breakpoints;
use super::endpoint::Endpoint;
use super::guard::{Guarded, guard, guard_unread};
use super::identity::{Identity, agent};
use super::learn::Learner;
use super::memory::{Added, Asked, NewBlock};
use super::refusal::Refusal;
use super::said::ReadBody;
use super::splice::spliced;
use crate::App;
use crate::access::Caller;
use crate::observe::Event;

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

/// Tells what memory brings to the newest question: `added`, `none` if it has nothing, `off` if it
/// is not asked, or `unavailable`.
const MEMORY: HeaderName = HeaderName::from_static("x-kitbag-memory");
/// Tells how many tokens of a request are memory, by estimate.
const TOKENS: HeaderName = HeaderName::from_static("x-kitbag-memory-tokens");
/// Tells how many results of tools were shortened.
const SHORTENED: HeaderName = HeaderName::from_static("x-kitbag-results-shortened");
/// Tells how many messages were left out.
const LEFT_OUT: HeaderName = HeaderName::from_static("x-kitbag-messages-left-out");

/// Tells how many cache breakpoints were set.
const BREAKPOINTS: HeaderName = HeaderName::from_static("x-kitbag-breakpoints");

/// Prepares a request for its upstream: puts memory in, and shortens it to its budget. A request that
/// exceeds its budget is refused, and so is one that cannot be counted; memory refuses nothing.
pub(super) async fn prepare(
    app: &Arc<App>,
    head: &Parts,
    body: Bytes,
    (dialect, endpoint): (Dialect, Endpoint),
) -> Result<Prepared, Refusal> {
    let memory = memory_for(head);
    let budget = app.project.config.server.history_budget;
    // From here on every way out sends at least what the client sent.
    let mut prepared = Prepared::unchanged(body);
    if memory.is_none() && budget.is_none() {
        return Ok(prepared);
    }
    let Some(read) = ReadBody::read(dialect, &prepared.body) else {
        // Counting costs nothing, and tells the client how much is too much.
        if let Some(budget) = budget.filter(|_| endpoint != Endpoint::Count) {
            guard_unread(&head.headers, &prepared.body, budget)?;
        }
        if memory.is_some() {
            prepared.told.insert(MEMORY, UNAVAILABLE);
        }
        return Ok(prepared);
    };
    let breakpoints = match app.project.config.server.sets_breakpoints() {
        true => Breakpoints::of(dialect, &prepared.body, &read),
        false => Breakpoints::default(),
    };
    let mut added = Added::default();
    if let Some((store, mode)) = memory {
        let remembered = remember(app, head, &read, (&store, endpoint)).await;
        prepared.told.insert(MEMORY, remembered.told());
        if let Remembered::Asked(asked, texts) = remembered {
            if let Some(texts) = texts {
                added = texts.added;
                let Tokens(tokens) = added.all_tokens();
                prepared.told.insert(TOKENS, HeaderValue::from(tokens));
            }
            prepared.learner = (mode == ProxyMemory::On).then(|| Learner {
                app: Arc::clone(app),
                store,
                asked,
            });
        }
    }
    let mut guarded = None;
    if let Some(budget) = budget {
        let cuts = guard(dialect, prepared.body.clone(), read, added.tokens, budget).await;
        let cuts = match cuts {
            Err(_) if endpoint == Endpoint::Count => Guarded::default(),
            cuts => cuts?,
        };
        let told = [(SHORTENED, cuts.shortened), (LEFT_OUT, cuts.left_out)];
        let told = told.map(|(name, count)| (name, HeaderValue::from(count)));
        prepared.told.extend(told);
        guarded = Some(cuts);
    }
    let mut splices = added.splices;
    if breakpoints.count() > 0 {
        let count = HeaderValue::from(breakpoints.count());
        prepared.told.insert(BREAKPOINTS, count);
        splices = breakpoints.with(splices);
    }
    if let Some(guarded) = guarded {
        splices = guarded.with(splices);
    }
    // All at once, since each change moves the places of those behind it.
    prepared.body = spliced(&prepared.body, splices);
    Ok(prepared)
}

const UNAVAILABLE: HeaderValue = HeaderValue::from_static("unavailable");

/// The part of memory in a request.
enum Remembered {
    /// Nothing: the request is not one that memory is for.
    Off,
    /// Nothing, since nobody knows whose memory it would be.
    Nobody,
    /// It was asked, and has answered, unless it took too long or failed.
    Asked(Box<Asked>, Option<Texts>),
}

/// The texts that memory brings.
struct Texts {
    added: Added,
    /// Set where the block of the newest question could not be kept, and is left out.
    is_incomplete: bool,
}

impl Remembered {
    fn told(&self) -> HeaderValue {
        match self {
            Self::Off => HeaderValue::from_static("off"),
            Self::Nobody | Self::Asked(_, None) => UNAVAILABLE,
            Self::Asked(_, Some(texts)) if texts.is_incomplete => UNAVAILABLE,
            Self::Asked(_, Some(texts)) if texts.added.is_asked => {
                HeaderValue::from_static("added")
            }
            Self::Asked(_, Some(_)) => HeaderValue::from_static("none"),
        }
    }
}

/// Asks memory, for no longer than it may take.
async fn remember(
    app: &App,
    head: &Parts,
    body: &ReadBody,
    (store, endpoint): (&Store, Endpoint),
) -> Remembered {
    let config = &app.project.config;
    let end = Instant::now() + config.server.memory_time_limit();
    // Coding agents also ask the model to name a session and the like. Requests without tools are such chores.
    if !body.has_tools && agent(&head.headers, body).is_some() {
        return Remembered::Off;
    }
    let caller = head.extensions.get::<Caller>();
    // Without a key only this machine is answered.
    let is_local = caller.is_some_and(|caller| caller.key.is_none());
    let identity = match Identity::of(&head.headers, body, config.hooks.scope(), is_local) {
        Ok(identity) => identity,
        Err(missing) => {
            tracing::warn!(event = "identity_unreadable", missing);
            return Remembered::Nobody;
        }
    };
    if !config.channels.admit(&identity.channel, &identity.sender) {
        return Remembered::Off;
    }
    let asked = Box::new(Asked::new(identity, body));
    let now = (app.clock)();
    let blocks = asked.blocks(body, store, config.server.memory_budget(), now);
    let mut blocks = match timeout_at(end, blocks).await {
        Ok(Ok(blocks)) => blocks,
        Ok(Err(error)) => {
            app.metrics.note(Event::MemoryFailed, "failed");
            tracing::warn!(event = "memory_failed", problem = %error);
            return Remembered::Asked(asked, None);
        }
        Err(_) => {
            app.metrics.note(Event::MemoryFailed, "late");
            tracing::warn!(event = "memory_late");
            return Remembered::Asked(asked, None);
        }
    };
    let mut is_incomplete = false;
    if let Some(new) = blocks.new.take() {
        let index = new.index;
        let text = match endpoint {
            // Nothing that is only counted is put back.
            Endpoint::Count => Some(new.text),
            _ => keep(app, asked.keep(store.clone(), new.clone(), now), end, new).await,
        };
        is_incomplete = text.is_none();
        blocks.texts.extend(text.map(|text| (index, text)));
    }
    let added = asked.added(body, &blocks.texts);
    let texts = Texts {
        added,
        is_incomplete,
    };
    Remembered::Asked(asked, Some(texts))
}

/// Keeps a new block, and returns the one to send; nothing where that fails, since a block that is not put back
/// later would cost the provider's cache. Keeping that takes too long goes on, and ends some time: the block is sent.
async fn keep(
    app: &App,
    keeping: impl Future<Output = Result<String, StoreError>> + Send + 'static,
    end: Instant,
    new: NewBlock,
) -> Option<String> {
    let (send, kept) = oneshot::channel();
    app.in_background(async move { drop(send.send(keeping.await)) });
    match timeout_at(end, kept).await {
        Ok(Ok(Ok(text))) => Some(text),
        Ok(Ok(Err(error))) => {
            app.metrics.note(Event::MemoryFailed, "failed");
            tracing::warn!(event = "memory_failed", problem = %error);
            None
        }
        // There is too much work to keep anything.
        Ok(Err(_)) => None,
        Err(_) => {
            tracing::warn!(event = "memory_late");
            Some(new.text)
        }
    }
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
