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
    /// Tells whether it is one text, whose tokens are all that is sent. Of a request only the texts
    /// count, not the JSON around them.
    #[must_use]
    pub const fn is_text(self) -> bool {
        match self {
            Self::Flat | Self::Pack | Self::Markdown | Self::Xml | Self::Node => true,
            Self::Anthropic | Self::OpenAi | Self::Responses | Self::Payload => false,
        }
    }

    /// Tells whether chunks appended behind the history and those of this turn alone are one
    /// stretch. Elsewhere they are texts or sections of their own, so that the appended ones stay
    /// as they are.
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

    /// Tells whether it ends in a message and so needs one.
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
        // The name in earlier versions and in other programs' settings.
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
    /// The rejected value.
    pub value: String,
}

/// A laid-out prompt.
pub(super) struct LaidOut {
    /// The texts to count.
    pub(super) segments: Vec<Segment>,
    /// The text, if the form is one text.
    pub(super) body: String,
    /// The blocks, if the form is a request.
    pub(super) blocks: Vec<Block>,
    /// Losses: parts that the form could not carry.
    pub(super) problems: Vec<Problem>,
}

impl LaidOut {
    /// Creates a text, which is the concatenation of its segments.
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
    chunks: &PlacedChunks<'_>,
    traits: &ModelTraits,
) -> LaidOut {
    // A heading becomes part of the first piece below it, so that no form has to write it.
    let mut kept = headed(form, chunks, draft.history.len());
    // Only requests: the other forms have sections of their own for a node.
    if draft.is_for_node && form.is_request() {
        kept = sections::sectioned(form, draft, &kept).into();
    }
    let chunks = &PlacedChunks {
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
pub(super) struct PlacedChunks<'a> {
    pub(super) kept: &'a [Kept],
    /// The frames to lay out even when they stay empty, while their cost is measured.
    pub(super) reserved: Option<Reserved>,
    /// The places that get the heading of remembered chunks in any case, while its cost is
    /// measured.
    pub(super) headings: &'a [Place],
    pub(super) revision: LayoutRevision,
}

/// The rules by which a prompt was laid out. An archived one comes out again by its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayoutRevision {
    /// Nodes had no blank lines.
    First,
    /// Appended chunks had a heading of their own even behind recalled ones; in nodes they stood in
    /// the section of their kind, with one heading for all of them.
    Second,
    /// The current rules.
    #[default]
    Latest,
}

/// Frames that are laid out before anything is in them, so that their cost is known before anything
/// is chosen.
#[derive(Clone, Copy, Default)]
pub(super) struct Reserved {
    pub(super) session: bool,
    pub(super) appended: bool,
    pub(super) volatile: bool,
}

impl<'a> PlacedChunks<'a> {
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

    /// Returns the chunks before the history that are not remembered.
    fn session(&self) -> impl Iterator<Item = &'a Kept> + use<'a> {
        self.of_band(ChunkBand::Session)
            .filter(|kept| !kept.is_remembered)
    }

    /// Returns the remembered chunks before the history. They follow the operator's words, which
    /// must not stand under their heading.
    fn remembered(&self) -> impl Iterator<Item = &'a Kept> + use<'a> {
        self.of_band(ChunkBand::Session)
            .filter(|kept| kept.is_remembered)
    }

    /// Returns the chunks behind a history of `history` messages: appended ones and those of this
    /// turn alone, remembered ones last.
    fn recent(&self, history: usize) -> Vec<&'a Kept> {
        // A single stretch needs a single heading for what is remembered.
        let mut recent: Vec<&Kept> = self.before(history).chain(self.volatile()).collect();
        // A stable sort: otherwise appended chunks stay before those of this turn.
        recent.sort_by_key(|kept| kept.is_remembered);
        recent
    }

    /// Returns the chunks that were appended before message `index`, counted over the history and
    /// the current message.
    fn before(&self, index: usize) -> impl Iterator<Item = &'a Kept> + use<'a> {
        self.kept
            .iter()
            .filter(move |kept| kept.before == Some(index))
    }

    /// Returns the chunks of this turn alone.
    fn volatile(&self) -> impl Iterator<Item = &'a Kept> + use<'a> {
        self.of_band(ChunkBand::Volatile)
    }

    fn of_band(&self, band: ChunkBand) -> impl Iterator<Item = &'a Kept> + use<'a> {
        let kept = self.kept.iter();
        // An appended chunk stands among the messages, whatever its band.
        kept.filter(move |kept| kept.before.is_none() && kept.band == band)
    }

    /// Ends a text without the newlines at its very end. While frames are measured these stay:
    /// something may come to stand behind them.
    fn finish(&self, out: TextSegments) -> LaidOut {
        LaidOut::text(if self.reserved.is_some() {
            out.into_segments()
        } else {
            out.trimmed()
        })
    }

    /// Returns the frames to lay out even when they stay empty.
    fn reserved(&self) -> Reserved {
        self.reserved.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
