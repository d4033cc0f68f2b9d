//! Finds the messages that registered entities a query is about.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::entity::get_entity_context;
use kitbag_core::recall::{Query, analyse};
use kitbag_core::stored::ConversationContext;

use super::Part;
use crate::error::Result;
use crate::id::ConversationId;
use crate::state;
use crate::transaction::Tx;

/// The number of conversations whose entities are read.
const CONVERSATIONS: usize = 12;

/// Returns the number of entities from each message that share a word with the query.
pub(super) async fn remembered(
    tx: &mut Tx<'_>,
    part: &Part,
    query: &Query,
    candidates: &[(u32, u32)],
) -> Result<BTreeMap<(u32, u32), u32>> {
    let terms: BTreeSet<&str> = query.terms().collect();
    let mut remembered = BTreeMap::new();
    for place in entities(tx, part, &terms, candidates).await? {
        *remembered.entry(place).or_insert(0) += 1;
    }
    Ok(remembered)
}

/// The messages of the turns in which matching entities were registered or last referred to.
async fn entities(
    tx: &mut Tx<'_>,
    part: &Part,
    terms: &BTreeSet<&str>,
    candidates: &[(u32, u32)],
) -> Result<Vec<(u32, u32)>> {
    if !part.contents.layers {
        return Ok(Vec::new());
    }
    // Candidates are ordered by relevance, so these are the most relevant conversations.
    let mut conversations: Vec<u32> = Vec::new();
    for (conversation, _) in candidates {
        if !conversations.contains(conversation) && conversations.len() < CONVERSATIONS {
            conversations.push(*conversation);
        }
    }
    let mut places = Vec::new();
    for number in conversations {
        let id = ConversationId {
            scope: part.scope.id,
            number,
        };
        let layers: ConversationContext = state::load(tx, id).await?.unwrap_or_default();
        let turn = layers.id_registry.current_turn();
        let context = get_entity_context(&layers.id_registry, turn);
        let told = context.entities().filter(|one| is_about(&one.label, terms));
        let turns: BTreeSet<u32> = told
            .flat_map(|entity| [entity.turn_created, entity.turn_last_ref])
            .collect();
        for turn in turns {
            let sql = "SELECT message FROM turn WHERE tenant = $1 AND scope = $2 \
                       AND conversation = $3 AND id = $4";
            let message = tx.query_one(sql, id.turn(turn)).await?;
            places.extend(message.map(|seq| (number, seq)));
        }
    }
    Ok(places)
}

fn is_about(text: &str, terms: &BTreeSet<&str>) -> bool {
    let analysis = analyse(text);
    let mut words = analysis.passages.iter().flat_map(|passage| &passage.terms);
    words.any(|(term, _)| terms.contains(term.as_str()))
}
