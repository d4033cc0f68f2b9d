//! The events that agents hand to a hook, and the replies of hooks.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something that happens in a session, as Claude Code and Codex tell it.
///
/// ```
/// use kitbag::hook::{HookEvent, HookEventKind};
///
/// let json = br#"{"session_id": "s1", "transcript_path": null, "cwd": "/app",
///     "hook_event_name": "UserPromptSubmit", "prompt": "How do we deploy?"}"#;
/// let event = HookEvent::parse(json)?;
/// assert!(matches!(event.kind, HookEventKind::UserPromptSubmit { prompt } if prompt == "How do we deploy?"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookEvent {
    /// The name of the event, as the agent has it.
    pub name: String,
    /// The name of the session.
    pub session: String,
    /// The file in which the agent records the session.
    pub transcript: Option<PathBuf>,
    /// The folder that the agent works in at the moment.
    pub folder: PathBuf,
    /// The event itself.
    pub kind: HookEventKind,
}

/// The events of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookEventKind {
    /// A session begins or continues.
    SessionStart {
        /// The origin of its context.
        source: SessionSource,
        /// Set when the provider has to read the whole context again.
        is_cache_expired: bool,
    },
    /// Somebody asks.
    UserPromptSubmit {
        /// The question.
        prompt: String,
    },
    /// A tool has run.
    PostToolUse,
    /// The agent has answered.
    Stop,
    /// The session ends.
    SessionEnd,
    /// An event that hooks have nothing to do for.
    Other,
}

/// The origin of a session's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionSource {
    /// The session is new, or was made shorter: nothing that hooks added is in it.
    New,
    /// The session continues with its former context.
    Resume,
}

#[derive(Deserialize)]
struct Wire {
    session_id: String,
    #[serde(default)]
    transcript_path: Option<PathBuf>,
    #[serde(default)]
    cwd: PathBuf,
    hook_event_name: String,
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    prompt_cache_likely_expired: bool,
}

impl HookEvent {
    /// Reads the JSON object that an agent writes to a hook's input. Fields that are not known are ignored.
    ///
    /// # Errors
    /// When it is no such object.
    pub fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        let wire: Wire = serde_json::from_slice(json)?;
        let kind = match wire.hook_event_name.as_str() {
            "SessionStart" => HookEventKind::SessionStart {
                source: match wire.source.as_deref() {
                    // `startup`, `clear` and `compact` begin without what hooks added before.
                    Some("resume") => SessionSource::Resume,
                    _ => SessionSource::New,
                },
                is_cache_expired: wire.prompt_cache_likely_expired,
            },
            "UserPromptSubmit" => HookEventKind::UserPromptSubmit {
                prompt: wire.prompt.unwrap_or_default(),
            },
            "PostToolUse" => HookEventKind::PostToolUse,
            "Stop" => HookEventKind::Stop,
            "SessionEnd" => HookEventKind::SessionEnd,
            // Agents get new events; a hook that failed on one would disturb every session.
            _ => HookEventKind::Other,
        };
        Ok(Self {
            name: wire.hook_event_name,
            session: wire.session_id,
            transcript: wire
                .transcript_path
                .filter(|file| !file.as_os_str().is_empty()),
            folder: wire.cwd,
            kind,
        })
    }
}

/// The reply of a hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookReply {
    /// Text for the model.
    pub context: Option<String>,
    /// A line for the person at the terminal.
    pub notice: Option<String>,
}

impl HookReply {
    /// The reply as the agent reads it from a hook's output, or `None` for an empty reply.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json(&self, event: &HookEvent) -> Result<Option<String>, serde_json::Error> {
        if self.context.is_none() && self.notice.is_none() {
            return Ok(None);
        }
        let reply = WireReply {
            hook_specific_output: self.context.as_deref().map(|context| WireContext {
                hook_event_name: &event.name,
                additional_context: context,
            }),
            system_message: self.notice.as_deref(),
        };
        serde_json::to_string(&reply).map(Some)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireReply<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<WireContext<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireContext<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}
