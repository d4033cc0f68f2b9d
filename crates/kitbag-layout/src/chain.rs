//! Chooses the agent's own prompt: the first of five fields that is not empty.
//!
//! The text is returned as written; `prompt` renders it.

use serde::Serialize;

use crate::agent::Agent;

/// The origin of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "from")]
#[non_exhaustive]
pub enum PromptSource {
    /// A layout, with the agent's own prompt in it.
    Layout {
        /// The layout's id.
        id: String,
    },
    /// `inline.prompt`.
    InlinePrompt,
    /// `inline.system_prompt`.
    InlineSystemPrompt,
    /// `systemPrompt`.
    SystemPrompt,
    /// `description`.
    Description,
    /// Made from the agent's id, since no field is set.
    Generated,
}

impl PromptSource {
    /// The source in words.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Layout { id } => format!("layout {id}"),
            Self::InlinePrompt => "inline.prompt".to_owned(),
            Self::InlineSystemPrompt => "inline.system_prompt".to_owned(),
            Self::SystemPrompt => "systemPrompt".to_owned(),
            Self::Description => "description".to_owned(),
            Self::Generated => "the agent's id".to_owned(),
        }
    }
}

/// The agent's own prompt as written, and its origin.
#[must_use]
pub fn own_prompt(agent: &Agent) -> (PromptSource, String) {
    let fields = [
        (PromptSource::InlinePrompt, &agent.prompt),
        (
            PromptSource::InlineSystemPrompt,
            &agent.inline_system_prompt,
        ),
        (PromptSource::SystemPrompt, &agent.system_prompt),
        (PromptSource::Description, &agent.description),
    ];
    fields
        .into_iter()
        .find_map(|(source, field)| {
            let text = field.as_deref().filter(|text| !text.is_empty())?;
            Some((source, text.to_owned()))
        })
        .unwrap_or_else(|| {
            let text = format!("You are an expert {}.", agent.id);
            (PromptSource::Generated, text)
        })
}
