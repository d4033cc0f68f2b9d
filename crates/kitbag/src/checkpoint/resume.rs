//! The prompt with which a model continues a task.

use kitbag_core::assembly::{AssembleError, AssemblySettings};
use kitbag_core::chunk::ContextChunk;
use kitbag_core::envelope::Artifact;
use kitbag_core::neutral::{json_line, one_line};
use kitbag_core::tokens::TokenCounter;

use super::Checkpoint;
use crate::engine::{Composed, Contribution, PromptRequest, compose};

impl Checkpoint {
    /// Composes the prompt of a resumed task: its state, the chunks, the messages so far, and the request.
    /// `chunks` are the saved ones, or fresh ones in their place.
    ///
    /// # Errors
    /// When what must be in does not fit.
    pub fn prompt(
        &self,
        chunks: Vec<ContextChunk>,
        settings: AssemblySettings,
        counter: &dyn TokenCounter,
    ) -> Result<Composed, AssembleError> {
        let mut contribution = Contribution::default();
        contribution.draft.identity = Some(self.standing());
        contribution.draft.history = self.conversation_history.clone();
        chunks.into_iter().for_each(|chunk| contribution.add(chunk));
        let request = PromptRequest::new(self.user_request.as_str(), settings);
        compose(&request, vec![contribution], counter, None)
    }

    /// The state of the task, in words.
    fn standing(&self) -> String {
        let (id, time) = (&self.session_id, self.timestamp);
        let task_type = self.task_type.as_str();
        // A state is free text from a file and must not begin a paragraph of instructions.
        let state = one_line(self.state.as_str());
        let mut standing = format!(
            "This continues session {id}, of type {task_type}, which was {state} at {time:.0}."
        );
        let context = &self.context_summary;
        if context.chunks_included > 0 {
            let (chunks, tokens) = (context.chunks_included, context.tokens_used);
            let told = format!(" Its context had {chunks} chunks with {tokens} tokens.");
            standing.push_str(&told);
        }
        if !self.artifacts.is_empty() {
            standing.push_str("\n\n## Artifacts");
            for artifact in &self.artifacts {
                standing.push_str(&format!("\n- {}", described(artifact)));
            }
        }
        standing
    }
}

fn described(artifact: &Artifact) -> String {
    let kind = one_line(&artifact.kind);
    let path = artifact.path.as_deref().map(one_line).unwrap_or_default();
    let mut described = format!("{kind}: {path}");
    if !artifact.extra.is_empty() {
        described.push_str(&format!(" {}", json_line(&artifact.extra.clone().into())));
    }
    described
}
