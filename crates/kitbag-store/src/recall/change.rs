//! Puts messages that state a change above the earlier ones of the same speaker that they outdate, and what
//! was so before below what is so.
//!
//! The core decides whether one message outdates another. A change need not have a word of the query ("I left
//! FitOne" for "Which gym do I go to?"), so the words of the best hit are looked up, too. A change that stands in
//! the prompt already is found in the same way: it marks the older message and does not come again.

use kitbag_core::rank::Score;
use kitbag_core::recall::{Query, ToldMessage, rarity_limit, with_rare_words};
use kitbag_core::role::Role;
use kitbag_core::statement::ToldChange;

use super::relevant::RelevantFacts;
use super::{Later, Part, RecallRequest, Recalled, evidence, messages_and_cuts};
use crate::error::Result;
use crate::fact::STATEMENTS;
use crate::filter::MessageFilter;
use crate::id::MessageId;
use crate::index;
use crate::message::StoredMessage;
use crate::transaction::Tx;

/// The number of best messages that are compared.
pub(super) const COMPARED: usize = 10;
/// The best messages, of which the first that states something leads to later ones.
const LEADING: usize = 3;
/// The number of messages that share its words and are read.
const LED_TO: usize = 24;
/// A longer message states many things, and few changes are about all of it.
const LONGEST_STATEMENT: usize = 400;

