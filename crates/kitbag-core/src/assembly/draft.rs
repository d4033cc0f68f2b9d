//! The parts of a prompt that are never left out: everything but the chosen chunks.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::band::Band;
use crate::chunk::ChunkId;
use crate::content::{ContentBlock, RawJson};
use crate::context::Context;
use crate::envelope::{TaskType, ToolDefinition};
use crate::flat;
use crate::inject::ContextMessage;
use crate::message::Message;
use crate::role::Role;

/// The fixed parts of a prompt.
///
/// ```
/// use kitbag_core::assembly::Draft;
///
/// let mut draft = Draft::new("where is the session closed?");
/// draft.identity = "You review Rust.".into();
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Draft {
    /// The model, where the output names one.
    #[serde(default)]
    pub model: Option<String>,
    /// The most tokens that the answer may have, where the output names it.
    #[serde(default)]
    pub max_output: Option<u32>,
    /// The tools on offer.
    #[serde(default)]
    pub tools: Vec<ToolDefinition>,
    /// The base prompt.
    #[serde(default)]
    pub identity: String,
    /// The key that marks instructions according to the base prompt. The operator's context
    /// messages carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The planned context messages, in order.
    #[serde(default)]
    pub injected: Vec<ContextMessage>,
    /// The past messages, oldest first.
    #[serde(default)]
    pub history: Vec<Message>,
    /// The message to answer.
    pub current: Message,
    /// The tool steps of this turn.
    #[serde(default)]
    pub steps: Vec<Message>,
    /// The kind of task, for outputs that give instructions for it.
    #[serde(default)]
    pub task_type: Option<TaskType>,
    /// Chunks that must not be shown any more because they were forgotten, even if the epoch kept
    /// them.
    #[serde(default)]
    pub retracted: Vec<ChunkId>,
}

impl Draft {
    /// Creates a draft with nothing but a message by the user.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            model: None,
            max_output: None,
            tools: Vec::new(),
            identity: String::new(),
            key: None,
            injected: Vec::new(),
            history: Vec::new(),
            current: Message::user(message.into()),
            steps: Vec::new(),
            task_type: None,
            retracted: Vec::new(),
        }
    }

    /// Returns the injected messages of one band as the model reads them, in order.
    pub(super) fn injected(&self, band: Band) -> impl Iterator<Item = ContextMessage> {
        let messages = self.injected.iter();
        let messages = messages.filter(move |message| message.target.band() == band);
        messages.map(|message| message.under(self.key.as_deref()))
    }

    /// Counts the cache markers that the messages already carry: a provider counts them with ours.
    pub(super) fn client_markers(&self) -> usize {
        let messages = self.history.iter().chain([&self.current]);
        let blocks = messages
            .chain(&self.steps)
            .flat_map(|message| message.content.blocks());
        let is_marked = |raw: &&RawJson| {
            // A block with a marker has more than its text, so its JSON was kept.
            let fields = raw.parse_as::<Map<String, Value>>();
            fields.is_ok_and(|fields| fields.contains_key("cache_control"))
        };
        let raw = blocks.filter_map(ContentBlock::as_raw);
        raw.filter(is_marked).count()
    }

    /// Returns the tools sorted by name: equal tools in any order are equal bytes.
    pub(super) fn sorted_tools(&self) -> Vec<&ToolDefinition> {
        let mut tools: Vec<&ToolDefinition> = self.tools.iter().collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools
    }
}

impl From<&Context> for Draft {
    fn from(context: &Context) -> Self {
        let history = context.history.iter().map(|entry| {
            // As the flat prompt shows it: every speaker but the user is the assistant.
            let role = match entry.role.as_str() {
                "user" => Role::User,
                _ => Role::Assistant,
            };
            Message::new(role, entry.content.as_str())
        });
        Self {
            model: context.model.clone(),
            // A context that was read from a flat prompt has it escaped.
            identity: flat::unescape(&context.system_prompt),
            history: history.collect(),
            ..Self::new(context.current_message.as_str())
        }
    }
}
