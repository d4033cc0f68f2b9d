//! Puts a turn into the bands of an assembly.
//!
//! The system prompt is the identity. What changes from turn to turn stands in bands of its own
//! behind it, so that the same agent keeps the same beginning, from turn to turn and from channel
//! to channel.

use std::collections::BTreeSet;

use kitbag_core::assembly::Draft;
use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level, Trust};
use kitbag_core::envelope::ToolDefinition;
use kitbag_core::message::Message;

use crate::document::Documents;
use crate::prompt::SystemPrompt;
use crate::query::{Wrapped, wrap};
use crate::reserved::neutralise;
use crate::turn::{PastMessage, Turn};

/// The fixed parts of the turn's prompt: identity, tools, history, and the wrapped query.
#[must_use]
pub fn draft(prompt: &SystemPrompt, turn: &Turn) -> Draft {
    let mut draft = Draft::new(wrap(&turn.query, &turn.key));
    draft.identity = prompt.text.trim_end().to_owned();
    draft.tools = turn.tools.iter().map(tool).collect();
    draft.history = turn.messages.iter().map(past_message).collect();
    draft
}

/// The documents that the agent is given and that its prompt does not include by name, each with
/// its content, its headings and its summary as levels, for the fit to choose from.
#[must_use]
pub fn document_chunks(
    documents: &Documents,
    given: &[String],
    included: &BTreeSet<String>,
) -> Vec<ContextChunk> {
    documents
        .iter()
        .filter(|(name, document)| {
            given.contains(name) && !included.contains(*name) && !document.content.is_empty()
        })
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

/// A tool whose description frames nothing: it may come from a server that nobody here wrote.
fn tool(tool: &ToolDefinition) -> ToolDefinition {
    let description = neutralise(&tool.description);
    ToolDefinition::new(&tool.name, description, tool.input_schema.clone())
}

/// A message as it stands in the history: a query in the wrapper it was sent with, if that is
/// known, and anything else as a text that frames nothing.
fn past_message(message: &PastMessage) -> Message {
    let sent = message
        .sent
        .as_deref()
        .filter(|sent| Wrapped::parse(sent).is_some_and(|wrapped| wrapped.query == message.text));
    let text = match sent {
        Some(sent) => sent.to_owned(),
        None => neutralise(&message.text).into_owned(),
    };
    match message.is_assistant {
        true => Message::assistant(text),
        false => Message::user(text),
    }
}
