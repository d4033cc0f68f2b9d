//! `/memory`: the size of the sender's memory on this channel, or the messages and facts about some words.

use kitbag_store::RecallRequest;

use super::{CommandCall, CommandError, CommandReply};
use crate::words::{beginning, counted};

/// The number of messages to recall.
const RECALLED: usize = 5;

pub(super) async fn memory(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    match asked.rest.is_empty() {
        true => counts(asked).await,
        false => recalled(asked).await,
    }
}

async fn counts(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    let store = asked.store()?;
    let sender = asked.sender();
    let conversations = store.latest_conversations(&asked.own(), u32::MAX).await?;
    let messages = conversations.iter().map(|one| one.kept).sum();
    let facts = store.facts_on(asked.channel(), sender, u32::MAX);
    let facts = facts.await?.len();
    Ok(format!(
        "{} of {sender} in {}, and {}",
        counted(messages, "message", "messages"),
        counted(conversations.len() as u64, "conversation", "conversations"),
        counted(facts as u64, "fact", "facts"),
    )
    .into())
}

async fn recalled(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    let store = asked.store()?;
    let request = RecallRequest::new(asked.sender(), asked.rest).limit(RECALLED);
    let request = request
        .at((asked.engine.clock)())
        .on_channel(asked.channel());
    let mut lines = Vec::new();
    // Facts come first: they say in one line what messages say in several.
    for known in store.recall_facts(&request).await? {
        let (key, value) = (known.fact.key, known.fact.value);
        lines.push(format!(
            "fact {}: {}",
            beginning(&key, 40),
            beginning(&value, 120)
        ));
    }
    for recalled in store.recall(&request).await? {
        let stored = &recalled.message;
        let at = stored
            .at
            .map(|at| at.wall_clock().strftime("%Y-%m-%d").to_string());
        let at = at.unwrap_or_else(|| "undated".to_owned());
        let outdated = match recalled.outdated_by {
            Some(_) => " (outdated)",
            None => "",
        };
        let role = stored.message.role;
        let text = beginning(&recalled.text(), 200);
        lines.push(format!("{} {at} {role}: {text}{outdated}", stored.id));
    }
    if lines.is_empty() {
        lines.push(format!("nothing is remembered about `{}`", asked.rest));
    }
    Ok(lines.join("\n").into())
}
