//! The message that a turn begins with.

use crate::conversation::ConversationChoice;
use crate::message::NewMessage;

/// A message that asks for an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Incoming {
    /// The channel it came in by.
    pub channel: String,
    /// The sender.
    pub sender: String,
    /// The conversation it belongs to.
    pub conversation: ConversationChoice,
    /// The message.
    pub message: NewMessage,
    /// The id of the request: the same key from the same sender is the same turn.
    pub idempotency_key: Option<String>,
}

impl Incoming {
    /// Makes a message in the open conversation. A text alone is a user's message.
    #[must_use]
    pub fn new(
        channel: impl Into<String>,
        sender: impl Into<String>,
        message: impl Into<NewMessage>,
    ) -> Self {
        Self {
            channel: channel.into(),
            sender: sender.into(),
            conversation: ConversationChoice::default(),
            message: message.into(),
            idempotency_key: None,
        }
    }

    /// Sets a key that makes a retry the same turn.
    #[must_use]
    pub fn with_idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Puts the message into a conversation with a name.
    #[must_use]
    pub fn in_conversation(mut self, name: impl Into<String>) -> Self {
        self.conversation = ConversationChoice::Named(name.into());
        self
    }
}
