//! `/checkpoint`: saves the conversation as a task of the project, to go on with in another one.
//!
//! It shows and replaces nothing but what the same sender saved on the same channel.

use kitbag_core::envelope::{TaskEnvelope, TaskType};
use kitbag_core::role::Role;
use kitbag_store::StoredMessage;
use serde_json::{Map, Value};

use super::{CommandCall, CommandError, CommandReply};
use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointState, SessionId};
use crate::words::{beginning, counted};

/// The most messages that are saved, the newest ones.
const MESSAGES: u32 = 500;

/// The most characters of a task that is named by the first message.
const TASK: usize = 500;

pub(super) async fn checkpoint(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    let store = asked.store()?;
    let Some(checkpoints) = &asked.engine.checkpoints else {
        return Err(asked.wrong("cannot save on this channel: no folder for tasks is configured"));
    };
    let Some(id) = asked.conversation().await? else {
        return Err(asked.wrong("saves a conversation, and none has begun"));
    };
    let messages = store.visible_messages(id, MESSAGES).await?;
    let now = (asked.engine.clock)();
    let session = format!("chat-{id}");
    let from = saved_from(asked);
    let name = session.parse::<SessionId>();
    let name = name.map_err(|error| asked.wrong(error.to_string()))?;
    let former = match checkpoints.restore(&name) {
        Ok(former) => Some(former),
        Err(CheckpointError::NotFound { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    // Another store has conversations of the same number.
    if let Some(former) = &former
        && from
            .iter()
            .any(|(key, value)| former.extra.get(key) != Some(value))
    {
        return Err(asked.wrong(format!(
            "would replace `{session}`, which somebody else saved"
        )));
    }
    let task = match (asked.rest, &former) {
        ("", Some(former)) => former.user_request.clone(),
        ("", None) => first_words(&messages),
        (task, _) => task.to_owned(),
    };
    let task_type = TaskType::infer(&task).task_type;
    let envelope = TaskEnvelope::new(task_type, task, session.as_str(), now);
    let saved = Checkpoint::of(&envelope, now).map_err(|error| asked.wrong(error.to_string()))?;
    let mut saved = saved.with_state(CheckpointState::Paused);
    if let Some(former) = former {
        saved.context_summary = former.context_summary;
        saved.context = former.context;
        saved.artifacts = former.artifacts;
        saved.extra = former.extra;
    }
    saved.extra.extend(from);
    let count = counted(messages.len() as u64, "message", "messages");
    let said = messages.into_iter().map(|stored| stored.message);
    saved.conversation_history = said.collect();
    checkpoints.save(&saved)?;
    let task = beginning(&saved.user_request, 80);
    Ok(format!(
        "saved {count} of conversation {id} as {session}: {task}\n\
         `kitbag checkpoint resume {session}` goes on with it; the file stays, whatever is forgotten, until \
         `kitbag checkpoint delete {session}`"
    )
    .into())
}

/// The fields that tell whose conversation a checkpoint holds.
fn saved_from(asked: CommandCall<'_>) -> Map<String, Value> {
    let (channel, sender) = (asked.channel(), asked.sender());
    let fields = [("channel", channel), ("sender", sender)];
    let fields = fields.map(|(key, value)| (key.to_owned(), Value::from(value)));
    fields.into_iter().collect()
}

/// The task of a conversation that names none: what its user said first.
fn first_words(messages: &[StoredMessage]) -> String {
    let mut users = messages.iter();
    let first = users.find(|stored| stored.message.role == Role::User);
    first.map_or_else(String::new, |stored| beginning(&stored.text(), TASK))
}
