//! Finds messages of one speaker on the same topic of which a later one says that it has changed.

use std::collections::BTreeSet;

use kitbag_core::recall::{Query, analyse};
use kitbag_core::role::Role;

use super::relevant::RelevantFacts;
use super::{Later, Recalled};
use crate::fact::STATEMENTS;
use crate::message::StoredMessage;

/// The number of best messages that are compared.
pub(super) const COMPARED: usize = 10;

/// Moves a message that tells of a change above an earlier one of the same speaker that shares a
/// topic of the query with it, and marks the earlier one as outdated unless its statement is known
/// to hold.
pub(super) fn put_latest_first(query: &Query, known: &RelevantFacts, hits: &mut Vec<Recalled>) {
    // A query that names a day asks for what was said then.
    if !query.days().is_empty() {
        return;
    }
    let asked: BTreeSet<&str> = query.terms().collect();
    for later in 0..hits.len().min(COMPARED) {
        let Some(candidate) = hits.get(later) else {
            return;
        };
        let text = candidate.text();
        if candidate.message.message.role != Role::User || !STATEMENTS.tells_change(&text) {
            continue;
        }
        let topics = topics(&text, &asked);
        let (id, at) = (Some(candidate.message.id), candidate.message.at);
        let mut first = None;
        for earlier in 0..hits.len().min(COMPARED) {
            let (Some(new), Some(old)) = (hits.get(later), hits.get(earlier)) else {
                return;
            };
            let is_settled = old.outdated_by.is_some() || known.holds(old.message.id);
            if is_settled || !follows(&new.message, &old.message) {
                continue;
            }
            let text = old.text();
            let shared = self::topics(&text, &asked);
            // The later message must be about everything that the query found in the earlier one.
            let is_same = !shared.is_empty() && shared.is_subset(&topics);
            if !is_same || !STATEMENTS.is_first_person(&text) {
                continue;
            }
            first = first.or(Some(earlier));
            if let Some(old) = hits.get_mut(earlier) {
                old.outdated_by = Some(Later { id, at });
            }
        }
        if let Some(first) = first.filter(|first| *first < later) {
            let total = hits.get(first).map_or(0, |hit| hit.score.total());
            let mut hit = hits.remove(later);
            // One point above the message it outdates, so that the order follows from the scores.
            let rise = total - hit.score.total() + 1;
            hit.score = hit.score.plus("latest", rise);
            hits.insert(first, hit);
        }
    }
}

/// The terms of the query that a text contains.
fn topics(text: &str, asked: &BTreeSet<&str>) -> BTreeSet<String> {
    let passages = analyse(text).passages.into_iter();
    let terms = passages.flat_map(|passage| passage.terms);
    let terms = terms.map(|(term, _)| term);
    terms.filter(|term| asked.contains(term.as_str())).collect()
}

/// Returns true if the same person said `new` later than `old`.
fn follows(new: &StoredMessage, old: &StoredMessage) -> bool {
    let is_same = new.message.role == old.message.role && new.message.name == old.message.name;
    let is_later = match (new.at, old.at) {
        (Some(new), Some(old)) => new.timestamp() > old.timestamp(),
        _ => new.id.conversation == old.id.conversation && new.id.seq > old.id.seq,
    };
    is_same && is_later
}
