//! Compares the best candidates with a query by meaning, if the store has a model.
//!
//! No vectors are stored: the passages of the candidates are read and compared for each query. So a
//! store is the same with any model or none.

use std::collections::BTreeMap;

use kitbag_core::recall::{Candidate, MessageFacts, Query};

use super::{Part, RecallRequest, messages_and_cuts};
use crate::embedding::likenesses;
use crate::error::Result;
use crate::index;
use crate::transaction::Tx;

/// The number of candidates that are compared, the best by their words.
const COMPARED: usize = 400;

/// Adds words with nearly the same meaning to the query, so that messages in other words are found.
pub(super) fn with_near_words(mut query: Query, request: &RecallRequest) -> Query {
    if let Some(embedder) = &request.embedder {
        query.add_near(|words| embedder.near(words));
    }
    query
}

/// Adds the likeness of each message's best passage to its facts.
pub(super) async fn add_likeness(
    tx: &mut Tx<'_>,
    parts: &[Part],
    request: &RecallRequest,
    candidates: &[Candidate],
    mut facts: Vec<MessageFacts>,
) -> Result<Vec<MessageFacts>> {
    let Some(embedder) = &request.embedder else {
        return Ok(facts);
    };
    // Keyed by place, since the rows come back in no order.
    let passages: BTreeMap<(u32, u32), u16> = candidates
        .iter()
        .take(COMPARED)
        .map(|candidate| {
            let place = (candidate.conversation, candidate.message);
            (place, candidate.passage)
        })
        .collect();
    let mut said = BTreeMap::new();
    for part in parts {
        let places = part.own(passages.keys().copied());
        for (found, cuts) in messages_and_cuts(tx, part, &places).await? {
            let place = part.place(found.id);
            let text = found.text();
            let passage = passages.get(&place).copied().unwrap_or_default();
            let cut = cuts.and_then(|cuts| index::decode_cuts(&cuts, passage));
            let passage = cut.and_then(|(start, end)| text.get(start..end));
            said.insert(place, passage.unwrap_or(&text).to_owned());
        }
    }
    let likenesses = likenesses(embedder, &request.query, &said);
    for facts in &mut facts {
        let place = (facts.conversation, facts.message);
        facts.likeness = likenesses.get(&place).copied();
    }
    Ok(facts)
}
