//! What was made of messages: facts, summaries, and the layers of a conversation.

use kitbag_core::entity::get_entity_context;
use kitbag_core::inject::{DurableEntries, EntryAction};
use kitbag_core::stored::ConversationContext;

use super::Forgotten;
use super::prompts::SHORTEST;
use crate::error::Result;
use crate::fact;
use crate::id::{ConversationId, MessageId};
use crate::scope::Scope;
use crate::state;
use crate::transaction::Tx;
use crate::value::Parameters;

/// Forgets what was derived from a message, and names what prompts may have of it.
pub(super) async fn forget_from_message(
    tx: &mut Tx<'_>,
    id: MessageId,
    text: &str,
    forgotten: &mut Forgotten,
) -> Result<Vec<String>> {
    let at = id.conversation;
    let which = "source_scope = $2 AND source_conversation = $3 AND source_seq = $4";
    let mut origins = facts(tx, at, which, id, forgotten).await?;
    let which = "scope = $2 AND conversation = $3 AND first_seq <= $4 AND last_seq >= $4";
    origins.extend(summaries(tx, which, id, forgotten).await?);
    forget_layers(tx, at, text).await?;
    Ok(origins)
}

/// Forgets what was derived from a conversation's messages.
pub(super) async fn forget_from_conversation(
    tx: &mut Tx<'_>,
    id: ConversationId,
    forgotten: &mut Forgotten,
) -> Result<Vec<String>> {
    let which = "source_scope = $2 AND source_conversation = $3";
    let mut origins = facts(tx, id, which, id, forgotten).await?;
    let which = "scope = $2 AND conversation = $3";
    origins.extend(summaries(tx, which, id, forgotten).await?);
    Ok(origins)
}

async fn facts(
    tx: &mut Tx<'_>,
    id: ConversationId,
    which: &str,
    parameters: impl Parameters + Copy,
    forgotten: &mut Forgotten,
) -> Result<Vec<String>> {
    let sender = Scope::sender(tx, id).await?;
    fact::lock(tx, &sender).await?;
    let sql = format!("SELECT DISTINCT key FROM fact WHERE tenant = $1 AND {which}");
    let keys: Vec<String> = tx.query(&sql, parameters).await?;
    let sql = format!("DELETE FROM fact WHERE tenant = $1 AND {which}");
    forgotten.facts += tx.execute(&sql, parameters).await?;
    Ok(keys.iter().map(|key| format!("fact/{key}")).collect())
}

async fn summaries(
    tx: &mut Tx<'_>,
    which: &str,
    parameters: impl Parameters + Copy,
    forgotten: &mut Forgotten,
) -> Result<Vec<String>> {
    let sql = format!("SELECT scope, id FROM summary WHERE tenant = $1 AND {which}");
    let found = tx.query::<(u32, u32)>(&sql, parameters).await?.into_iter();
    let origins = found.map(|(scope, number)| format!("summary/{scope}/{number}"));
    let sql = format!("DELETE FROM summary WHERE tenant = $1 AND {which}");
    forgotten.summaries += tx.execute(&sql, parameters).await?;
    Ok(origins.collect())
}

/// Summaries are made of all that was said, so they go; what does not hold the text stays.
async fn forget_layers(tx: &mut Tx<'_>, id: ConversationId, text: &str) -> Result<()> {
    let entries: DurableEntries = state::load(tx, id).await?.unwrap_or_default();
    let holding = entries
        .as_slice()
        .iter()
        .filter(|entry| holds(&entry.content, text));
    let actions: Vec<EntryAction> = holding
        .map(|entry| EntryAction::Remove {
            key: entry.key.clone(),
        })
        .collect();
    state::apply(tx, id, actions).await?;
    let Some(mut layers) = state::load::<ConversationContext>(tx, id).await? else {
        return Ok(());
    };
    layers.history_summary.clear();
    layers.engagement_summary.clear();
    layers.reasoning_summary.clear();
    layers.turn_summaries.clear();
    layers.step_summaries.clear();
    layers.recent_turns.retain(|turn| !holds(turn, text));
    layers
        .content_archive
        .retain(|_, content| !holds(content, text));
    layers
        .understand_decision_log
        .retain(|entry| !holds(entry, text));
    if layers
        .pending_clarification
        .as_ref()
        .is_some_and(|pending| holds(pending, text))
    {
        layers.pending_clarification = None;
    }
    let context = get_entity_context(&layers.id_registry, layers.id_registry.current_turn());
    for entity in context.entities().filter(|entity| holds(entity, text)) {
        // It is there: it was just listed.
        drop(layers.id_registry.drop_ref(&entity.reference));
    }
    layers.other.retain(|_, value| !holds(value, text));
    state::save(tx, id, &layers).await
}

/// Whether a value has the text in it: in one of its texts, or as one of them where it is so short that
/// it stands in others by chance.
fn holds(value: &impl serde::Serialize, text: &str) -> bool {
    let Ok(value) = serde_json::to_value(value) else {
        return true;
    };
    any_text(&value, &|one: &str| match text.len() < SHORTEST {
        true => one.trim() == text.trim(),
        false => one.contains(text),
    })
}

fn any_text(value: &serde_json::Value, is_it: &impl Fn(&str) -> bool) -> bool {
    match value {
        serde_json::Value::String(text) => is_it(text),
        serde_json::Value::Array(items) => items.iter().any(|item| any_text(item, is_it)),
        serde_json::Value::Object(fields) => fields.values().any(|field| any_text(field, is_it)),
        _ => false,
    }
}
