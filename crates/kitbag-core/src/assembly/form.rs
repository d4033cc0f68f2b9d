//! The outputs: how the bands become a text or the blocks of a request.
//!
//! Each output lays out the draft and the kept chunks as segments, which are counted, and a text or
//! blocks. Nothing is chosen here, and no JSON of a request is made.

mod blocks;
mod carried;
pub(crate) mod countable;
mod flat;
mod heading;
mod node;
mod pack;
mod sections;
mod spoken;

use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use super::block::Block;
use super::draft::Draft;
use super::kept::Kept;
use super::segment::{Segment, TextSegments, concat};
use super::settings::ModelTraits;
use crate::chunk::ChunkBand;
use crate::problem::Problem;
use heading::headed;
pub(super) use heading::{Place, heading};
use pack::Dress;

/// The forms that an assembly can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum OutputForm {
    /// One text of `[System]`, `[User]` and `[Assistant]` sections.
    Flat,
    /// One text of six parts: header, structure, files, further context, request, instructions.
    #[serde(alias = "prompt")]
    Pack,
    /// The context as a Markdown document for people, without the words around it.
    Markdown,
    /// One text of tagged elements.
    Xml,
    /// One text for a node: entities, conversation, what happened, the task.
    Node,
    /// Blocks for a request to the Anthropic Messages API.
    Anthropic,
    /// Blocks for a request to the OpenAI Chat Completions API.
    OpenAi,
    /// Blocks for a request to the OpenAI Responses API.
    Responses,
    /// Blocks for programs that lay them out themselves.
    #[serde(rename = "json")]
    Payload,
}

names!(OutputForm {
    Flat = "flat",
    Pack = "pack",
    Markdown = "markdown",
    Xml = "xml",
    Node = "node",
    Anthropic = "anthropic",
    OpenAi = "openai",
    Responses = "responses",
    Payload = "json",
});

impl OutputForm {
    /// Whether it is one text, whose tokens are those of everything that is sent. Of a request only
    /// the texts in it count, not the JSON around them.
    #[must_use]
    pub const fn is_text(self) -> bool {
        match self {
            Self::Flat | Self::Pack | Self::Markdown | Self::Xml | Self::Node => true,
            Self::Anthropic | Self::OpenAi | Self::Responses | Self::Payload => false,
        }
    }

    /// Whether what was appended behind the history and what is of this turn alone follow each other
    /// as one stretch. Elsewhere they are texts or sections of their own: what was appended stays as
    /// it is.
    const fn joins_recent(self) -> bool {
        match self {
            Self::Pack | Self::Markdown | Self::Xml | Self::Node | Self::Payload => true,
            Self::Flat | Self::Anthropic | Self::OpenAi | Self::Responses => false,
        }
    }

    /// Returns true where a provider takes it.
    const fn is_request(self) -> bool {
        matches!(
            self,
            Self::Flat | Self::Anthropic | Self::OpenAi | Self::Responses
        )
    }

    /// Whether it ends in a message, so that it cannot do without one.
    #[must_use]
    pub const fn needs_message(self) -> bool {
        match self {
            Self::Flat | Self::Node | Self::Anthropic | Self::OpenAi | Self::Responses => true,
            Self::Pack | Self::Markdown | Self::Xml | Self::Payload => false,
        }
    }
}

impl FromStr for OutputForm {
    type Err = OutputFormError;

    /// Reads a form's name; `prompt` is another one for the pack.
    fn from_str(text: &str) -> Result<Self, OutputFormError> {
        if text == "prompt" {
            return Ok(Self::Pack);
        }
        Self::ALL
            .into_iter()
            .find(|form| form.as_str() == text)
            .ok_or_else(|| OutputFormError { value: text.into() })
    }
}

/// An output form that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown output form `{value}`; expected pack (or prompt), markdown, xml, flat, node, anthropic, openai, responses or json"
)]
pub struct OutputFormError {
    /// What was given.
    pub value: String,
}

/// A prompt that is laid out.
pub(super) struct Laid {
    /// What is counted.
    pub(super) segments: Vec<Segment>,
    /// The text of a form that is one.
    pub(super) body: String,
    /// The blocks of any other form.
    pub(super) blocks: Vec<Block>,
    /// What the form could not carry.
    pub(super) problems: Vec<Problem>,
}

impl Laid {
    /// A text, which is the concatenation of its segments.
    fn text(segments: Vec<Segment>) -> Self {
        Self {
            body: concat(&segments),
            segments,
            blocks: Vec::new(),
            problems: Vec::new(),
        }
    }
}

