//! A budget for what a request says: older results of tools are shortened, and what still exceeds it is refused.
//!
//! The cuts follow from the conversation alone: it is gone through from its beginning, and whenever it
//! exceeded the budget, all results before the newest ones were shortened together. So each request
//! begins as the one before it, on whichever node, until that happens again.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use kitbag::core::history::message_cost;
use kitbag::core::message::Message;
use kitbag::core::role::Role;
use kitbag::core::tokens::{TokenCounter, Tokens};
use kitbag::hook::ByteEstimate;
use kitbag::tokens::{Counter, Vocabulary};
use kitbag::wire::{Dialect, Request};
use kitbag::words::head_and_tail;
use serde_json::Value;

use super::refusal::Refusal;
use super::said::{ClientMessage, ReadBody};
use super::splice::Splice;

/// So many bytes are left of a result.
const SHORT: usize = 800;

/// So many messages with results stay whole at first; then one, then none.
const NEWEST: [usize; 3] = [3, 1, 0];

/// The cuts that bring a request within its budget.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Guarded {
    pub(super) splices: Vec<Splice>,
    /// The results that were shortened.
    pub(super) shortened: usize,
}

/// Brings a request within a budget, with the tokens that memory adds to its messages.
pub(super) async fn guard(
    dialect: Dialect,
    body: Bytes,
    read: ReadBody,
    added: BTreeMap<usize, Tokens>,
    budget: Tokens,
) -> Result<Guarded, Refusal> {
    if body.len() < SMALL {
        return guarded(dialect, &body, &read, &added, budget);
    }
    // Counting takes long enough to hold up whatever else this thread serves.
    let counted =
        tokio::task::spawn_blocking(move || guarded(dialect, &body, &read, &added, budget));
    counted.await.unwrap_or_else(|error| {
        tracing::error!(event = "guard_panicked", %error);
        let what = "the tokens of the request cannot be counted";
        Err(Refusal::permanent(StatusCode::INTERNAL_SERVER_ERROR, what))
    })
}

