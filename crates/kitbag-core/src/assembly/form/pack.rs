//! The pack, and the same context in two other dresses: Markdown and tagged text.
//!
//! The pack is one text of six parts, from the context header to the task's instructions. Markdown
//! is for a person to paste somewhere, so that it has no opening line. In tagged text every
//! part is an element, for models that are used to tags. What an element holds is verbatim, up to
//! the closing tag with the element's own name, which nothing inside can spell. It is no XML for a
//! parser of XML: code is not escaped.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::spoken::spoken;
use super::{LaidOut, PlacedChunks};
use crate::assembly::draft::Draft;
use crate::assembly::kept::Kept;
use crate::assembly::piece::element;
use crate::assembly::segment::TextSegments;
use crate::band::Band;
use crate::chunk::{ChunkType, Detail};
use crate::inject::ContextMessage;
use crate::neutral::indented;
use crate::role::Role;

/// The words around the parts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Dress {
    Pack,
    Markdown,
    Tagged,
}

/// The first part of a pack, with a task and without one.
const HEADER: &str = "Here is the context for your task:\n\n";
const OVERVIEW: &str = "Here is an overview of the project:\n\n";

pub(super) fn lay_out(dress: Dress, draft: &Draft, chunks: &PlacedChunks<'_>) -> LaidOut {
    let mut out = TextSegments::default();
    dress.instructions_before(draft, &mut out);
    let request = spoken(&draft.current);
    let (opening, ending, title) = match dress {
        Dress::Pack if request.is_empty() => (OVERVIEW, "", "## Conversation\n"),
        Dress::Pack => (HEADER, "", "## Conversation\n"),
        Dress::Markdown => ("", "", "## Conversation\n"),
        Dress::Tagged => ("<context>\n", "</context>\n", "<conversation>\n"),
    };
    out.push(Band::Session, opening);
    for kept in by_part(chunks) {
        out.push(Band::Session, &kept.text);
    }
    dress.injected(draft, Band::Session, &mut out);
    for kept in chunks.remembered() {
        out.push(Band::Session, &kept.text);
    }
    out.push(Band::Session, ending);

    dress.conversation(draft, chunks, title, &mut out);
    for kept in chunks.recent(draft.history.len()) {
        out.push(Band::Volatile, &kept.text);
    }

    if !request.is_empty() {
        let request = match dress {
            Dress::Tagged => element("request", &[], &request),
            Dress::Pack | Dress::Markdown => format!("---\n## Request\n{request}\n\n"),
        };
        out.push(Band::Current, &request);
    }
    for step in &draft.steps {
        out.push(Band::Steps, &dress.said(step.role, &spoken(step)));
    }
    dress.injected(draft, Band::SuffixSystem, &mut out);
    chunks.finish(out)
}

/// Returns the chunks before the history by part: structure, the change to review, sources, mentions,
/// further context. Within a part their order stands: the most relevant first.
fn by_part<'a>(chunks: &PlacedChunks<'a>) -> Vec<&'a Kept> {
    let mut kept: Vec<&Kept> = chunks.session().collect();
    kept.sort_by_key(|kept| match (&kept.chunk_type, kept.detail) {
        (ChunkType::Structure, _) => 0,
        (ChunkType::Other(kind), _) if kind == "diff" => 1,
        (ChunkType::File | ChunkType::Document, Detail::Line | Detail::Handle) => 3,
        (ChunkType::File | ChunkType::Document, _) => 2,
        _ => 4,
    });
    kept
}

impl Dress {
    /// Writes the instructions that stand before everything else.
    pub(super) fn instructions_before(self, draft: &Draft, out: &mut TextSegments) {
        if !draft.identity.is_empty() {
            out.push(Band::Identity, &self.instruction("system", &draft.identity));
        }
        self.injected(draft, Band::System, out);
    }

    /// Writes the context messages of a band: the operator's as they are, others with their speaker.
    pub(super) fn injected(self, draft: &Draft, band: Band, out: &mut TextSegments) {
        let name = match band {
            Band::System => "system",
            _ => "instructions",
        };
        // Among the elements of the context, everybody's words are messages.
        let is_context = self == Self::Tagged && band == Band::Session;
        let is_said =
            |message: &ContextMessage| band != Band::System || !message.content.is_empty();
        for message in draft.injected(band).filter(is_said) {
            let text = match message.role {
                Role::System if !is_context => self.instruction(name, &message.content),
                role => self.said(role, &message.content),
            };
            out.push(band, &text);
        }
    }

    /// Writes the messages under `title`; nothing if there are none.
    pub(super) fn conversation(
        self,
        draft: &Draft,
        chunks: &PlacedChunks<'_>,
        title: &str,
        out: &mut TextSegments,
    ) {
        let heading = title;
        let mut title = Some(title);
        // The first message takes the title; the others follow without one.
        for message in draft.injected(Band::Conversation) {
            out.push(Band::Conversation, title.take().unwrap_or_default());
            out.push(
                Band::Conversation,
                &self.said(message.role, &message.content),
            );
        }
        for (index, message) in draft.history.iter().enumerate() {
            out.push(Band::History, title.take().unwrap_or_default());
            let mut is_remembered_last = false;
            for kept in chunks.before(index) {
                out.push(Band::History, &kept.text);
                is_remembered_last = kept.is_remembered;
            }
            // The message must not stand under the heading of remembered chunks. An element ends by
            // itself.
            if is_remembered_last && self != Self::Tagged {
                out.push(Band::History, heading);
            }
            out.push(Band::History, &self.said(message.role, &spoken(message)));
        }
        if self == Self::Tagged && title.is_none() {
            out.push(Band::History, "</conversation>\n");
        }
    }

    /// Returns a text by the operator.
    fn instruction(self, name: &str, text: &str) -> String {
        match self {
            Self::Tagged => element(name, &[], text),
            Self::Pack | Self::Markdown => format!("{text}\n\n"),
        }
    }

    /// Returns a text by whoever speaks.
    pub(super) fn said(self, role: Role, text: &str) -> String {
        match self {
            Self::Tagged => element("message", &[("role", role.as_str())], text),
            Self::Pack | Self::Markdown => format!("- {role}: {}\n", indented(text, 2)),
        }
    }
}
