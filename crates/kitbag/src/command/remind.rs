//! `/remind`: texts that stand in every prompt of the conversation.

use kitbag_core::inject::{ContextMessage, ContextMessageTarget, EntryAction};
use kitbag_core::role::Visibility;
use kitbag_store::{ConversationId, Store};

use super::{Asked, CommandError, CommandReply};
use crate::words::beginning;

pub(super) async fn remind(asked: Asked<'_>) -> Result<CommandReply, CommandError> {
    let store = asked.store()?;
    let (first, behind) = asked.rest.split_once(' ').unwrap_or((asked.rest, ""));
    let open = asked.conversation().await?;
    let text = match (first, behind.trim(), open) {
        ("", ..) => match open {
            Some(id) => list(store, id).await?,
            None => "there is no reminder".to_owned(),
        },
        ("remove", "", _) => return Err(asked.wrong("remove needs the key of a reminder")),
        ("remove", key, Some(id)) if has(store, id, key).await? => {
            let key = key.to_owned();
            let done = format!("removed `{key}`");
            store
                .change_entries(id, vec![EntryAction::Remove { key }])
                .await?;
            done
        }
        ("remove", key, _) => return Err(asked.wrong(format!("knows no reminder `{key}`"))),
        _ => add(asked, store).await?,
    };
    Ok(text.into())
}

async fn add(asked: Asked<'_>, store: &Store) -> Result<String, CommandError> {
    let incoming = asked.incoming;
    let (channel, choice) = (&incoming.channel, &incoming.conversation);
    let now = (asked.engine.clock)();
    let conversation = store.get_or_create_conversation(channel, asked.sender(), choice, now);
    let id = conversation.await?.id;
    let key = reminder_key(asked.rest);
    // Whoever wrote it may read it. At the end it leaves the provider's cache as it is.
    let message = ContextMessage::new(&key, asked.rest)
        .with_visibility(Visibility::All)
        .with_target(ContextMessageTarget::SuffixSystem);
    store
        .change_entries(id, vec![EntryAction::Upsert { message }])
        .await?;
    Ok(format!(
        "every prompt of this conversation holds it now; `/remind remove {key}` ends that"
    ))
}

async fn list(store: &Store, id: ConversationId) -> Result<String, CommandError> {
    let state = store.state(id).await?;
    let entries = state.entries.as_slice().iter();
    let shown = entries.filter(|entry| entry.visibility.is_all());
    let line = |entry: &ContextMessage| {
        let text = beginning(&entry.content, 120);
        format!("{}: {text}", beginning(&entry.key, 60))
    };
    let lines: Vec<String> = shown.map(line).collect();
    Ok(match lines.is_empty() {
        true => "there is no reminder".to_owned(),
        false => lines.join("\n"),
    })
}

async fn has(store: &Store, id: ConversationId, key: &str) -> Result<bool, CommandError> {
    let state = store.state(id).await?;
    let mut entries = state.entries.as_slice().iter();
    Ok(entries.any(|entry| entry.key == key && entry.visibility.is_all()))
}

/// The key of a reminder that has none: the first words of its text and the beginning of the text's hash.
/// The same text has the same key, and another one that begins alike does not replace it.
#[must_use]
pub fn reminder_key(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).take(4);
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let hash = hash.chars().take(8).collect();
    let parts: Vec<String> = words.map(str::to_lowercase).chain([hash]).collect();
    parts.join("-")
}
