//! Puts a turn into the bands of an assembly.
//!
//! The system prompt, which is made elsewhere, is the identity. Parts that change from turn to turn
//! stand in bands of their own behind it, so that an agent's prompt has the same beginning in each
//! turn and on each channel.

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

/// The messages before the query, as the history shows them.
#[must_use]
pub fn history(turn: &ChannelTurn) -> Vec<Message> {
    turn.past().iter().map(past_message).collect()
}

/// The available tools. They may come from a foreign server, so their names and descriptions are
/// neutralised; schemas are only ever shown as JSON.
#[must_use]
pub fn tools(turn: &ChannelTurn) -> Vec<ToolDefinition> {
    turn.tools.iter().map(tool).collect()
}

/// The query in its wrapper, with the name of the speaker if several people speak.
#[must_use]
pub fn current(turn: &ChannelTurn, key: &SecurityKey) -> String {
    match turn.speaker().filter(|_| turn.has_several_speakers()) {
        Some(name) => wrap(&with_name(name, &turn.query), key),
        None => wrap(&turn.query, key),
    }
}

/// A text with the name of its speaker.
#[must_use]
pub fn with_name(name: &str, text: &str) -> String {
    format!("{}: {text}", one_line(name))
}

/// Documents as chunks. Content, headings and summary of each become levels, from which the fit
/// chooses.
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
            // An outline is shown under the name of its source, but a line is shown alone.
            let line = format!("Document {}: {summary}", one_line(name));
            for (level, shown, text) in [
                (Detail::Outline, &toc, &toc),
                (Detail::Line, &summary, &line),
            ] {
                // A level that is longer than the content would only cost more.
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

/// A message as the history shows it: a query in the wrapper it was sent with, if that is known,
/// and anything else as a neutralised text.
fn past_message(past: &PastMessage) -> Message {
    let is_its_own = |sent: &&str| {
        let text = show_hidden(&past.text);
        let named = past.speaker().map(|name| with_name(name, &text));
        // Another text in a wrapper could carry a key of its own: only the message's own query is
        // let through.
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

/// A line that names a file that came with a message.
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
