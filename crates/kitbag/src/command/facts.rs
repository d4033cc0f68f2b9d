//! `/facts`: the facts about the sender on this channel.

use super::{CommandCall, CommandError, CommandReply};
use crate::words::beginning;

/// The most facts that are listed.
const MOST: u32 = 100;

pub(super) async fn facts(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    asked.takes_nothing()?;
    let (channel, sender) = (asked.channel(), asked.sender());
    let facts = asked.store()?.facts_on(channel, sender, MOST).await?;
    if facts.is_empty() {
        return Ok(format!("nothing is known about {sender} yet").into());
    }
    let keys = facts.iter().map(|fact| fact.key.chars().count());
    // A single long key must not push all values off a terminal of 80 columns.
    let width = keys.max().unwrap_or_default().min(30);
    let line = |fact: &kitbag_store::Fact| {
        let value = beginning(&fact.value, 80);
        format!("{:<width$}  {value}", beginning(&fact.key, 30))
    };
    let lines: Vec<String> = facts.iter().map(line).collect();
    Ok(lines.join("\n").into())
}