/// Lays out the draft and the kept chunks.
pub(super) fn lay_out(
    form: OutputForm,
    draft: &Draft,
    chunks: &Placed<'_>,
    traits: &ModelTraits,
) -> Laid {
    let mut kept = headed(form, chunks, draft.history.len());
    if draft.is_for_node && form.is_request() {
        kept = sections::sectioned(form, draft, &kept).into();
    }
    let chunks = &Placed {
        kept: &kept,
        ..*chunks
    };
    match form {
        OutputForm::Flat => flat::lay_out(draft, chunks),
        OutputForm::Pack => pack::lay_out(Dress::Pack, draft, chunks),
        OutputForm::Markdown => pack::lay_out(Dress::Markdown, draft, chunks),
        OutputForm::Xml => pack::lay_out(Dress::Tagged, draft, chunks),
        OutputForm::Node => node::lay_out(draft, chunks),
        OutputForm::Anthropic
        | OutputForm::OpenAi
        | OutputForm::Responses
        | OutputForm::Payload => blocks::lay_out(form, draft, chunks, traits),
    }
}

/// The kept chunks by their place.
#[derive(Default)]
pub(super) struct Placed<'a> {
    pub(super) kept: &'a [Kept],
    /// The frames to lay out even when they stay empty, while they are only measured.
    pub(super) reserved: Option<Reserved>,
    /// The places to lay out the heading of remembered chunks in, while it is only measured.
    pub(super) headings: &'a [Place],
    pub(super) revision: LayoutRevision,
}

/// The rules by which a prompt was laid out. An archived one comes out again by its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayoutRevision {
    /// Nodes had no blank lines.
    First,
    /// What was appended had a heading of its own where it stood with what was recalled, and in nodes
    /// stood in the section of its kind, with one heading for all of them.
    Second,
    /// Today's.
    #[default]
    Latest,
}

/// The frames that are laid out although nothing is in them yet, so that their cost is known
/// before anything is chosen.
#[derive(Clone, Copy, Default)]
pub(super) struct Reserved {
    pub(super) session: bool,
    pub(super) appended: bool,
    pub(super) volatile: bool,
}

impl<'a> Placed<'a> {
    pub(super) fn new(kept: &'a [Kept]) -> Self {
        Self {
            kept,
            ..Self::default()
        }
    }

    pub(super) fn reserving(kept: &'a [Kept], reserved: Reserved, headings: &'a [Place]) -> Self {
        Self {
            reserved: Some(reserved),
            headings,
            ..Self::new(kept)
        }
    }

    /// The chunks before the history that are not remembered.
    fn session(&self) -> impl Iterator<Item = &'a Kept> + use<'a> {
        self.of_band(ChunkBand::Session)
            .filter(|kept| !kept.is_remembered)
    }

    /// The remembered chunks before the history. They stand behind the operator's words, so that
    /// none of these is under their heading.
    fn remembered(&self) -> impl Iterator<Item = &'a Kept> + use<'a> {
        self.of_band(ChunkBand::Session)
            .filter(|kept| kept.is_remembered)
    }

    /// The chunks behind the history of so many messages: those that were appended there, and those
    /// of this turn alone, remembered ones last.
    fn recent(&self, history: usize) -> Vec<&'a Kept> {
        let mut recent: Vec<&Kept> = self.before(history).chain(self.volatile()).collect();
        recent.sort_by_key(|kept| kept.is_remembered);
        recent
    }

    /// The chunks that were appended before the message `index` of the history and the current.
    fn before(&self, index: usize) -> impl Iterator<Item = &'a Kept> + use<'a> {
        self.kept
            .iter()
            .filter(move |kept| kept.before == Some(index))
    }

    /// The chunks of this turn alone.
    fn volatile(&self) -> impl Iterator<Item = &'a Kept> + use<'a> {
        self.of_band(ChunkBand::Volatile)
    }

    fn of_band(&self, band: ChunkBand) -> impl Iterator<Item = &'a Kept> + use<'a> {
        let kept = self.kept.iter();
        kept.filter(move |kept| kept.before.is_none() && kept.band == band)
    }

    /// The segments of a text, with the newlines at the very end taken off. While frames are only
    /// measured these stay: something may come to stand behind them.
    fn finish(&self, out: TextSegments) -> Laid {
        Laid::text(if self.reserved.is_some() {
            out.into_segments()
        } else {
            out.trimmed()
        })
    }

    /// The frames to lay out even when they stay empty.
    fn reserved(&self) -> Reserved {
        self.reserved.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
