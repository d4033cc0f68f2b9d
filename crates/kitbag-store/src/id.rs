//! Ids of conversations, turns and messages: short numbers that the store gives out.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::error::StoreError;
use crate::value::{Parameters, Value, from_row};

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

impl ConversationId {
    pub(crate) fn turn(self, number: u32) -> TurnId {
        TurnId {
            conversation: self,
            number,
        }
    }

    pub(crate) fn message(self, seq: u32) -> MessageId {
        MessageId {
            conversation: self,
            seq,
        }
    }

    /// The place behind the last message; all messages of the conversation come before it.
    pub(crate) fn end(self) -> MessageId {
        self.message(u32::MAX)
    }
}

impl TurnId {
    /// The conversation that the turn belongs to.
    #[must_use]
    pub fn conversation(self) -> ConversationId {
        self.conversation
    }

    /// Its number among the turns of the conversation, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }
}

impl MessageId {
    /// The conversation that the message belongs to.
    #[must_use]
    pub fn conversation(self) -> ConversationId {
        self.conversation
    }

    /// Its number among the messages of the conversation, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
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
        let expected = "7.12, as `kitbag memory history` prints it";
        let found = conversation(text);
        found.ok_or_else(|| wrong("the conversation", text, expected))
    }
}

impl FromStr for TurnId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "7.12.3, as `kitbag memory history 7.12` prints it";
        let found = text
            .rsplit_once('.')
            .and_then(|(before, number)| Some(conversation(before)?.turn(number.parse().ok()?)));
        found.ok_or_else(|| wrong("the turn", text, expected))
    }
}

impl FromStr for MessageId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "7.12#3, as `kitbag memory history` prints it";
        let found = text
            .split_once('#')
            .and_then(|(before, seq)| Some(conversation(before)?.message(seq.parse().ok()?)));
        found.ok_or_else(|| wrong("the message", text, expected))
    }
}

fn conversation(text: &str) -> Option<ConversationId> {
    let (scope, number) = text.split_once('.')?;
    let (scope, number) = (scope.parse().ok()?, number.parse().ok()?);
    Some(ConversationId { scope, number })
}

fn wrong(field: &'static str, text: &str, expected: &str) -> StoreError {
    let text = text.escape_debug();
    StoreError::invalid(field, format!("`{text}` is not an id such as {expected}"))
}

impl Parameters for ConversationId {
    fn add_to(self, values: &mut Vec<Value>) {
        (self.scope, self.number).add_to(values);
    }
}

impl Parameters for TurnId {
    fn add_to(self, values: &mut Vec<Value>) {
        (self.conversation, self.number).add_to(values);
    }
}

impl Parameters for MessageId {
    fn add_to(self, values: &mut Vec<Value>) {
        (self.conversation, self.seq).add_to(values);
    }
}

from_row!(ConversationId: scope, number);
from_row!(TurnId: conversation, number);
from_row!(MessageId: conversation, seq);
