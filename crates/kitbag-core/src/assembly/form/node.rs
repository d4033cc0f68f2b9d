//! The prompt of a node: entities, conversation, what happened, then the task.
//!
//! A blank line ends each section. It is written behind the section's last text, whose count it
//! changes by a token at most; the line that an empty section shows is reserved and makes up for
//! it.

use alloc::format;
use alloc::vec::Vec;

use super::pack::Dress;
use super::spoken::spoken;
use super::{LaidOut, LayoutRevision, PlacedChunks};
use crate::assembly::draft::Draft;
use crate::assembly::kept::Kept;
use crate::assembly::segment::TextSegments;
use crate::band::Band;
use crate::chunk::ChunkType;
use crate::conversation::NO_CONVERSATION;
use crate::entity::NO_ENTITIES;
use crate::reasoning::NO_TRACE;
use crate::view::item::reading_order;

pub(super) fn lay_out(draft: &Draft, chunks: &PlacedChunks<'_>) -> LaidOut {
    let mut out = TextSegments::default();
    let is_first = chunks.revision == LayoutRevision::First;
    let dress = Dress::Markdown;
    dress.instructions_before(draft, &mut out);
    // A fence brings its blank line, an item does not.
    let mut is_item_last = chunks.reserved().session;
    for kept in chunks.session() {
        is_item_last = !kept.text.ends_with("\n\n");
        out.push(Band::Session, &kept.text);
    }
    if is_item_last && !is_first {
        out.push(Band::Session, "\n");
    }
    dress.injected(draft, Band::Session, &mut out);
    for kept in chunks.remembered() {
        out.push(Band::Session, &kept.text);
    }
    if chunks.remembered().next().is_some() {
        out.push(Band::Session, "\n");
    }

    let (end, no_conversation, no_trace) = match is_first {
        true => ("", "New conversation.", "Nothing yet."),
        false => ("\n", NO_CONVERSATION, NO_TRACE),
    };
    out.push(Band::Volatile, "## Entity Context\n");
    let entities = of_layer(draft, chunks, Layer::Entity);
    push_or(&mut out, &entities, NO_ENTITIES);
    out.push(Band::Volatile, end);

    out.push(Band::History, "## Conversation History\n");
    // Messages speak for themselves: then the section needs no line that says it is empty.
    let is_new = draft.injected(Band::Conversation).count() + draft.history.len() == 0;
    let turns = of_layer(draft, chunks, Layer::Conversation);
    let (mut remembered, turns): (Vec<&Kept>, Vec<&Kept>) =
        turns.into_iter().partition(|kept| kept.is_remembered);
    push_or(&mut out, &turns, if is_new { no_conversation } else { "" });
    dress.conversation(draft, chunks, "", &mut out);
    // Behind the messages, so that none of them is under the heading of remembered chunks. These
    // are a section of their own, of whatever kind they are.
    if chunks.revision == LayoutRevision::Latest {
        remembered = chunks.recent(draft.history.len());
        remembered.retain(|kept| kept.is_remembered);
    }
    push_or(&mut out, &remembered, "");
    out.push(Band::History, end);

    out.push(Band::Volatile, "## What Happened (Reasoning Trace)\n");
    let happened = of_layer(draft, chunks, Layer::Reasoning);
    let is_idle = draft.steps.is_empty() || is_first;
    push_or(&mut out, &happened, if is_idle { no_trace } else { "" });
    for step in &draft.steps {
        out.push(Band::Steps, &dress.said(step.role, &spoken(step)));
    }
    out.push(Band::Volatile, end);

    out.push(Band::Current, "---\n## Your Task\n");
    out.push(Band::Current, &format!("{}\n\n", spoken(&draft.current)));
    dress.injected(draft, Band::SuffixSystem, &mut out);
    chunks.finish(out)
}

/// The three sections that chunks of a turn can stand in.
#[derive(PartialEq)]
enum Layer {
    Entity,
    Conversation,
    Reasoning,
}

/// Returns the chunks of a section in reading order. Chunks of this turn stand where they belong,
/// not where they were added.
fn of_layer<'a>(draft: &Draft, chunks: &PlacedChunks<'a>, layer: Layer) -> Vec<&'a Kept> {
    let layer_of = |kept: &Kept| match kept.chunk_type {
        ChunkType::Entity => Layer::Entity,
        ChunkType::Turn | ChunkType::Summary => Layer::Conversation,
        _ => Layer::Reasoning,
    };
    let recent = chunks.recent(draft.history.len()).into_iter();
    let mut kept: Vec<&Kept> = recent.filter(|kept| layer_of(kept) == layer).collect();
    match chunks.revision {
        LayoutRevision::First => return kept,
        LayoutRevision::Second => {}
        LayoutRevision::Latest => kept.retain(|kept| !kept.is_remembered),
    }
    // Stable: chunks that are no part of a layer keep the order of their scores.
    kept.sort_by_cached_key(|kept| {
        let order = match kept.chunk_type {
            ChunkType::Entity | ChunkType::Turn | ChunkType::Summary | ChunkType::Step
                if !kept.is_remembered =>
            {
                reading_order(&kept.source)
            }
            _ => reading_order(""),
        };
        (kept.is_remembered, order)
    });
    kept
}

fn push_or(out: &mut TextSegments, kept: &[&Kept], otherwise: &str) {
    if kept.is_empty() && !otherwise.is_empty() {
        out.push(Band::Volatile, &format!("{otherwise}\n"));
    }
    for kept in kept {
        out.push(Band::Volatile, &kept.text);
    }
}
