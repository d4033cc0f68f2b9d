//! Context messages: texts that are injected into the prompt at one of four places.
//!
//! [`plan`] decides which messages are injected, and when again. Nothing changes until the plan's
//! [`StateChange`] is committed, which is done when the provider's first byte has arrived.

mod durable;
mod throttle;

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::band::Band;
use crate::message::Message;
use crate::neutral::neutralise_tag;
use crate::role::{Role, Visibility};

pub use durable::{Consumed, DurableEntries, EntryAction};
pub use throttle::{
    CooldownReading, Emitted, Held, InjectionPlan, StaleChange, StateChange, ThrottleState, plan,
};

/// The place of a context message.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ContextMessageTarget {
    /// Directly after the base prompt.
    #[default]
    System,
    /// Before the history, with the content of the session.
    Session,
    /// Before the thread's history, as messages.
    Conversation,
    /// After the history, at the very end.
    SuffixSystem,
}

impl ContextMessageTarget {
    /// The band that the target names.
    #[must_use]
    pub const fn band(self) -> Band {
        match self {
            Self::System => Band::System,
            Self::Session => Band::Session,
            Self::Conversation => Band::Conversation,
            Self::SuffixSystem => Band::SuffixSystem,
        }
    }
}

/// A text to inject.
///
/// ```
/// use kitbag_core::inject::ContextMessage;
///
/// let message: ContextMessage =
///     serde_json::from_str(r#"{"key":"git","content":"branch: main"}"#).unwrap();
/// assert_eq!(message, ContextMessage::system("git", "branch: main"));
/// assert!(message.is_prompt_injected() && message.should_throttle());
/// ```
///
/// A message of the conversation is neither deduplicated nor throttled, and may have any role:
///
/// ```
/// use kitbag_core::inject::ContextMessage;
/// use kitbag_core::role::Role;
///
/// let reminder = ContextMessage::system_reminder("Answer in German.");
/// assert_eq!(
///     reminder,
///     ContextMessage::conversation_internal_system(
///         "<system-reminder>Answer in German.</system-reminder>"
///     )
/// );
/// assert!(!reminder.should_throttle());
/// let said = ContextMessage::conversation_user("Go on.").with_role(Role::Assistant);
/// let message = said.to_message("m1");
/// assert_eq!((message.role, message.is_for_user()), (Role::Assistant, true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextMessage {
    /// The name of the message: another one with the same key replaces it and shares its cooldown.
    pub key: String,
    /// The speaker.
    #[serde(default = "system_role")]
    pub role: Role,
    /// The text.
    pub content: String,
    /// Readers besides the model.
    #[serde(default = "internal")]
    pub visibility: Visibility,
    /// The inferences to skip after an emission; 0 emits every time.
    #[serde(default)]
    pub cooldown_turns: u32,
    /// Place in the prompt.
    #[serde(default)]
    pub target: ContextMessageTarget,
    /// Set if the durable entry behind it is removed once a prompt that held it was sent.
    #[serde(default)]
    pub consume_after_emit: bool,
}

const fn system_role() -> Role {
    Role::System
}

const fn internal() -> Visibility {
    Visibility::Internal
}

