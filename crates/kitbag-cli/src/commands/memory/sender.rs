//! The sender that a command is about, if none is named or a name is mistyped.

use std::path::Path;

use kitbag::hook::CodingAgent;
use kitbag::store::{ConversationKey, ExportFilter, MessageFilter, Store};

use crate::failure::Failure;
use crate::output::{self, one_line};

/// The most senders that an error lists.
const LISTED: usize = 8;
/// The most rows to read: a sender has one for each channel.
const LOOKED_AT: u32 = 1_000;

/// The named sender, or the only one that the store knows. Projects, the senders of sessions with coding
/// agents, count only if there is nobody else.
pub(crate) async fn named_or_only(store: &Store, named: Option<&str>) -> Result<String, Failure> {
    if let Some(sender) = named {
        return Ok(sender.to_owned());
    }
    let mut known = store.sender_names(LOOKED_AT).await?;
    // Otherwise `kitbag ask` would need `--sender` as soon as hooks had run in two projects.
    if known.iter().any(is_person) {
        known.retain(is_person);
    }
    let names = names(&known);
    match names.as_slice() {
        [] => Err(Failure::new("the store has no senders yet")
            .hint("name one with `--sender`, or import conversations with `kitbag memory import`")),
        [only] => Ok((*only).to_owned()),
        several => {
            let what = "the store has several senders, and none is named";
            let hint = format!("name one with `--sender`: {}", listed(several));
            Err(Failure::usage(what).hint(hint))
        }
    }
}

/// Tells whether the store knows anybody besides projects.
pub(crate) async fn knows_anybody(store: &Store) -> Result<bool, Failure> {
    let known = store.sender_names(LOOKED_AT).await?;
    Ok(known.iter().any(is_person))
}

/// Tells persons from projects, whose name is the path of their folder.
fn is_person((sender, channel): &(String, String)) -> bool {
    CodingAgent::of_channel(channel).is_none() && !Path::new(sender).is_absolute()
}

/// The channels on which a sender has conversations.
pub(super) async fn channels_of(store: &Store, sender: &str) -> Result<Vec<String>, Failure> {
    let mut known = store.sender_names(u32::MAX).await?;
    known.retain(|(name, channel)| name == sender && !channel.is_empty());
    Ok(known.into_iter().map(|(_, channel)| channel).collect())
}

/// Says so if the store does not know the sender or the channel, with names that look alike, and returns
/// whether that was so. A mistyped name should not look like an empty memory.
pub(crate) async fn say_unknown(
    store: &Store,
    sender: Option<&str>,
    channel: Option<&str>,
) -> Result<bool, Failure> {
    if sender.is_none() && channel.is_none() {
        return Ok(false);
    }
    let mut known = store.sender_names(u32::MAX).await?;
    if let Some(sender) = sender {
        let names = names(&known);
        if !names.contains(&sender) {
            let what = format!("there is no sender `{}`", one_line(sender));
            output::say(format_args!("{what}; {}", alternatives(sender, &names)));
            return Ok(true);
        }
        known.retain(|(name, _)| name == sender);
    }
    let Some(channel) = channel else {
        return Ok(false);
    };
    let mut channels: Vec<&str> = known.iter().map(|(_, channel)| channel.as_str()).collect();
    // A sender of whom only facts are known has no channel.
    channels.retain(|channel| !channel.is_empty());
    channels.sort_unstable();
    channels.dedup();
    if channels.contains(&channel) {
        return Ok(false);
    }
    let of = sender.map_or_else(String::new, |sender| format!(" of `{}`", one_line(sender)));
    let what = format!("there is nothing{of} on channel `{}`", one_line(channel));
    output::say(format_args!("{what}; {}", alternatives(channel, &channels)));
    Ok(true)
}

/// Says so if the store has none of the named conversations, with names that look alike, and returns
/// whether that was so.
pub(crate) async fn say_unknown_conversations(
    store: &Store,
    conversations: &[ConversationKey],
) -> Result<bool, Failure> {
    let Some(first) = conversations.first() else {
        return Ok(false);
    };
    let mut messages = MessageFilter::default();
    messages.conversations = conversations.to_vec();
    let named = ExportFilter::default().among(messages);
    if !store.latest_conversations(&named, 1).await?.is_empty() {
        return Ok(false);
    }
    let what = match first {
        ConversationKey::Id(id) => format!("there is no conversation {id}"),
        ConversationKey::Name(name) => {
            let alternatives = like_conversations(store, name).await?;
            format!(
                "there is no conversation `{}`; {alternatives}",
                one_line(name)
            )
        }
    };
    output::say(what);
    Ok(true)
}

/// The names of conversations that may have been meant.
pub(crate) async fn like_conversations(store: &Store, name: &str) -> Result<String, Failure> {
    let everywhere = ExportFilter::default();
    let all = store.latest_conversations(&everywhere, LOOKED_AT);
    let names = all
        .await?
        .into_iter()
        .filter_map(|one| one.conversation.name);
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(alternatives(name, &names))
}

/// The names that may have been meant: those that look alike, or else some.
fn alternatives(written: &str, names: &[&str]) -> String {
    let near = nearest(written, names);
    match (near.as_slice(), names) {
        ([], []) => "the store has none yet".to_owned(),
        ([], names) => format!("the store has {}", listed(names)),
        (near, _) => format!("did you mean {}?", listed(near)),
    }
}

/// Up to three names of which `written` may be a misspelling, nearest first.
fn nearest<'a>(written: &str, names: &[&'a str]) -> Vec<&'a str> {
    let written = written.trim().to_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .map(|name| (strsim::osa_distance(&written, &name.to_lowercase()), *name))
        // More than a third of the letters wrong is another name.
        .filter(|(distance, name)| *distance <= name.chars().count().div_ceil(3))
        .collect();
    near.sort_unstable();
    near.truncate(3);
    near.into_iter().map(|(_, name)| name).collect()
}

fn names(senders: &[(String, String)]) -> Vec<&str> {
    let mut names: Vec<&str> = senders.iter().map(|(name, _)| name.as_str()).collect();
    // They are sorted by name, so equal names are neighbours.
    names.dedup();
    names
}

fn listed(names: &[&str]) -> String {
    let some = names.iter().take(LISTED).map(|name| one_line(name));
    let more = (names.len() > LISTED).then(|| "…".to_owned());
    some.chain(more).collect::<Vec<_>>().join(", ")
}
