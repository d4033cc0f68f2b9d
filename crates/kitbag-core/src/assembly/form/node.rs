//! The prompt of a node: entities, conversation, what happened, then the task.

use alloc::format;

use super::pack::{conversation, instructions_before};
use super::spoken::spoken;
use super::{Laid, Placed};
use crate::assembly::draft::Draft;
use crate::assembly::kept::Kept;
use crate::assembly::segment::TextSegments;
use crate::band::Band;
use crate::chunk::ChunkType;
use crate::neutral::indented;

pub(super) fn lay_out(draft: &Draft, chunks: &Placed<'_>) -> Laid {
    let mut out = TextSegments::default();
    for (band, text) in instructions_before(draft) {
        out.push(band, &format!("{text}\n\n"));
    }
    for kept in chunks.session() {
        out.push(Band::Session, &kept.text);
    }
    for message in draft.injected(Band::Session) {
        out.push(Band::Session, &format!("{}\n\n", message.content));
    }

    // Chunks of this turn stand where they belong, and not where they came in.
    let recent = || chunks.before(draft.history.len()).chain(chunks.volatile());
    let place = |kept: &&Kept| match kept.chunk_type {
        ChunkType::Entity => Layer::Entity,
        ChunkType::Turn | ChunkType::Summary => Layer::Conversation,
        _ => Layer::Reasoning,
    };
    out.push(Band::Volatile, "## Entity Context\n");
    let entities = recent().filter(|kept| place(kept) == Layer::Entity);
    push_or(&mut out, entities, "No entities in context.\n");

    out.push(Band::History, "## Conversation History\n");
    let is_new = draft.injected(Band::Conversation).count() + draft.history.len() == 0;
    let turns = recent().filter(|kept| place(kept) == Layer::Conversation);
    push_or(
        &mut out,
        turns,
        if is_new { "New conversation.\n" } else { "" },
    );
    conversation(draft, chunks, &mut out, "");

    out.push(Band::Volatile, "## What Happened (Reasoning Trace)\n");
    let happened = recent().filter(|kept| place(kept) == Layer::Reasoning);
    push_or(&mut out, happened, "Nothing yet.\n");
    for step in &draft.steps {
        let text = indented(&spoken(step), 2);
        out.push(Band::Steps, &format!("- {}: {text}\n", step.role));
    }

    out.push(Band::Current, "---\n## Your Task\n");
    out.push(Band::Current, &format!("{}\n\n", spoken(&draft.current)));
    for message in draft.injected(Band::SuffixSystem) {
        out.push(Band::SuffixSystem, &format!("{}\n\n", message.content));
    }
    chunks.finish(out)
}

/// The three sections that chunks of a turn can stand in.
#[derive(PartialEq)]
enum Layer {
    Entity,
    Conversation,
    Reasoning,
}

fn push_or<'a>(out: &mut TextSegments, kept: impl Iterator<Item = &'a Kept>, otherwise: &str) {
    let mut kept = kept.peekable();
    if kept.peek().is_none() {
        out.push(Band::Volatile, otherwise);
    }
    for kept in kept {
        out.push(Band::Volatile, &kept.text);
    }
}
