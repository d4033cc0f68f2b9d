//! The prompts that hold a text.
//!
//! A row of `prompt_text` says that a text stands in a prompt, and perhaps in later ones of the same
//! conversation: most of a prompt stood in the one before it, and a row for each text of each prompt would be
//! most of what a turn writes. The recipes of the later prompts say which of them hold the text.

use std::collections::{BTreeMap, BTreeSet};

use super::recipe::{Hash, Recipe, Texts};
use crate::error::Result;
use crate::id::{ConversationId, TurnId};
use crate::transaction::Tx;
use crate::value::Row;

/// The key of a prompt: its turn, and its number among the inferences of the turn.
pub(crate) type PromptKey = (TurnId, u32);

/// The place of a prompt in its conversation.
type Place = (u32, u32);

/// Leaves out the texts that the conversation has rows for already, with the same origin.
pub(super) async fn leave_out_known(
    tx: &mut Tx<'_>,
    id: ConversationId,
    texts: &mut Texts,
) -> Result<()> {
    let sql = "SELECT hash, origin FROM prompt_text WHERE tenant = $1 AND scope = $2 \
               AND conversation = $3";
    // As bytes: a damaged row must not keep a turn from being answered.
    let known: Vec<(Vec<u8>, String)> = tx.query(sql, id).await?;
    let known: BTreeSet<(&[u8], &str)> = known
        .iter()
        .map(|(hash, origin)| (hash.as_slice(), origin.as_str()))
        .collect();
    let hashes: BTreeSet<&[u8]> = known.iter().map(|(hash, _)| *hash).collect();
    let is_known =
        |(hash, origin): &(Hash, String)| known.contains(&(hash.bytes(), origin.as_str()));
    texts.origins.retain(|one| !is_known(one));
    texts
        .bodies
        .retain(|hash, _| !hashes.contains(hash.bytes()));
    Ok(())
}

/// The prompts that hold the texts of some rows: of each conversation those from the row's own prompt on whose
/// recipe has the text.
pub(crate) async fn holders(
    tx: &mut Tx<'_>,
    rows: impl IntoIterator<Item = (PromptKey, Hash)>,
) -> Result<BTreeSet<PromptKey>> {
    let mut wanted: BTreeMap<ConversationId, BTreeMap<Hash, Place>> = BTreeMap::new();
    for ((turn, inference), hash) in rows {
        let place = (turn.number(), inference);
        let first = wanted.entry(turn.conversation()).or_default();
        let first = first.entry(hash).or_insert(place);
        *first = place.min(*first);
    }
    let mut found = BTreeSet::new();
    for (conversation, texts) in wanted {
        let Some(first) = texts.values().min() else {
            continue;
        };
        for place in archived_from(tx, conversation, *first).await? {
            // A recipe that cannot be read could hold anything.
            let is_holder = match hashes(tx, conversation, place).await? {
                Some(hashes) => texts
                    .iter()
                    .any(|(hash, first)| *first <= place && hashes.contains(hash)),
                None => true,
            };
            if is_holder {
                found.insert((conversation.turn(place.0), place.1));
            }
        }
    }
    Ok(found)
}

/// Moves the rows of prompts that were emptied or removed to the next prompts of the conversation that hold their
/// texts. The hashes of all these texts are added to `taken`: those that nobody holds can go.
pub(crate) async fn let_go(
    tx: &mut Tx<'_>,
    id: ConversationId,
    taken: &mut BTreeSet<Hash>,
) -> Result<()> {
    let sql = "DELETE FROM prompt_text WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
               AND NOT EXISTS (SELECT 1 FROM prompt WHERE prompt.tenant = prompt_text.tenant \
               AND prompt.scope = prompt_text.scope \
               AND prompt.conversation = prompt_text.conversation \
               AND prompt.turn = prompt_text.turn AND prompt.inference = prompt_text.inference \
               AND prompt.recipe IS NOT NULL) RETURNING turn, inference, hash, origin";
    let mut loose: BTreeSet<(Place, Hash, String)> = BTreeSet::new();
    for mut row in tx.query::<Row>(sql, id).await? {
        // A damaged row leads to no text.
        if let Ok((turn, inference, hash, origin)) = row.read() {
            loose.insert(((turn, inference), hash, origin));
        }
    }
    taken.extend(loose.iter().map(|(_, hash, _)| *hash));
    let Some((first, ..)) = loose.first() else {
        return Ok(());
    };
    for place in archived_from(tx, id, *first).await? {
        if loose.is_empty() {
            break;
        }
        let Some(hashes) = hashes(tx, id, place).await? else {
            continue;
        };
        let holds =
            |(before, hash, _): &(Place, Hash, String)| *before < place && hashes.contains(hash);
        let moved: Vec<_> = loose.iter().filter(|one| holds(one)).cloned().collect();
        let key = (id.turn(place.0), place.1);
        for one in &moved {
            loose.remove(one);
        }
        let rows = moved.into_iter();
        // Archives of earlier versions have a row in each prompt.
        tx.insert_or(
            "prompt_text (tenant, scope, conversation, turn, inference, hash, origin)",
            "ON CONFLICT DO NOTHING",
            rows.map(|(_, hash, origin)| (key, hash, origin)),
        )
        .await?;
    }
    Ok(())
}

/// The prompts of a conversation from a place on that can be made again, in order.
async fn archived_from(tx: &mut Tx<'_>, id: ConversationId, first: Place) -> Result<Vec<Place>> {
    let sql = "SELECT turn, inference FROM prompt WHERE tenant = $1 AND scope = $2 \
               AND conversation = $3 AND turn >= $4 AND recipe IS NOT NULL \
               ORDER BY turn, inference";
    let mut places = Vec::new();
    for mut row in tx.query::<Row>(sql, (id, first.0)).await? {
        // A row with a wrong number is nobody's prompt.
        places.extend(row.read::<Place>().ok());
    }
    places.retain(|place| *place >= first);
    Ok(places)
}

/// The hashes of a prompt's texts; none if its recipe cannot be read.
async fn hashes(
    tx: &mut Tx<'_>,
    id: ConversationId,
    (turn, inference): Place,
) -> Result<Option<BTreeSet<Hash>>> {
    let sql = "SELECT recipe FROM prompt WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
               AND turn = $4 AND inference = $5";
    let recipe: Option<String> = tx.query_one(sql, (id, turn, inference)).await?;
    let recipe = recipe.and_then(|json| serde_json::from_str::<Recipe>(&json).ok());
    Ok(recipe.map(|recipe| recipe.hashes()))
}
