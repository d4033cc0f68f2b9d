//! Puts a turn into the bands of an assembly.
//!
//! The system prompt, which is made elsewhere, is the identity. What changes from turn to turn stands in bands of its own
//! behind it, so that the same agent keeps the same beginning, from turn to turn and from channel
//! to channel.

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level, Trust};
use kitbag_core::envelope::ToolDefinition;
use kitbag_core::message::Message;
use kitbag_core::neutral::one_line;

use crate::channel::{ChannelTurn, PastMessage};
use crate::document::Documents;
use crate::key::SecurityKey;
use crate::query::{Wrapped, wrap};
use crate::reserved::{neutralise, show_hidden};
use crate::template::file_size;
use crate::value::Value;

/// The messages before the query, as they stand in the history.
#[must_use]
pub fn history(turn: &ChannelTurn) -> Vec<Message> {
    turn.past().iter().map(past_message).collect()
}

/// The tools on offer. They may come from a server that nobody here wrote, so that their names and
/// descriptions frame nothing; schemas are only ever shown as JSON.
#[must_use]
pub fn tools(turn: &ChannelTurn) -> Vec<ToolDefinition> {
    turn.tools.iter().map(tool).collect()
}

/// The query in its wrapper, with the name of who asks where several people speak.
#[must_use]
pub fn current(turn: &ChannelTurn, key: &SecurityKey) -> String {
    match turn.speaker().filter(|_| turn.has_several_speakers()) {
        Some(name) => wrap(&with_name(name, &turn.query), key),
        None => wrap(&turn.query, key),
    }
}

/// A text with the name of who says it.
#[must_use]
pub fn with_name(name: &str, text: &str) -> String {
    format!("{}: {text}", one_line(name))
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
            let (toc, summary) = (document.toc(), document.summary());
            // An outline stands under the source's name; a line stands alone.
            let line = format!("Document {}: {summary}", one_line(name));
            for (level, shown, text) in [
                (Detail::Outline, &toc, &toc),
                (Detail::Line, &summary, &line),
            ] {
                if !shown.is_empty() && text.len() < document.content.len() {
                    chunk = chunk.with_level(Level::new(level, neutralise(text).into_owned()));
                }
            }
            chunk
        })
        .collect()
}

fn tool(tool: &ToolDefinition) -> ToolDefinition {
    let name = one_line(&tool.name);
    let description = neutralise(&tool.description);
    ToolDefinition::new(neutralise(&name), description, tool.input_schema.clone())
}

/// A message as it stands in the history: a query in the wrapper it was sent with, if that is
/// known, and anything else as a text that frames nothing.
fn past_message(past: &PastMessage) -> Message {
    let is_its_own = |sent: &&str| {
        let text = show_hidden(&past.text);
        let named = past.speaker().map(|name| with_name(name, &text));
        Wrapped::parse(sent).is_some_and(|wrapped| {
            wrapped.query == text || named.is_some_and(|named| wrapped.query == named)
        })
    };
    let sent = past.sent.as_deref().filter(is_its_own);
    let mut text = match sent {
        Some(sent) => sent.to_owned(),
        None => neutralise(&past.text).into_owned(),
    };
    for file in &past.files {
        text.push('\n');
        text.push_str(&attached(file));
    }
    let message = match past.is_assistant {
        true => Message::assistant(text),
        false => Message::user(text),
    };
    match past.speaker() {
        Some(name) if sent.is_none() && !past.is_assistant => message.with_name(name),
        _ => message,
    }
}

/// A line that says which file came with a message.
fn attached(file: &Value) -> String {
    let name = ["name", "title", "path"].into_iter();
    let name = name.filter_map(|key| file.get(key)?.as_text()).next();
    let name = neutralise(&one_line(name.unwrap_or("unnamed"))).into_owned();
    let size = file.get("size").map(file_size).unwrap_or_default();
    match size.as_str() {
        "" => format!("(attached: {name})"),
        size => format!("(attached: {name}, {size})"),
    }
}
