//! A budget for what a request says: older results of tools are shortened, then old exchanges are left out, and what
//! still exceeds it is refused.
//!
//! The cuts follow from the conversation alone: it is gone through from its beginning, and whenever it
//! exceeded the budget, all results before the newest ones were shortened together, or so many exchanges left out that
//! half of the room is free again. So each request begins as the one before it, on whichever node, until that happens
//! again.

mod costs;

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use kitbag::core::role::Role;
use kitbag::core::tokens::{TokenCounter as _, Tokens};
use kitbag::hook::ByteEstimate;
use kitbag::wire::Dialect;
use kitbag::words::{counted, head_and_tail};
use serde_json::Value;

use super::refusal::Refusal;
use super::said::{ClientMessage, ReadBody};
use super::splice::Splice;
use costs::Costs;

/// The bytes that remain of a shortened result.
const SHORT: usize = 800;

/// The cuts that bring a request within its budget.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Guarded {
    pub(super) splices: Vec<Splice>,
    /// The results that were shortened.
    pub(super) shortened: usize,
    /// The messages that were left out.
    pub(super) left_out: usize,
    /// The bytes of what was left out, in which nothing else can be changed.
    gone: Vec<Range<usize>>,
}

impl Guarded {
    /// The cuts with other changes of the request, but for those of messages that are left out.
    pub(super) fn with(self, mut others: Vec<Splice>) -> Vec<Splice> {
        others.retain(|splice| !self.gone.iter().any(|gone| splice.is_within(gone)));
        others.extend(self.splices);
        others
    }
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
    let cuts = costs.cuts(&read.messages, budget);
    // In the words of the API, by which coding agents know that they have to compact.
    if cuts.used > budget {
        return Err(too_long(cuts.used, budget));
    }
    let shown = cuts.first_shown..cuts.first_whole.max(cuts.first_shown);
    let old = read.messages.get(shown).unwrap_or_default().iter();
    let mut splices: Vec<Splice> = old
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
    let shortened = splices.len();
    let gone = gone(&read.messages, cuts.first_shown);
    let left_out = gone.len();
    for (number, at) in gone.iter().enumerate() {
        let note = if number == 0 {
            note(left_out)
        } else {
            String::new()
        };
        splices.push(Splice::replace(at.clone(), note));
    }
    Ok(Guarded {
        splices,
        shortened,
        left_out,
        gone,
    })
}

/// The bytes of the messages before the first one that is shown, each with the comma behind it. What instructs stays.
fn gone(messages: &[ClientMessage], first_shown: usize) -> Vec<Range<usize>> {
    let starts = messages
        .iter()
        .map(|message| Some(message.at.as_ref()?.start));
    let ends = starts.clone().skip(1);
    let all = messages.iter().zip(starts.zip(ends)).take(first_shown);
    let others = all.filter(|(message, _)| message.role != Role::System);
    others
        .filter_map(|(_, (start, end))| Some(start?..end?))
        .collect()
}

/// The message in the place of those that are left out.
fn note(left_out: usize) -> String {
    let what = counted(left_out as u64, "earlier message", "earlier messages");
    let verb = if left_out == 1 { "is" } else { "are" };
    let text = format!("[{what} of this conversation {verb} not shown]");
    format!("{{\"role\":\"user\",\"content\":{}}},", Value::from(text))
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