/// Reorders the hits of a query, and marks those that are outdated.
pub(super) async fn put_latest_first(
    tx: &mut Tx<'_>,
    parts: &[Part],
    request: &RecallRequest,
    query: &Query,
    known: &RelevantFacts,
    hits: &mut Vec<Recalled>,
) -> Result<()> {
    // A query that names a day asks for what was said then.
    if !query.days().is_empty() {
        return Ok(());
    }
    let texts: Vec<(MessageId, String)> = hits
        .iter()
        .take(COMPARED)
        .filter(|hit| hit.message.message.role == Role::User)
        .map(|hit| (hit.message.id, hit.text().into_owned()))
        .collect();
    // All of them are read only if one tells of a change or of the past: reading them costs as much as the rest of
    // a recall.
    let tells = |(_, text): &(MessageId, String)| {
        STATEMENTS.may_tell_change(text) && {
            let told = ToldMessage::new(&STATEMENTS, text);
            told.tells_change() || told.is_past(query)
        }
    };
    if texts.iter().any(tells) {
        let told: Vec<(MessageId, ToldMessage<'_>)> = texts
            .iter()
            .map(|(id, text)| (*id, ToldMessage::new(&STATEMENTS, text)))
            .collect();
        lower_past(request, query, known, &told, hits);
        raise_changes(query, known, &told, hits);
    }
    lead_to_later(tx, parts, request, query, known, &texts, hits).await
}

/// Puts messages about an earlier state right below those about the present one.
fn lower_past(
    request: &RecallRequest,
    query: &Query,
    known: &RelevantFacts,
    told: &[(MessageId, ToldMessage<'_>)],
    hits: &mut Vec<Recalled>,
) {
    // Unless the query asks for just that.
    let asks_past = STATEMENTS
        .said(&request.query)
        .iter()
        .any(|one| one.is_past);
    if asks_past {
        return;
    }
    // What is known to hold is not past, whatever its words.
    let is_past =
        |(id, one): &&(MessageId, ToldMessage<'_>)| one.is_past(query) && !known.holds(*id);
    let mut past = told.iter().filter(is_past);
    while let Some((id, past)) = past.next_back() {
        let states = |other: &Recalled| {
            let found = told.iter().find(|(id, _)| *id == other.message.id);
            found.is_some_and(|(id, other)| {
                let is_answer = known.relevance(*id) >= super::relevant::ASKED && known.holds(*id);
                !other.is_past(query)
                    && (is_answer || (other.states() && other.is_about(past, query)))
            })
        };
        let Some(at) = hits.iter().position(|hit| hit.message.id == *id) else {
            continue;
        };
        let below = hits.iter().take(COMPARED).rposition(states);
        let Some(below) = below.filter(|below| *below > at) else {
            continue;
        };
        let total = hits.get(below).map_or(0, |hit| hit.score.total());
        let mut hit = hits.remove(at);
        let fall = total - hit.score.total() - 1;
        hit.score = hit.score.plus("past", fall);
        // The removal has moved the other one up by one.
        hits.insert(below, hit);
    }
}

/// Puts each hit that states a change above the messages that it outdates.
fn raise_changes(
    query: &Query,
    known: &RelevantFacts,
    told: &[(MessageId, ToldMessage<'_>)],
    hits: &mut Vec<Recalled>,
) {
    for (old_id, old) in told {
        let Some(earlier) = hits.iter().find(|hit| hit.message.id == *old_id) else {
            continue;
        };
        if earlier.outdated_by.is_some() {
            continue;
        }
        let is_later = |id: &MessageId| {
            let hit = hits.iter().find(|hit| hit.message.id == *id);
            hit.filter(|hit| follows(&hit.message, &earlier.message))
        };
        let changes = told.iter().filter(|(_, new)| new.tells_change());
        let outdating = changes.filter_map(|(id, new)| {
            let later = is_later(id)?;
            outdates(query, known, (*id, new), (*old_id, old)).then_some(&later.message)
        });
        // Of several changes the last is what holds.
        let latest =
            outdating.max_by_key(|message| (message.at.map(|at| at.timestamp()), message.id));
        if let Some(latest) = latest.map(|message| message.id) {
            mark_and_raise(hits, *old_id, latest);
        }
    }
}

/// Tells whether a message outdates another one. Only a clause that says that just this is over
/// outdates a statement that is known to hold, and only if no fact came of it: facts know on which
/// channels they hold.
fn outdates(
    query: &Query,
    known: &RelevantFacts,
    (new_id, new): (MessageId, &ToldMessage<'_>),
    (old_id, old): (MessageId, &ToldMessage<'_>),
) -> bool {
    let least = match known.holds(old_id) {
        true if known.is_source(new_id) => return false,
        true => ToldChange::Explicit,
        false => ToldChange::Implied,
    };
    new.outdates(old, query)
        .is_some_and(|change| change >= least)
}

/// Marks a message as outdated by another one among the hits, which is put above it.
fn mark_and_raise(hits: &mut Vec<Recalled>, old: MessageId, new: MessageId) {
    let place = |hits: &[Recalled], id| hits.iter().position(|hit| hit.message.id == id);
    let (Some(old), Some(from)) = (place(hits, old), place(hits, new)) else {
        return;
    };
    let at = hits.get(from).and_then(|hit| hit.message.at);
    let Some(earlier) = hits.get_mut(old) else {
        return;
    };
    earlier.outdated_by = Some(Later { id: Some(new), at });
    let total = earlier.score.total();
    if from > old {
        let mut hit = hits.remove(from);
        // One point above the message it outdates, so that the order follows from the scores.
        let rise = total - hit.score.total() + 1;
        hit.score = hit.score.plus("latest", rise);
        hits.insert(old, hit);
    }
}

/// Looks up the words of the best statement among the hits, and brings the latest message that has
/// some of them and outdates it.
async fn lead_to_later(
    tx: &mut Tx<'_>,
    parts: &[Part],
    request: &RecallRequest,
    query: &Query,
    known: &RelevantFacts,
    texts: &[(MessageId, String)],
    hits: &mut Vec<Recalled>,
) -> Result<()> {
    // With conditions on messages, others must not come.
    if request.filter != MessageFilter::default() {
        return Ok(());
    }
    let leads = hits.iter().take(LEADING).find_map(|hit| {
        let (id, text) = texts.iter().find(|(id, _)| *id == hit.message.id)?;
        let is_short = text.len() <= LONGEST_STATEMENT;
        let told = is_short.then(|| ToldMessage::new(&STATEMENTS, text))?;
        told.states().then_some((*id, told, hit))
    });
    let Some((old_id, old, earlier)) = leads.filter(|(_, _, hit)| hit.outdated_by.is_none()) else {
        return Ok(());
    };
    let passages = parts.iter().map(|part| part.scope.passages.max(0));
    let most = rarity_limit(passages.fold(0, i64::saturating_add).unsigned_abs());
    let evidence = evidence::gather(tx, parts, request, old.words(), most).await?;
    let places = with_rare_words(old.words(), &evidence, LED_TO);
    let mut latest: Option<Recalled> = None;
    for part in parts {
        let mut own = part.own(
            places
                .iter()
                .map(|place| (place.conversation, place.message)),
        );
        own.sort_unstable();
        for (message, cuts) in messages_and_cuts(tx, part, &own).await? {
            // The message that is being answered has all words of the query, and would seem to change anything.
            let may_come = message.recallable
                && message.message.is_for_user()
                && request.answering != Some(message.id);
            let is_later = |than: &StoredMessage| follows(&message, than);
            if !may_come
                || !is_later(&earlier.message)
                || latest
                    .as_ref()
                    .is_some_and(|latest| !is_later(&latest.message))
            {
                continue;
            }
            let (conversation, seq) = part.place(message.id);
            let place = places
                .iter()
                .find(|place| (place.conversation, place.message) == (conversation, seq));
            let passage = place.map_or(0, |place| place.passage);
            let cut = cuts.and_then(|cuts| index::decode_cuts(&cuts, passage));
            let (start, end) = cut.unwrap_or_else(|| (0, message.text().len()));
            let found = Recalled {
                passage: start..end,
                score: Score::default(),
                duplicates: Vec::new(),
                outdated_by: None,
                message,
            };
            let text = found.text();
            let is_change = STATEMENTS.may_tell_change(&text) && {
                let new = ToldMessage::new(&STATEMENTS, &text);
                outdates(query, known, (found.message.id, &new), (old_id, &old))
            };
            drop(text);
            if is_change {
                latest = Some(found);
            }
        }
    }
    let Some(latest) = latest else {
        return Ok(());
    };
    let new = latest.message.id;
    if request.in_prompt.contains(&new) {
        mark(hits, old_id, &latest.message);
        return Ok(());
    }
    if !hits.iter().any(|hit| hit.message.id == new) {
        hits.push(latest);
    }
    mark_and_raise(hits, old_id, new);
    Ok(())
}

/// Marks a message as outdated by another one.
fn mark(hits: &mut [Recalled], old: MessageId, new: &StoredMessage) {
    if let Some(earlier) = hits.iter_mut().find(|hit| hit.message.id == old) {
        let (id, at) = (Some(new.id), new.at);
        earlier.outdated_by = Some(Later { id, at });
    }
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
