//! The prompt of an agent for one turn: its layout, its documents, what was said, and the query,
//! fitted into a budget.
//!
//! Every channel comes here, so that all of them send the same prompt.

mod history;

use kitbag_core::assembly::{AssembleError, Assembly, AssemblySettings, Epoch, assemble};
use kitbag_core::chunk::ContextChunk;
use kitbag_core::rank::RankedChunk;
use kitbag_core::tokens::TokenCounter;
use kitbag_layout::chain::PromptSource;
use kitbag_layout::context::{Scope, formatted_history};
use kitbag_layout::payload::{Payload, PayloadAgent, PayloadMetadata};
use kitbag_layout::prompt::{LegacyAppend, Sources, SystemPrompt, system_prompt};
use kitbag_layout::template::Template;
use kitbag_layout::{Turn, Value, bands};

/// A prompt, and how it came about.
#[derive(Debug)]
#[non_exhaustive]
pub struct Prompt {
    /// The system prompt that the layout gave, with notes on what went wrong.
    pub system: SystemPrompt,
    /// The whole prompt with its ledger.
    pub assembly: Assembly,
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// A text contains the key, so that it could imitate what only the operator may write.
    #[error("a message or a document contains the security key of this conversation")]
    KeyKnown,
    /// It does not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

impl PromptError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &str {
        match self {
            Self::KeyKnown => "begin a new epoch with another key",
            Self::Assemble(error) => error.hint(),
        }
    }
}

/// Makes the prompt of an agent for a turn.
///
/// # Errors
/// When a text contains the security key, or when what must be in does not fit.
pub fn prompt(
    sources: &Sources<'_>,
    turn: &Turn,
    settings: &AssemblySettings,
    counter: &dyn TokenCounter,
    previous: Option<&Epoch>,
) -> Result<Prompt, PromptError> {
    let documents = sources
        .documents
        .values()
        .map(|document| document.content.as_str());
    if turn.key.occurs_in(turn.texts().chain(documents)) {
        return Err(PromptError::KeyKnown);
    }
    let agent = sources.agent;
    let system = system_prompt(sources, turn, Scope::Lasting);
    let chunks = bands::document_chunks(sources.documents, &agent.documents, &system.included);
    prompt_of(system, chunks, turn, settings, counter, previous)
}

/// Makes the prompt of a turn whose system prompt is known.
///
/// # Errors
/// When a text contains the security key, or when what must be in does not fit.
pub fn prompt_of(
    system: SystemPrompt,
    mut chunks: Vec<ContextChunk>,
    turn: &Turn,
    settings: &AssemblySettings,
    counter: &dyn TokenCounter,
    previous: Option<&Epoch>,
) -> Result<Prompt, PromptError> {
    let shown = chunks.iter().map(ContextChunk::content);
    if turn.key.occurs_in(turn.texts().chain(shown)) {
        return Err(PromptError::KeyKnown);
    }
    let mut draft = bands::draft(&system, turn);
    chunks.extend(history::demote(
        &mut draft.history,
        settings.budget,
        counter,
    ));
    let chunks: Vec<RankedChunk> = chunks.into_iter().map(Into::into).collect();
    let assembly = assemble(&draft, chunks, settings, counter, previous)?;
    Ok(Prompt { system, assembly })
}

impl Prompt {
    /// The prompt as structured data, for providers, logs and other programs.
    ///
    /// The prompt of a payload is a text, so that the assembly should be of a form that is one.
    #[must_use]
    pub fn payload(
        &self,
        agent: PayloadAgent,
        turn: &Turn,
        conversation: Option<&Template>,
    ) -> Payload {
        let mut metadata = PayloadMetadata::new(turn.platform.clone(), turn.messages.len());
        metadata.formatted_history = formatted_history(turn, conversation);
        metadata.thread_id = match turn.metadata.get("thread_id") {
            Some(Value::Text(thread)) => Some(thread.clone()),
            _ => None,
        };
        metadata.layout = match &self.system.source {
            PromptSource::Layout { id } => Some(id.clone()),
            _ => None,
        };
        Payload::new(agent, &self.assembly.body, turn.messages.clone(), metadata)
    }
}

/// The two switches of older projects, under their names and ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flags {
    /// `KITBAG_APPEND_LEGACY`, `CREWX_APPEND_LEGACY`: prompts end in specialties, capabilities and
    /// the working folder.
    pub append: LegacyAppend,
    /// `KITBAG_LAYOUT_TELEMETRY`, `CREWX_WBS14_TELEMETRY`: the log says which layout an agent got.
    pub telemetry: Telemetry,
}

/// Whether the log says which layout an agent got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Telemetry {
    /// It does not.
    #[default]
    Off,
    /// It does, at debug level.
    On,
}

impl Flags {
    /// Reads the flags; only the value `true` switches one on.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_on = |names: [&str; 2]| {
            let value = names.iter().find_map(|name| variable(name));
            value.as_deref() == Some("true")
        };
        Self {
            append: match is_on(["KITBAG_APPEND_LEGACY", "CREWX_APPEND_LEGACY"]) {
                true => LegacyAppend::On,
                false => LegacyAppend::Off,
            },
            telemetry: match is_on(["KITBAG_LAYOUT_TELEMETRY", "CREWX_WBS14_TELEMETRY"]) {
                true => Telemetry::On,
                false => Telemetry::Off,
            },
        }
    }
}
