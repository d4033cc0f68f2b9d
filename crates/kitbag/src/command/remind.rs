//! `/remind`: texts that every prompt of the conversation holds, as wishes of the user.
//!
//! They are the user's words and never instructions by the operator, which `kitbag remind` adds.

use kitbag_core::inject::{ContextMessage, ContextMessageTarget, DurableEntries, EntryAction};
use kitbag_core::role::{Role, Visibility};
use kitbag_layout::reserved::{neutralise, restore};
use kitbag_store::{MemoryRequest, Store};

use super::{CommandCall, CommandError, CommandReply};
use crate::receive::Findings;
use crate::words::beginning;

/// The line above a reminder in a prompt.
const HEADING: &str = "The user asked to be reminded of this:\n";

/// The most reminders: they take room in every prompt, so they are few and short.
const MOST: usize = 16;
const MOST_CHARACTERS: usize = 500;

pub(super) async fn remind(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    let store = asked.store()?;
    let (first, behind) = asked.rest.split_once(' ').unwrap_or((asked.rest, ""));
    // Read through the conversation, since a new one takes over the reminders of the one before.
    let mut request = MemoryRequest::new(asked.incoming.clone(), (asked.engine.clock)());
    request.messages = 1;
    let entries = store.read_conversation(&request).await?.state.entries;
    let text = match (first, behind.trim()) {
        ("", _) => list(&entries),
        ("remove", "") => return Err(asked.wrong("remove needs the key of a reminder")),
        ("remove", key) if of_user(&entries).any(|one| one.key == key) => {
            let key = key.to_owned();
            let done = format!("removed `{key}`");
            change(asked, store, EntryAction::Remove { key }).await?;
            done
        }
        ("remove", key) => {
            let sender = asked.sender();
            return Err(asked.wrong(format!("knows no reminder `{key}` of {sender}")));
        }
        _ => add(asked, store, &entries).await?,
    };
    Ok(text.into())
}

async fn add(
    asked: CommandCall<'_>,
    store: &Store,
    entries: &DurableEntries,
) -> Result<String, CommandError> {
    let text = asked.rest;
    let characters = text.chars().count();
    if characters > MOST_CHARACTERS {
        return Err(asked.wrong(format!(
            "takes at most {MOST_CHARACTERS} characters, and this has {characters}"
        )));
    }
    let key = reminder_key(text);
    // The key contains the hash of the text, so equal keys are equal reminders.
    if entries.as_slice().iter().any(|one| one.key == key) {
        return Ok("every prompt of this conversation holds it already".to_owned());
    }
    if of_user(entries).count() >= MOST {
        return Err(asked.wrong(format!(
            "keeps at most {MOST} reminders; `/remind remove KEY` makes room for one"
        )));
    }
    // Visible, because its author may read it. At the end of the prompt, where a change leaves the cached
    // prefix as it is.
    let message = ContextMessage::new(&key, format!("{HEADING}{}", neutralise(text)))
        .with_role(Role::User)
        .with_visibility(Visibility::All)
        .with_target(ContextMessageTarget::SuffixSystem);
    change(asked, store, EntryAction::Upsert { message }).await?;
    let mut told =
        format!("every prompt of this conversation holds it now; `/remind remove {key}` ends that");
    // A reminder is in every prompt, so a suspicious one is worth a warning at once.
    for problem in Findings::of(text).problems() {
        told.push_str(&format!("\nwarning: {}", problem.message));
    }
    Ok(told)
}

/// Changes the reminders of the open conversation, which begins with this if there is none.
async fn change(
    asked: CommandCall<'_>,
    store: &Store,
    action: EntryAction,
) -> Result<(), CommandError> {
    let incoming = asked.incoming;
    let (channel, choice) = (&incoming.channel, &incoming.conversation);
    let now = (asked.engine.clock)();
    let conversation = store.get_or_create_conversation(channel, asked.sender(), choice, now);
    let id = conversation.await?.id;
    Ok(store.change_entries(id, vec![action]).await?)
}

/// All reminders that people may see, also those that the operator added.
fn list(entries: &DurableEntries) -> String {
    let entries = entries.as_slice().iter();
    let shown = entries.filter(|entry| entry.visibility.is_all());
    let line = |entry: &ContextMessage| {
        let text = match entry.content.strip_prefix(HEADING) {
            Some(text) => restore(text),
            None => entry.content.as_str().into(),
        };
        format!("{}: {}", beginning(&entry.key, 60), beginning(&text, 120))
    };
    let lines: Vec<String> = shown.map(line).collect();
    match lines.is_empty() {
        true => "there is no reminder".to_owned(),
        false => lines.join("\n"),
    }
}

/// The reminders that `/remind` added, which it may remove.
fn of_user(entries: &DurableEntries) -> impl Iterator<Item = &ContextMessage> {
    let entries = entries.as_slice().iter();
    entries.filter(|entry| entry.role == Role::User && entry.visibility.is_all())
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
