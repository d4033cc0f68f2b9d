//! Messages: their text, their speaker and their time.

mod time;

use std::borrow::Cow;

use kitbag_core::content::Content;
use kitbag_core::message::Message;
use kitbag_core::role::{Role, Visibility};

use crate::error::{Result, StoreError};
use crate::id::MessageId;
use crate::names;

pub use time::MessageTime;

/// The longest message in bytes.
pub(crate) const LONGEST: usize = 16 << 20;

/// A message to keep.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewMessage {
    /// The message, which is kept whole: blocks, tool calls, visibility and unknown fields.
    pub message: Message,
    /// The name that a client has for the message.
    pub reference: Option<String>,
    /// The time when it was said.
    pub at: Option<MessageTime>,
    /// True if it may be recalled. A message that shows recalled text may not: it would come back
    /// again and again.
    pub recallable: bool,
}

impl NewMessage {
    /// A message without a time or names.
    #[must_use]
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Message::new(role, content).into()
    }

    /// Sets the time when it was said.
    #[must_use]
    pub fn at(mut self, at: impl Into<MessageTime>) -> Self {
        self.at = Some(at.into());
        self
    }

    /// Sets the name that a client has for it.
    #[must_use]
    pub fn with_reference(mut self, reference: impl Into<String>) -> Self {
        self.reference = Some(reference.into());
        self
    }

    /// Sets the speaker's name.
    #[must_use]
    pub fn with_speaker(mut self, speaker: impl Into<String>) -> Self {
        self.message.name = Some(speaker.into());
        self
    }

    /// Keeps the message and shows it in its conversation, but never recalls it.
    #[must_use]
    pub fn not_recallable(mut self) -> Self {
        self.recallable = false;
        self
    }

    /// The text of the message, which is indexed.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        self.message.content.text()
    }

    pub(crate) fn check(&self) -> Result<()> {
        if let Some(speaker) = &self.message.name {
            names::label("the speaker", speaker)?;
        }
        if let Some(reference) = &self.reference {
            names::name("the reference", reference)?;
        }
        check_length(self.text().len())
    }
}

impl From<Message> for NewMessage {
    fn from(message: Message) -> Self {
        Self {
            message,
            reference: None,
            at: None,
            recallable: true,
        }
    }
}

impl From<&str> for NewMessage {
    /// A message by the user.
    fn from(text: &str) -> Self {
        Message::user(text).into()
    }
}

impl From<String> for NewMessage {
    /// A message by the user.
    fn from(text: String) -> Self {
        Message::user(text).into()
    }
}

/// A message as it is kept.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredMessage {
    /// The store's number for it.
    pub id: MessageId,
    /// The message, as it was accepted.
    pub message: Message,
    /// The name that a client has for it.
    pub reference: Option<String>,
    /// The time when it was said.
    pub at: Option<MessageTime>,
    /// True if it may be recalled.
    pub recallable: bool,
    /// The content that prompts held in its place if that differs, such as the text in a wrapper.
    pub sent_as: Option<Content>,
}

impl StoredMessage {
    /// The text of the message, as it was accepted.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        self.message.content.text()
    }

    /// The message as the history of a prompt holds it: with the content that was sent, so that the
    /// next prompt begins with the bytes of the last one, and with the store's number as its id.
    #[must_use]
    pub fn into_history(self) -> Message {
        let mut message = self.message;
        message.id = Some(self.id.to_string());
        if let Some(sent) = self.sent_as {
            message.content = sent;
        }
        message
    }
}

/// The JSON that is kept of a message besides its columns. A plain message needs none, which saves
/// space and time.
pub(crate) fn fields(message: &Message) -> Result<Option<String>> {
    let is_bare = message.id.is_none()
        && message.tool_calls.is_none()
        && message.tool_call_id.is_none()
        && message.metadata.is_none()
        && message.extra.is_empty();
    let json = match &message.content {
        Content::Text(_) if is_bare => return Ok(None),
        // The text is in the column `body` already.
        Content::Text(text) if !text.is_empty() => {
            let mut without = message.clone();
            without.content = Content::Null;
            serde_json::to_string(&without)
        }
        _ => serde_json::to_string(message),
    };
    let json = json.map_err(|error| {
        StoreError::invalid("the message", format!("cannot be written as JSON: {error}"))
    })?;
    check_length(json.len())?;
    Ok(Some(json))
}

fn check_length(bytes: usize) -> Result<()> {
    if bytes > LONGEST {
        let problem = format!("has {bytes} bytes, and at most {LONGEST} are taken");
        return Err(StoreError::invalid("the message", problem));
    }
    Ok(())
}

/// Makes a message from its columns.
pub(crate) fn from_columns(
    role: Role,
    name: Option<String>,
    body: String,
    json: Option<&str>,
    visibility: Visibility,
) -> Result<Message, serde_json::Error> {
    let Some(json) = json else {
        let mut message = Message::new(role, body).with_visibility(visibility);
        message.name = name;
        return Ok(message);
    };
    let mut message: Message = serde_json::from_str(json)?;
    // `fields` left the text out; a message whose content was null from the beginning has an empty
    // body.
    if message.content == Content::Null && !body.is_empty() {
        message.content = Content::Text(body);
    }
    Ok(message)
}
