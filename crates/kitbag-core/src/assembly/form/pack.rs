//! The pack: one text of six parts, from the context header to the task's instructions.

use alloc::format;
use alloc::string::String;

use super::spoken::spoken;
use super::{Laid, Placed};
use crate::assembly::draft::Draft;
use crate::assembly::kept::Kept;
use crate::assembly::segment::TextSegments;
use crate::band::Band;
use crate::chunk::{ChunkType, Detail};
use crate::inject::ContextMessage;
use crate::neutral::indented;
use crate::role::Role;

/// The first part, with a task and without one.
const HEADER: &str = "Here is the context for your task:\n\n";
const OVERVIEW: &str = "Here is an overview of the project:\n\n";

pub(super) fn lay_out(draft: &Draft, chunks: &Placed<'_>) -> Laid {
    let mut out = TextSegments::default();
    instructions_before(draft, &mut out);
    let has_task = !spoken(&draft.current).is_empty();
    out.push(Band::Session, if has_task { HEADER } else { OVERVIEW });
    context(draft, chunks, &mut out);
    request(draft, &mut out);
    if let Some(task_type) = draft.task_type {
        out.push(Band::Current, &format!("{}\n\n", task_type.instructions()));
    }
    injected(draft, Band::SuffixSystem, &mut out);
    chunks.finish(out)
}

/// Writes everything that stands before the request: structure, sources, mentions, further context,
/// what was said, and what is for this turn alone.
pub(super) fn context(draft: &Draft, chunks: &Placed<'_>, out: &mut TextSegments) {
    for kept in by_part(chunks) {
        out.push(Band::Session, &kept.text);
    }
    injected(draft, Band::Session, out);
    conversation(draft, chunks, out, "## Conversation\n");
    for kept in chunks.before(draft.history.len()).chain(chunks.volatile()) {
        out.push(Band::Volatile, &kept.text);
    }
}

/// The chunks before the history, part by part. Within a part their order stands: the most relevant
/// first.
pub(super) fn by_part<'a>(chunks: &'a Placed<'a>) -> impl Iterator<Item = &'a Kept> {
    let parts = [
        Part::Structure,
        Part::Sources,
        Part::Mentions,
        Part::Further,
    ];
    parts.into_iter().flat_map(|part| {
        let kept = chunks.session();
        kept.filter(move |kept| part.holds(&kept.chunk_type, kept.detail))
    })
}

/// Writes what is asked, if anything is, and the steps that it led to.
pub(super) fn request(draft: &Draft, out: &mut TextSegments) {
    let request = spoken(&draft.current);
    if !request.is_empty() {
        out.push(Band::Current, &format!("---\n## Request\n{request}\n\n"));
    }
    for step in &draft.steps {
        out.push(Band::Steps, &said(step.role.as_str(), &spoken(step)));
    }
}

/// Writes what stands before everything else.
pub(super) fn instructions_before(draft: &Draft, out: &mut TextSegments) {
    if !draft.identity.is_empty() {
        out.push(Band::Identity, &format!("{}\n\n", draft.identity));
    }
    injected(draft, Band::System, out);
}

/// Writes the context messages of a band: the operator's as they are, others with their speaker.
pub(super) fn injected(draft: &Draft, band: Band, out: &mut TextSegments) {
    let is_said = |message: &&ContextMessage| band != Band::System || !message.content.is_empty();
    for message in draft.injected(band).filter(is_said) {
        match message.role {
            Role::System => out.push(band, &format!("{}\n\n", message.content)),
            role => out.push(band, &said(role.as_str(), &message.content)),
        }
    }
}

/// Writes what was said as a list under `title`, nothing when nothing was said.
pub(super) fn conversation(
    draft: &Draft,
    chunks: &Placed<'_>,
    out: &mut TextSegments,
    title: &str,
) {
    let mut title = Some(title);
    for message in draft.injected(Band::Conversation) {
        let line = said(message.role.as_str(), &message.content);
        out.push(Band::Conversation, title.take().unwrap_or_default());
        out.push(Band::Conversation, &line);
    }
    for (index, message) in draft.history.iter().enumerate() {
        out.push(Band::History, title.take().unwrap_or_default());
        for kept in chunks.before(index) {
            out.push(Band::History, &kept.text);
        }
        out.push(
            Band::History,
            &said(message.role.as_str(), &spoken(message)),
        );
    }
}

fn said(role: &str, text: &str) -> String {
    format!("- {role}: {}\n", indented(text, 2))
}

/// The parts that hold chunks, in order.
#[derive(Clone, Copy)]
enum Part {
    Structure,
    Sources,
    Mentions,
    Further,
}

impl Part {
    fn holds(self, chunk_type: &ChunkType, detail: Detail) -> bool {
        let mention = matches!(detail, Detail::Line | Detail::Handle);
        let part = match chunk_type {
            ChunkType::Structure => Self::Structure,
            ChunkType::File | ChunkType::Document if mention => Self::Mentions,
            ChunkType::File | ChunkType::Document => Self::Sources,
            _ => Self::Further,
        };
        core::mem::discriminant(&part) == core::mem::discriminant(&self)
    }
}
