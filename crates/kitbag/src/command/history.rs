//! `/history`: the latest messages of the conversation.

use kitbag_core::role::Role;
use kitbag_store::StoredMessage;

use super::{CommandCall, CommandError, CommandReply};
use crate::words::beginning;

/// The default number of messages.
const USUAL: u32 = 10;

pub(super) async fn history(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    let count = match asked.rest {
        "" => USUAL,
        given => given
            .parse()
            .ok()
            // Zero would list nothing and look like an empty conversation.
            .filter(|count| *count > 0)
            .ok_or_else(|| {
                asked.wrong(format!(
                    "takes how many messages to list, and not `{given}`"
                ))
            })?,
    };
    let store = asked.store()?;
    let Some(id) = asked.conversation().await? else {
        return Ok("the conversation begins with the next message"
            .to_owned()
            .into());
    };
    let messages = store.visible_messages(id, count).await?;
    let line = |stored: &StoredMessage| {
        let message = &stored.message;
        let speaker = match (message.role, message.name.as_deref()) {
            (_, Some(name)) => name.to_owned(),
            (Role::User, None) => asked.sender().to_owned(),
            (role, None) => role.to_string(),
        };
        format!(
            "{} {speaker}: {}",
            stored.id,
            beginning(&stored.text(), 200)
        )
    };
    let lines: Vec<String> = messages.iter().map(line).collect();
    Ok(lines.join("\n").into())
}
