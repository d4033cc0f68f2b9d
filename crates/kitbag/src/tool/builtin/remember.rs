//! The tool that keeps a note or a fact.

use kitbag_core::role::Role;
use kitbag_store::{Import, NewFact, NewMessage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolScope;
use crate::tool::{Effect, Tool, ToolError};

pub(super) struct RememberTool(pub(super) ToolScope);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What to remember, in a sentence that is understood without the conversation
    text: String,
    /// Keeps it as a fact under this key, such as timezone: one value that a later one replaces. Without
    /// it the text is kept as a note
    key: Option<String>,
}

/// What was kept.
#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The key, where it is a fact
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<String>,
    /// Whether a note was kept; one that is there already is not kept twice
    is_new: bool,
}

/// The conversation of notes.
const NOTES: &str = "notes";

/// The longest note: a memory of whole documents finds nothing.
const MOST_CHARS: usize = 8_000;

impl Tool for RememberTool {
    type Arguments = Arguments;
    type Output = Output;
    const NAME: &'static str = "remember";
    const DESCRIPTION: &'static str = "Keeps something for later conversations: a note, or a fact under a key. \
        Remember decisions, preferences and results, not what the code says anyway.";
    const EFFECT: Effect = Effect::Writes;

    async fn call(&self, asked: Arguments) -> Result<Output, ToolError> {
        let text = asked.text.trim();
        let chars = text.chars().count();
        if chars == 0 || chars > MOST_CHARS {
            // With the figures, so that the model can correct the call itself.
            let problem = format!("`text` has {chars} characters, and may have 1 to {MOST_CHARS}");
            return Err(ToolError::arguments(Self::NAME, problem));
        }
        let store = self.0.memory()?;
        let now = (self.0.clock)();
        if let Some(key) = asked.key {
            let fact = NewFact::new(&key, text);
            fact.check()
                .map_err(|error| ToolError::arguments(Self::NAME, error))?;
            store.set_facts(&self.0.sender, vec![fact], now).await?;
            return Ok(Output {
                fact: Some(key),
                is_new: true,
            });
        }
        // An assistant's message: no facts must be drawn from it as if the user had said so. The reference
        // makes a second note with the same words count as the first.
        let name = blake3::hash(text.as_bytes()).to_hex();
        let note = NewMessage::new(Role::Assistant, text)
            .at(now)
            .with_reference(format!("note-{}", name.get(..16).unwrap_or_default()));
        let note = Import::new(
            &self.0.channel,
            &self.0.sender,
            Some(NOTES.to_owned()),
            note,
        );
        let kept = store.import(vec![note], now).await?;
        Ok(Output {
            fact: None,
            is_new: kept.messages > 0,
        })
    }

    fn text(output: &Output) -> String {
        match (&output.fact, output.is_new) {
            (Some(key), _) => format!("remembered the fact `{key}`"),
            (None, true) => "remembered".to_owned(),
            (None, false) => "that is remembered already".to_owned(),
        }
    }
}
