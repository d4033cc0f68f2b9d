//! The prompts that hold a text.
//!
//! A row of `prompt_text` says that a text stands in a prompt, and perhaps in later ones of the same
//! conversation: most of a prompt stood in the one before it, and a row for each text of each prompt would be
//! most of what a turn writes. The recipes of the later prompts say which of them hold the text.

use std::collections::{BTreeMap, BTreeSet};

use super::recipe::{Hash, Recipe, Texts};
use crate::error::Result;
use crate::id::{ConversationId, TurnId};
use crate::transaction::{Tx, placeholders};
use crate::value::{Row, Value};

/// The key of a prompt: its turn, and its number among the inferences of the turn.
pub(crate) type PromptKey = (TurnId, u32);

/// The place of a prompt in its conversation.
type PromptPlace = (u32, u32);

/// Leaves out the texts that earlier prompts of the conversation have rows for already, with the same origin. Rows
/// of later prompts, which a turn that is tried again finds, do not count: nobody looks back from them.
pub(super) async fn leave_out_known(
    tx: &mut Tx<'_>,
    (turn, inference): PromptKey,
    texts: &mut Texts,
) -> Result<()> {
    let hashes: Vec<Value> = texts.bodies.keys().map(|hash| Value::from(*hash)).collect();
    let mut known: BTreeSet<(Vec<u8>, String)> = BTreeSet::new();
    // SQLite takes 32,766 parameters and PostgreSQL 65,535; 500 keep the statement short.
    for some in hashes.chunks(500) {
        // A text that is gone, as in a damaged store, is written again.
        let sql = format!(
            "SELECT hash, origin FROM prompt_text WHERE tenant = $1 AND scope = $2 \
             AND conversation = $3 AND (turn < $4 OR turn = $4 AND inference < $5) \
             AND hash IN ({}) AND EXISTS (SELECT 1 FROM text \
             WHERE text.tenant = prompt_text.tenant AND text.hash = prompt_text.hash)",
            placeholders(6, some.len())
        );
        known.extend(
            tx.query::<(Vec<u8>, String)>(&sql, (turn, inference, some.to_vec()))
                .await?,
        );
    }
    let hashes: BTreeSet<&[u8]> = known.iter().map(|(hash, _)| hash.as_slice()).collect();
    texts
        .bodies
        .retain(|hash, _| !hashes.contains(hash.bytes()));
    texts
        .origins
        .retain(|(hash, origin)| !known.contains(&(hash.bytes().to_vec(), origin.clone())));
    Ok(())
}

/// The prompts that hold the texts of some rows: of each conversation those from the row's own prompt on whose
/// recipe has the text.
pub(crate) async fn holders(
    tx: &mut Tx<'_>,
    rows: impl IntoIterator<Item = (PromptKey, Hash)>,
) -> Result<BTreeSet<PromptKey>> {
    let mut wanted: BTreeMap<ConversationId, BTreeMap<Hash, PromptPlace>> = BTreeMap::new();
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
        let mut archived = Archived::from(conversation, *first);
        while let Some(page) = archived.next_page(tx).await? {
            for (place, hashes) in page {
                // A recipe that cannot be read could hold anything.
                let is_holder = hashes.is_none_or(|hashes| {
                    texts
                        .iter()
                        .any(|(hash, first)| *first <= place && hashes.contains(hash))
                });
                if is_holder {
                    found.insert((conversation.turn(place.0), place.1));
                }
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
    let mut loose: BTreeSet<(PromptPlace, Hash, String)> = BTreeSet::new();
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
    let mut archived = Archived::from(id, *first);
    while !loose.is_empty()
        && let Some(page) = archived.next_page(tx).await?
    {
        for (place, hashes) in page {
            let Some(hashes) = hashes else {
                continue;
            };
            let holds = |(before, hash, _): &(PromptPlace, Hash, String)| {
                *before < place && hashes.contains(hash)
            };
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
    }
    Ok(())
}

/// The recipes that are read at a time: each names all texts of its prompt.
const PAGE: usize = 50;

/// The prompts of a conversation from a place on that can be made again, in order.
struct Archived {
    id: ConversationId,
    /// The start of the next page; `None` after the last one.
    next: Option<(i64, i64)>,
}

impl Archived {
    fn from(id: ConversationId, (turn, inference): PromptPlace) -> Self {
        let next = Some((turn.into(), inference.into()));
        Self { id, next }
    }

    /// The next prompts with the hashes of their texts; no hashes if a recipe cannot be read.
    async fn next_page(
        &mut self,
        tx: &mut Tx<'_>,
    ) -> Result<Option<Vec<(PromptPlace, Option<BTreeSet<Hash>>)>>> {
        let Some(first) = self.next.take() else {
            return Ok(None);
        };
        let sql = format!(
            "SELECT turn, inference, recipe FROM prompt WHERE tenant = $1 AND scope = $2 \
             AND conversation = $3 AND (turn, inference) >= ($4, $5) AND recipe IS NOT NULL \
             ORDER BY turn, inference LIMIT {PAGE}"
        );
        let rows = tx.query::<Row>(&sql, (self.id, first)).await?;
        let is_last = rows.len() < PAGE;
        let mut page = Vec::with_capacity(rows.len());
        for mut row in rows {
            // A row with a wrong number is nobody's prompt.
            let Ok((turn, inference)) = row.read::<(i64, i64)>() else {
                continue;
            };
            self.next = (!is_last).then_some((turn, inference.saturating_add(1)));
            if let (Ok(turn), Ok(inference)) = (turn.try_into(), inference.try_into()) {
                let recipe = row.read::<String>().ok();
                let recipe = recipe.and_then(|json| serde_json::from_str::<Recipe>(&json).ok());
                page.push(((turn, inference), recipe.map(|recipe| recipe.hashes())));
            }
        }
        Ok(Some(page))
    }
}
