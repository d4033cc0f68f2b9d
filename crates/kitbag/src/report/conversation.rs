//! Conversations and their messages, as people may see them.

use jiff::Timestamp;
use kitbag_core::role::Role;
use kitbag_store::{
    ConversationId, Exported, LatestConversation, MessageTime, MessageVersion, StoredMessage,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::memory::ImportLine;

/// A conversation in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ConversationReport {
    /// The id, such as 7.12.
    pub id: String,
    /// The name that others have for it.
    pub name: Option<String>,
    /// The name that a chat service shows for it.
    pub title: Option<String>,
    /// The sender.
    pub sender: String,
    /// The channel.
    pub channel: String,
    /// The time of its first message.
    #[schemars(with = "String")]
    pub began: MessageTime,
    /// The time of its latest message.
    #[schemars(with = "String")]
    pub active: MessageTime,
    /// The time when it was closed.
    #[schemars(with = "Option<String>")]
    pub closed: Option<Timestamp>,
    /// The number of messages that people may see.
    pub messages: u64,
    /// The number of turns that it has ever had.
    pub turns: u32,
}

impl From<LatestConversation> for ConversationReport {
    fn from(latest: LatestConversation) -> Self {
        let conversation = latest.conversation;
        Self {
            id: conversation.id.to_string(),
            name: conversation.name,
            title: conversation.title,
            sender: latest.sender,
            channel: latest.channel,
            began: latest.began,
            active: latest.active,
            closed: conversation.closed,
            messages: latest.kept,
            turns: conversation.turns,
        }
    }
}

/// The messages of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct MessagesReport {
    /// The id of the conversation.
    pub conversation: String,
    /// The messages, oldest first.
    pub messages: Vec<MessageReport>,
}

impl MessagesReport {
    /// The report of messages that people may see.
    #[must_use]
    pub fn of(conversation: ConversationId, messages: Vec<StoredMessage>) -> Self {
        Self {
            conversation: conversation.to_string(),
            messages: messages.into_iter().map(MessageReport::from).collect(),
        }
    }
}

/// A message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct MessageReport {
    /// The id, such as 7.12#3.
    pub id: String,
    /// The name that it came with.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// The time when it was said.
    #[schemars(with = "Option<String>")]
    pub at: Option<MessageTime>,
    /// The role: user, assistant, system or tool.
    #[schemars(with = "String")]
    pub role: Role,
    /// The name of the speaker.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
    /// Set where a recall may find it.
    pub recallable: bool,
}

impl From<StoredMessage> for MessageReport {
    fn from(stored: StoredMessage) -> Self {
        Self {
            id: stored.id.to_string(),
            text: stored.text().into_owned(),
            reference: stored.reference,
            at: stored.at,
            role: stored.message.role,
            speaker: stored.message.name,
            recallable: stored.recallable,
        }
    }
}

/// A content that a message has or had.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct VersionReport {
    /// Counts the contents, from 1.
    pub number: u32,
    /// The time when the next one replaced it; none for the one that holds.
    #[schemars(with = "Option<String>")]
    pub replaced: Option<Timestamp>,
    /// The words.
    pub text: String,
}

impl VersionReport {
    /// All that a message ever said, oldest first.
    #[must_use]
    pub fn all(older: Vec<MessageVersion>, current: &StoredMessage) -> Vec<Self> {
        let number = u32::try_from(older.len()).unwrap_or(u32::MAX);
        let older = older.into_iter().map(|version| Self {
            number: version.number,
            replaced: Some(version.replaced),
            text: version.message.content.text().into_owned(),
        });
        // The current text is not among the versions, which are those that were replaced.
        let current = Self {
            number: number.saturating_add(1),
            replaced: None,
            text: current.text().into_owned(),
        };
        older.chain([current]).collect()
    }
}

/// The line of a message in an export, which an import takes back; none for one that is internal or has
/// nothing but calls of tools.
#[must_use]
pub fn export_line(exported: Exported) -> Option<ImportLine> {
    let stored = exported.message;
    let message = &stored.message;
    let is_said = message.calls().is_empty() || !message.content.is_blank();
    // An export is for people, and an import would turn a call into words.
    if !message.is_for_user() || !is_said {
        return None;
    }
    let mut line = ImportLine::new(message.role, stored.text());
    line.channel = exported.channel;
    line.sender = exported.sender;
    line.conversation = exported.conversation;
    line.title = exported.title;
    line.speaker.clone_from(&message.name);
    line.reference = stored.reference;
    line.at = stored.at.map(|at| at.to_string());
    line.recalled = !stored.recallable;
    let metadata = message.metadata.as_ref();
    // Metadata that cannot be written costs the line nothing else.
    if let Some(Ok(Value::Object(metadata))) = metadata.map(serde_json::to_value) {
        line.metadata = metadata;
    }
    Some(line)
}
