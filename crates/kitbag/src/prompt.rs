//! The prompt of an agent for one turn: its layout, its documents, what was said, and the query,
//! fitted into a budget.
//!
//! Every channel comes here, so that all of them send the same prompt.

mod flags;
mod history;

use kitbag_core::assembly::{AssembleError, Assembly, AssemblySettings, Epoch, assemble};
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::rank::RankedChunk;
use kitbag_core::tokens::TokenCounter;
use kitbag_layout::chain::PromptSource;
use kitbag_layout::context::{Scope, formatted_history};
use kitbag_layout::note::Note;
use kitbag_layout::payload::{Payload, PayloadAgent, PayloadMetadata};
use kitbag_layout::prompt::{Sources, SystemPrompt, system_prompt};
use kitbag_layout::template::Template;
use kitbag_layout::{Turn, Value, bands};

pub use flags::{Flags, Telemetry};

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
    for (name, document) in sources.documents {
        let summary = document.summary.as_deref().unwrap_or_default();
        if turn
            .key
            .occurs_in([name, document.content.as_str(), summary])
        {
            return Err(PromptError::KeyKnown);
        }
    }
    let system = system_prompt(sources, turn, Scope::Lasting);
    prompt_of(system, turn, settings, counter, previous)
}

/// Makes the prompt of a turn whose system prompt is known.
///
/// # Errors
/// When a text contains the security key, or when what must be in does not fit.
pub fn prompt_of(
    system: SystemPrompt,
    turn: &Turn,
    settings: &AssemblySettings,
    counter: &dyn TokenCounter,
    previous: Option<&Epoch>,
) -> Result<Prompt, PromptError> {
    if turn.key.occurs_in(turn.texts()) {
        return Err(PromptError::KeyKnown);
    }
    let mut draft = bands::draft(&system, turn);
    let mut chunks = bands::document_chunks(&system.documents);
    let (history, said) = (&mut draft.history, turn.messages.as_slice());
    chunks.extend(history::demote(history, said, settings.budget, counter));
    let chunks: Vec<RankedChunk> = chunks.into_iter().map(Into::into).collect();
    let mut assembly = assemble(&draft, chunks, settings, counter, previous)?;
    let note = |note: &Note| Problem::new("layout", ProblemKind::Ignored, note.message.as_str());
    let notes = system.notes.iter().map(note);
    assembly.ledger.problems.extend(notes);
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
        metadata.notes = self
            .system
            .notes
            .iter()
            .map(|note| note.message.clone())
            .collect();
        metadata.layout = match &self.system.source {
            PromptSource::Layout { id } => Some(id.clone()),
            _ => None,
        };
        Payload::new(agent, &self.assembly.body, turn.messages.clone(), metadata)
    }
}
