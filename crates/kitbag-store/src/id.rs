//! Names of conversations and turns: short numbers, given out by the store.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::StoreError;

/// A conversation: `7.12` is the twelfth of the seventh pair of channel and sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationId {
    pub(crate) scope: u32,
    pub(crate) number: u32,
}

/// A turn of a conversation: `7.12.3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId {
    pub(crate) conversation: ConversationId,
    pub(crate) number: u32,
}

/// A message of a conversation: `7.12#3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId {
    pub(crate) conversation: ConversationId,
    pub(crate) seq: u32,
}

impl TurnId {
    /// The conversation that the turn belongs to.
    #[must_use]
    pub fn conversation(self) -> ConversationId {
        self.conversation
    }
}

impl MessageId {
    /// The conversation that the message belongs to.
    #[must_use]
    pub fn conversation(self) -> ConversationId {
        self.conversation
    }

    /// The message's number in its conversation, from 1.
    #[must_use]
    pub fn seq(self) -> u32 {
        self.seq
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.scope, self.number)
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.conversation, self.number)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.conversation, self.seq)
    }
}

impl Serialize for MessageId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl FromStr for ConversationId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let [scope, number] = numbers(text).ok_or_else(|| {
            wrong(
                "the conversation",
                text,
                "7.12, as `kitbag memory history` prints it",
            )
        })?;
        Ok(Self { scope, number })
    }
}

impl FromStr for TurnId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let [scope, conversation, number] = numbers(text)
            .ok_or_else(|| wrong("the turn", text, "7.12.3, as it was given when it began"))?;
        Ok(Self {
            conversation: ConversationId {
                scope,
                number: conversation,
            },
            number,
        })
    }
}

impl FromStr for MessageId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('#').and_then(|(conversation, seq)| {
            let [scope, number] = numbers(conversation)?;
            let seq = seq.parse().ok()?;
            let conversation = ConversationId { scope, number };
            Some(Self { conversation, seq })
        });
        parsed.ok_or_else(|| {
            wrong(
                "the message",
                text,
                "7.12#3, as `kitbag memory history` prints it",
            )
        })
    }
}

fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let parts: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

fn wrong(field: &'static str, text: &str, expected: &str) -> StoreError {
    let text = text.escape_debug();
    StoreError::invalid(
        field,
        format!("`{text}` is not a number such as {expected}"),
    )
}