/// Refuses a request that cannot be read if it may exceed a budget: its bytes are counted. What is compressed may be
/// anything.
pub(super) fn guard_unread(
    headers: &HeaderMap,
    body: &[u8],
    budget: Tokens,
) -> Result<(), Refusal> {
    let is_plain = |encoding: &HeaderValue| encoding == "identity";
    if !headers.get_all(CONTENT_ENCODING).iter().all(is_plain) {
        let what = "a compressed request cannot be counted, and this server has a budget for requests; \
                    send it plain";
        return Err(Refusal::permanent(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    match ByteEstimate.count(&String::from_utf8_lossy(body)) {
        used if used > budget => Err(too_long(used, budget)),
        _ => Ok(()),
    }
}

/// The bytes of a request that is counted at once.
const SMALL: usize = 64 << 10;

fn guarded(
    dialect: Dialect,
    body: &[u8],
    read: &ReadBody,
    added: &BTreeMap<usize, Tokens>,
    budget: Tokens,
) -> Result<Guarded, Refusal> {
    let Some(mut costs) = Costs::of(dialect, body, read) else {
        guard_unread(&HeaderMap::new(), body, budget)?;
        return Ok(Guarded::default());
    };
    for (index, tokens) in added {
        if let Some(cost) = costs.messages.get_mut(*index) {
            cost.whole = cost.whole.saturating_add(*tokens);
        }
    }
    let (boundary, used) = costs.boundary(&read.messages, budget);
    // In the words of the API, by which coding agents know that they have to compact.
    if used > budget {
        return Err(too_long(used, budget));
    }
    let old = read.messages.iter().take(boundary);
    let splices: Vec<Splice> = old
        .flat_map(|message| message.results.iter())
        .filter_map(|result| {
            // A result that is short already stays: replacing it would cost the cache and free nothing.
            let short = short(&result.text)?;
            Some(Splice::replace(
                result.at.clone(),
                Value::from(short).to_string(),
            ))
        })
        .collect();
    Ok(Guarded {
        shortened: splices.len(),
        splices,
    })
}

fn too_long(Tokens(used): Tokens, Tokens(most): Tokens) -> Refusal {
    let what = format!("prompt is too long: {used} tokens > {most} maximum");
    Refusal {
        code: Some("context_length_exceeded"),
        ..Refusal::permanent(StatusCode::BAD_REQUEST, what)
    }
}

/// A long result in short.
fn short(text: &str) -> Option<String> {
    (text.len() > SHORT + SHORT / 4).then(|| head_and_tail(text, SHORT))
}

/// The tokens of a request.
struct Costs {
    /// Those of its instructions and tools.
    fixed: Tokens,
    messages: Vec<Cost>,
}

#[derive(Clone, Copy, Default)]
struct Cost {
    whole: Tokens,
    /// The tokens that shortening its results would free.
    freed: Tokens,
}

impl Costs {
    fn of(dialect: Dialect, body: &[u8], read: &ReadBody) -> Option<Self> {
        let mut request = Request::parse(std::str::from_utf8(body).ok()?).ok()?;
        request.dialect = dialect;
        let turn = request.turn().ok()?;
        let counter = turn
            .model
            .as_deref()
            .and_then(|model| Counter::for_model(model).ok());
        // An unknown model is counted approximately, which is better than not at all.
        let counter = counter.or_else(|| Counter::for_vocabulary(Vocabulary::O200kBase).ok())?;
        let tools = request
            .fields
            .get("tools")
            .map_or("", |tools| tools.as_str());
        let draft = turn.contribution.draft;
        let identity = draft.identity.unwrap_or_default();
        let mut messages = vec![Cost::default(); read.messages.len()];
        let said = draft
            .history
            .iter()
            .chain([&turn.current])
            .chain(&draft.steps);
        for message in said {
            let place = place(message)?;
            let cost = messages.get_mut(place)?;
            cost.whole = message_cost(message, &counter);
            let results = read.messages.get(place)?.results.iter();
            let freed = results.filter_map(|result| {
                let short = short(&result.text)?;
                Some(
                    counter
                        .count(&result.text)
                        .saturating_sub(counter.count(&short)),
                )
            });
            cost.freed = freed.sum();
        }
        Some(Self {
            fixed: counter
                .count(&identity)
                .saturating_add(counter.count(tools)),
            messages,
        })
    }

    /// The first message whose results stay whole, and the tokens of the request then.
    fn boundary(&self, messages: &[ClientMessage], budget: Tokens) -> (usize, Tokens) {
        let (mut boundary, mut used) = (0, self.fixed);
        let mut with_results: Vec<usize> = Vec::new();
        for (index, (message, cost)) in messages.iter().zip(&self.messages).enumerate() {
            used = used.saturating_add(cost.whole);
            if message.has_results {
                with_results.push(index);
            }
            let next = messages.get(index + 1);
            // Only where a request ended: cuts must fall where they fell when that request was sent.
            let was_sent = message.role != Role::Assistant
                && next.is_none_or(|next| next.role == Role::Assistant);
            // First the old results, then nearly all, then all: the newest are what the model works with.
            for newest in NEWEST {
                if !was_sent || used <= budget {
                    break;
                }
                let old = with_results.len().checked_sub(newest + 1);
                let last = old.and_then(|old| with_results.get(old));
                let first_whole = last.map_or(0, |last| last + 1).max(boundary);
                let freed = self.messages.get(boundary..first_whole).unwrap_or_default();
                let freed: Tokens = freed.iter().map(|cost| cost.freed).sum();
                used = used.saturating_sub(freed);
                boundary = first_whole;
            }
        }
        (boundary, used)
    }
}

/// The place of a message in its request.
fn place(message: &Message) -> Option<usize> {
    message.id.as_ref()?.parse().ok()
}
