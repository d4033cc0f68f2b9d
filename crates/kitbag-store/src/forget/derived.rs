//! Forgets what was derived from messages: facts, summaries, and the layers of a conversation.

use std::collections::BTreeSet;

use kitbag_core::compact::Compaction;
use kitbag_core::entity::get_entity_context;
use kitbag_core::inject::{DurableEntries, EntryAction};
use kitbag_core::stored::ConversationContext;

use super::Forgotten;
use super::prompts::SHORTEST;
use crate::conversation::Conversation;
use crate::error::Result;
use crate::extension;
use crate::fact::{self, Timeline};
use crate::id::{ConversationId, MessageId};
use crate::scope::Scope;
use crate::state;
use crate::transaction::Tx;
use crate::value::Parameters;

/// Forgets everything derived from a message, and returns the origins by which prompts refer to it.
pub(crate) async fn forget_from_message(
    tx: &mut Tx<'_>,
    id: MessageId,
    text: &str,
    forgotten: &mut Forgotten,
) -> Result<Vec<String>> {
    let at = id.conversation;
    let of_it = (
        " AND source_seq = $4",
        " AND first_seq <= $4 AND last_seq >= $4",
    );
    let origins = facts_and_summaries(tx, at, of_it, id, forgotten).await?;
    forget_layers(tx, at, text).await?;
    let compaction: Option<Compaction> = state::load(tx, at).await?;
    // A compaction that ends before the message cannot tell of it.
    if compaction.is_some_and(|compaction| compaction.through >= id.seq) {
        state::remove::<Compaction>(tx, at).await?;
    }
    Ok(origins)
}

/// Forgets the title of a conversation if it shares a word with a forgotten text: whoever made the
/// title may have taken it from there.
pub(super) async fn forget_title(
    tx: &mut Tx<'_>,
    conversation: &Conversation,
    gone: &[&str],
) -> Result<()> {
    let Some(title) = &conversation.title else {
        return Ok(());
    };
    let titled: BTreeSet<String> = telling_words(title).collect();
    let mut words = gone.iter().flat_map(|text| telling_words(text));
    if words.any(|word| titled.contains(&word)) {
        let sql =
            "UPDATE conversation SET title = NULL WHERE tenant = $1 AND scope = $2 AND id = $3";
        tx.execute(sql, conversation.id).await?;
    }
    Ok(())
}

/// The words of a text that are long enough to tell something, in lower case. In scripts without
/// spaces a single character may be a word.
fn telling_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.chars().count() > 3 || !word.is_ascii());
    words.map(str::to_lowercase)
}

/// Forgets everything derived from the messages of a conversation.
pub(super) async fn forget_from_conversation(
    tx: &mut Tx<'_>,
    id: ConversationId,
    forgotten: &mut Forgotten,
) -> Result<Vec<String>> {
    facts_and_summaries(tx, id, ("", ""), id, forgotten).await
}

/// Forgets those facts and summaries from a conversation that meet further conditions, and returns
/// their origins as prompts name them.
async fn facts_and_summaries(
    tx: &mut Tx<'_>,
    id: ConversationId,
    (facts, summaries): (&str, &str),
    parameters: impl Parameters + Copy,
    forgotten: &mut Forgotten,
) -> Result<Vec<String>> {
    let sender = Scope::sender(tx, id).await?;
    fact::lock(tx, &sender).await?;
    let of_it = format!(
        "FROM fact WHERE tenant = $1 AND source_scope = $2 AND source_conversation = $3{facts}"
    );
    let sql = format!("SELECT key, source_seq {of_it} ORDER BY key");
    let sources: Vec<(String, u32)> = tx.query(&sql, parameters).await?;
    let gone: BTreeSet<MessageId> = sources.iter().map(|(_, seq)| id.message(*seq)).collect();
    let facts: BTreeSet<String> = sources.into_iter().map(|(key, _)| key).collect();
    // Read before the deletion: what remains of a timeline is settled from all of its values.
    let mut timelines = Vec::new();
    for key in &facts {
        timelines.push(Timeline::read(tx, &sender, key).await?);
    }
    forgotten.facts += tx.execute(&format!("DELETE {of_it}"), parameters).await?;
    // A value that a deleted one had replaced holds again.
    for timeline in timelines {
        timeline
            .save_without(tx, |fact| {
                fact.source.is_some_and(|source| gone.contains(&source))
            })
            .await?;
    }
    let sql = format!(
        "DELETE FROM summary WHERE tenant = $1 AND scope = $2 AND conversation = $3{summaries} \
         RETURNING id"
    );
    let summaries: Vec<u32> = tx.query(&sql, parameters).await?;
    forgotten.summaries += summaries.len() as u64;
    let facts = facts.iter().map(|key| format!("fact/{key}"));
    let summaries = summaries.iter();
    let summaries = summaries.map(|number| format!("summary/{}/{number}", id.scope));
    Ok(facts.chain(summaries).collect())
}

/// Removes a text from the layers of a conversation. Summaries were made of all messages, so they
/// go in any case; of the rest only parts that contain the text.
async fn forget_layers(tx: &mut Tx<'_>, id: ConversationId, text: &str) -> Result<()> {
    let entries: DurableEntries = state::load(tx, id).await?.unwrap_or_default();
    let entries = entries.as_slice().iter();
    let holding = entries.filter(|entry| holds(&entry.content, text));
    let remove = holding.map(|entry| EntryAction::Remove {
        key: entry.key.clone(),
    });
    state::apply(tx, id, remove.collect()).await?;
    extension::forget(tx, id, |value| holds(value, text)).await?;
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
    let pending = &mut layers.pending_clarification;
    pending.take_if(|pending| holds(pending, text));
    let context = get_entity_context(&layers.id_registry, layers.id_registry.current_turn());
    for entity in context.entities().filter(|entity| holds(entity, text)) {
        // It exists, since it was just listed.
        drop(layers.id_registry.drop_ref(&entity.reference));
    }
    layers.other.retain(|_, value| !holds(value, text));
    state::save(tx, id, &layers).await
}

/// Returns true if one of a value's texts contains `text`. A short text must be equal to one of
/// them, since it occurs in others by chance.
fn holds(value: &impl serde::Serialize, text: &str) -> bool {
    let Ok(value) = serde_json::to_value(value) else {
        // A value that cannot be written as JSON cannot be searched: it is safer to remove it.
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