impl ContextMessage {
    /// Creates an internal system message after the base prompt, emitted every time.
    #[must_use]
    pub fn new(key: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            role: Role::System,
            content: content.into(),
            visibility: Visibility::Internal,
            cooldown_turns: 0,
            target: ContextMessageTarget::System,
            consume_after_emit: false,
        }
    }

    /// The same as [`new`](Self::new).
    #[must_use]
    pub fn system(key: impl Into<String>, content: impl Into<String>) -> Self {
        Self::new(key, content)
    }

    /// Creates a message of the session, before the history.
    #[must_use]
    pub fn session(key: impl Into<String>, content: impl Into<String>) -> Self {
        Self::new(key, content).with_target(ContextMessageTarget::Session)
    }

    /// Creates a message at the very end of the prompt.
    #[must_use]
    pub fn suffix_system(key: impl Into<String>, content: impl Into<String>) -> Self {
        Self::new(key, content).with_target(ContextMessageTarget::SuffixSystem)
    }

    /// Creates a message of the conversation, which is neither deduplicated nor throttled.
    #[must_use]
    pub fn conversation(
        key: impl Into<String>,
        role: Role,
        visibility: Visibility,
        content: impl Into<String>,
    ) -> Self {
        Self::new(key, content)
            .with_target(ContextMessageTarget::Conversation)
            .with_role(role)
            .with_visibility(visibility)
    }

    /// Creates a visible message by the user, its key made from its content.
    #[must_use]
    pub fn conversation_user(content: impl Into<String>) -> Self {
        Self::keyed_by_content(Role::User, Visibility::All, content.into())
    }

    /// Creates an internal system message in the conversation, its key made from its content.
    #[must_use]
    pub fn conversation_internal_system(content: impl Into<String>) -> Self {
        Self::keyed_by_content(Role::System, Visibility::Internal, content.into())
    }

    /// Creates an internal message inside `<system-reminder>`, which `text` cannot close.
    #[must_use]
    pub fn system_reminder(text: impl Into<String>) -> Self {
        Self::conversation_internal_system(element(OPENING, &text.into()))
    }

    fn keyed_by_content(role: Role, visibility: Visibility, content: String) -> Self {
        // By content, so that the same words from two places are one message.
        let key = conversation_key(role, visibility, &content);
        Self::conversation(key, role, visibility, content)
    }

    /// Sets the place in the prompt.
    #[must_use]
    pub fn with_target(mut self, target: ContextMessageTarget) -> Self {
        self.target = target;
        self
    }

    /// Sets the speaker.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Sets the readers besides the model.
    #[must_use]
    pub fn with_visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// Sets the cooldown.
    #[must_use]
    pub fn with_cooldown_turns(mut self, cooldown_turns: u32) -> Self {
        self.cooldown_turns = cooldown_turns;
        self
    }

    /// Sets the removal of its durable entry once it was sent.
    #[must_use]
    pub fn with_consume_after_emit(mut self, consume_after_emit: bool) -> Self {
        self.consume_after_emit = consume_after_emit;
        self
    }

    /// Tells whether it lives in the prompt only, and not in the conversation.
    #[must_use]
    pub fn is_prompt_injected(&self) -> bool {
        self.target != ContextMessageTarget::Conversation
    }

    /// Tells whether deduplication and cooldown apply to it.
    #[must_use]
    pub fn should_throttle(&self) -> bool {
        self.is_prompt_injected()
    }

    /// Returns the message as the model reads it. If the base prompt has a key, only text that
    /// carries it instructs, so the operator's words stand in an element that does.
    pub(crate) fn under(&self, key: Option<&str>) -> Self {
        let mut message = self.clone();
        // Words of the user or the assistant instruct nobody, with or without a key.
        if let (Some(key), Role::System) = (key, self.role)
            && !self.content.is_empty()
        {
            // The layouts tell the model that only elements with this key come from the operator.
            let opening = format!("<system-reminder key=\"{key}\">");
            // A reminder gets the key on its own element instead of a second one.
            let inner = self.content.strip_prefix(OPENING);
            let inner = inner.and_then(|text| text.strip_suffix(CLOSING));
            message.content = element(&opening, inner.unwrap_or(&self.content));
        }
        message
    }

    /// Returns the message as a step of a turn that is under way, under the key of its base prompt: behind the results so
    /// far, whatever its target, since what stands before them does not change any more.
    #[must_use]
    pub fn to_step(&self, key: Option<&str>) -> Message {
        // A tool speaks only in results of its calls.
        let role = match self.role {
            Role::Tool => Role::User,
            role => role,
        };
        let message = self.under(key);
        Message::new(role, message.content).with_visibility(self.visibility)
    }

    /// Returns the message with the id that the caller drew for it.
    #[must_use]
    pub fn to_message(&self, id: impl Into<String>) -> Message {
        let mut message =
            Message::new(self.role, self.content.as_str()).with_visibility(self.visibility);
        message.id = Some(id.into());
        message
    }
}

const OPENING: &str = "<system-reminder>";
const CLOSING: &str = "</system-reminder>";

/// Wraps the operator's words among the user's in `<system-reminder>`, unless they are wrapped
/// already.
pub(crate) fn reminder(text: &str) -> String {
    // Wrapping twice would show the model an element inside an element.
    let is_open = text.starts_with(OPENING) || text.starts_with("<system-reminder key=");
    match is_open && text.ends_with(CLOSING) {
        true => text.into(),
        false => element(OPENING, text),
    }
}

/// Writes an element that the text cannot close.
fn element(opening: &str, text: &str) -> String {
    let text = neutralise_tag(text, "system-reminder");
    format!("{opening}{text}{CLOSING}")
}

/// `conversation:` and the first 64 bits of a BLAKE3 hash over role, visibility and content, which
/// is the same on every machine and in every release.
fn conversation_key(role: Role, visibility: Visibility, content: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [role.as_str(), visibility.as_str(), content] {
        // Each length goes first, so that no other division into parts gives the same bytes.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let hex = hasher.finalize().to_hex();
    format!("conversation:{}", hex.chars().take(16).collect::<String>())
}

#[cfg(test)]
mod tests;
