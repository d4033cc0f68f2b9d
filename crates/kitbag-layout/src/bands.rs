//! Puts a turn into the bands of an assembly.
//!
//! The system prompt is the identity. What changes from turn to turn stands in bands of its own
//! behind it, so that the same agent keeps the same beginning, from turn to turn and from channel
//! to channel.

use kitbag_core::assembly::Draft;
use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level, Trust};
use kitbag_core::envelope::ToolDefinition;
use kitbag_core::message::Message;
use kitbag_core::neutral::one_line;

use crate::document::Documents;
use crate::prompt::SystemPrompt;
use crate::query::{Wrapped, wrap};
use crate::reserved::{neutralise, show_hidden};
use crate::turn::{PastMessage, Turn};

/// The fixed parts of the turn's prompt: identity, tools, history, and the wrapped query.
#[must_use]
pub fn draft(prompt: &SystemPrompt, turn: &Turn) -> Draft {
    let mut draft = Draft::new(wrap(&turn.query, &turn.key));
    draft.model.clone_from(&turn.model);
    draft.identity = prompt.text.trim_end().to_owned();
    draft.tools = turn.tools.iter().map(tool).collect();
    draft.history = turn.messages.iter().map(past_message).collect();
    draft
}

/// Documents as chunks, each with its content, its headings and its summary as levels, for the fit
/// to choose from.
#[must_use]
pub fn document_chunks(documents: &Documents) -> Vec<ContextChunk> {
    documents
        .iter()
        .map(|(name, document)| {
            let content = neutralise(&document.content).into_owned();
            let source = format!("document/{name}");
            let mut chunk = ContextChunk::new(ChunkType::Document, source, content)
                .with_priority(ContextPriority::High)
                .with_trust(Trust::Untrusted);
            for (level, text) in [
                (Detail::Outline, document.toc()),
                (Detail::Line, document.summary()),
            ] {
                if !text.is_empty() && text.len() < document.content.len() {
                    chunk = chunk.with_level(Level::new(level, neutralise(&text).into_owned()));
                }
            }
            chunk
        })
        .collect()
}

/// A tool whose name and description frame nothing: it may come from a server that nobody here
/// wrote. Its schema is only ever shown as JSON.
fn tool(tool: &ToolDefinition) -> ToolDefinition {
    let name = one_line(&tool.name);
    let description = neutralise(&tool.description);
    ToolDefinition::new(neutralise(&name), description, tool.input_schema.clone())
}

/// A message as it stands in the history: a query in the wrapper it was sent with, if that is
/// known, and anything else as a text that frames nothing.
fn past_message(message: &PastMessage) -> Message {
    let is_its_own = |sent: &&str| {
        Wrapped::parse(sent).is_some_and(|wrapped| wrapped.query == show_hidden(&message.text))
    };
    let sent = message.sent.as_deref().filter(is_its_own);
    let text = match sent {
        Some(sent) => sent.to_owned(),
        None => neutralise(&message.text).into_owned(),
    };
    match message.is_assistant {
        true => Message::assistant(text),
        false => Message::user(text),
    }
}
