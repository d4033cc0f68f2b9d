//! The conversation that a message continues, and its end.

use kitbag_store::{
    CloseOutcome, ConversationChoice, ConversationId, Incoming, MemoryRequest, StoreError,
};

use super::{CommandCall, CommandError, CommandReply};
use crate::answer::AnswerError;
use crate::engine::Engine;
use crate::learn::SUMMARY;

/// The end of a conversation, so that the next message begins another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// It is closed.
    Closed(ConversationId),
    /// There was none.
    None,
    /// A turn of it is under way, so that it stays open.
    Busy(ConversationId),
}

impl Engine {
    /// The conversation that a message continues, and the number of its messages. `None` if the message
    /// begins a conversation, or if nothing is remembered.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn conversation(
        &self,
        incoming: &Incoming,
    ) -> Result<Option<(ConversationId, u32)>, StoreError> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let mut request = MemoryRequest::new(incoming.clone(), (self.clock)());
        // Only the count is needed, and the store counts the messages that it does not read.
        request.messages = 1;
        let found = store.read_conversation(&request).await?;
        let read = u32::try_from(found.messages.len()).unwrap_or(u32::MAX);
        let told = found.state.compaction.messages;
        let all = found.unread.saturating_add(read).saturating_add(told);
        Ok(found.id.map(|id| (id, all)))
    }

    /// Closes the open conversation with a summary by rules, and makes the message begin another. A model's
    /// summary comes later, with [`learn_from`](Self::learn_from).
    ///
    /// # Errors
    /// When the sender may not send messages on the channel, or when the store fails.
    pub async fn end_conversation(&self, incoming: &mut Incoming) -> Result<Ended, AnswerError> {
        self.admit(incoming).await?;
        Ok(self.end_admitted(incoming).await?)
    }

    /// Ends the conversation of a sender who was admitted.
    async fn end_admitted(&self, incoming: &mut Incoming) -> Result<Ended, StoreError> {
        // The next message must not return to the conversation that is closed here.
        incoming.conversation = ConversationChoice::default();
        let Some(store) = &self.store else {
            return Ok(Ended::None);
        };
        let Some((id, _)) = self.conversation(incoming).await? else {
            return Ok(Ended::None);
        };
        let closing = store.closing(id).await?;
        let closed = store.close(closing, SUMMARY, self.counter(), (self.clock)());
        Ok(match closed.await? {
            // Another turn of it is under way, and must find the conversation open.
            CloseOutcome::StillActive => Ended::Busy(id),
            _ => Ended::Closed(id),
        })
    }
}

/// `/new`: ends the conversation.
pub(super) async fn new(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    asked.takes_nothing()?;
    asked.store()?;
    // A conversation that was chosen by its name would simply continue with the next message.
    if !matches!(asked.incoming.conversation, ConversationChoice::Idle(_)) {
        return Err(asked.wrong("ends the open conversation, and this one was chosen by its name"));
    }
    let mut incoming = asked.incoming.clone();
    let (text, closed) = match asked.engine.end_admitted(&mut incoming).await? {
        Ended::Busy(id) => {
            return Ok(format!("conversation {id} stays open: a turn of it is under way").into());
        }
        Ended::Closed(id) => (
            format!("conversation {id} is closed; the next message begins another"),
            Some(id),
        ),
        Ended::None => ("the next message begins a conversation".to_owned(), None),
    };
    Ok(CommandReply {
        text,
        conversation: Some(incoming.conversation),
        closed,
        ..CommandReply::default()
    })
}

/// `/quit`: ends the chat, which the channel does.
pub(super) fn quit(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    asked.takes_nothing()?;
    Ok(CommandReply {
        ends_chat: true,
        ..CommandReply::default()
    })
}
