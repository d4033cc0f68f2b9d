//! The flat prompt: `[System]`, `[User]` and `[Assistant]` sections, the current message last.

use alloc::borrow::Cow;
use alloc::format;

use super::spoken::spoken;
use super::{LaidOut, PlacedChunks};
use crate::assembly::draft::Draft;
use crate::assembly::kept::Kept;
use crate::assembly::segment::TextSegments;
use crate::band::Band;
use crate::flat::{Heading, neutralise};
use crate::inject::ContextMessage;
use crate::message::Message;
use crate::role::Role;

pub(super) fn lay_out(draft: &Draft, chunks: &PlacedChunks<'_>) -> LaidOut {
    let mut out = Sections::default();

    for tool in draft.sorted_tools() {
        // A text has no schemas of tools: a model only learns that they exist.
        let line = format!("Tool {}: {}", tool.name, tool.description);
        out.instruction(Band::Tools, &line);
    }
    out.instruction(Band::Identity, &draft.identity);
    for message in draft.injected(Band::System) {
        out.injected(&message);
    }
    if chunks.reserved().session {
        out.open(Band::Session, Heading::System);
    }
    out.pieces(Band::Session, chunks.session());
    for message in draft.injected(Band::Session) {
        out.injected(&message);
    }
    out.pieces(Band::Session, chunks.remembered());

    for message in draft.injected(Band::Conversation) {
        out.section(Band::Conversation, heading(message.role), &message.content);
    }
    for (index, message) in draft.history.iter().enumerate() {
        out.appended(chunks, index);
        out.message(Band::History, message);
    }
    out.appended(chunks, draft.history.len());
    if chunks.reserved().appended {
        out.open(Band::History, Heading::System);
        out.close();
    }
    if chunks.reserved().volatile {
        out.open(Band::Volatile, Heading::System);
    }
    out.pieces(Band::Volatile, chunks.volatile());
    out.close();
    // The current message is the last section, so the steps that it led to stand before it.
    for step in &draft.steps {
        out.message(Band::Steps, step);
    }
    for message in draft.injected(Band::SuffixSystem) {
        out.injected(&message);
    }
    out.close();

    out.open(Band::Current, Heading::User);
    out.segments
        .push(Band::Current, &neutralise(&section_text(&draft.current)));
    LaidOut::text(out.segments.into_segments())
}

const fn heading(role: Role) -> Heading {
    match role {
        Role::System => Heading::System,
        // A result is nobody's words; it comes from the user's side, as in requests.
        Role::User | Role::Tool => Heading::User,
        Role::Assistant => Heading::Assistant,
    }
}

/// Returns the text of a message in a section. Results of tools are marked, so that they do not
/// read as the user's own words.
fn section_text(message: &Message) -> Cow<'_, str> {
    match message.role {
        Role::Tool => Cow::Owned(format!("Tool result: {}", spoken(message))),
        Role::System | Role::User | Role::Assistant => spoken(message),
    }
}

/// Writes sections: instructions and sources that follow each other share a `[System]` heading.
#[derive(Default)]
struct Sections {
    segments: TextSegments,
    is_open: bool,
}

impl Sections {
    /// Adds a text by the operator, nothing when it is empty.
    fn instruction(&mut self, band: Band, text: &str) {
        if !text.is_empty() {
            self.open(band, Heading::System);
            self.text(band, text);
        }
    }

    /// Adds a context message: among the instructions, unless somebody else speaks.
    fn injected(&mut self, message: &ContextMessage) {
        let (band, text) = (message.target.band(), message.content.as_str());
        match message.role {
            Role::System => self.instruction(band, text),
            role => self.section(band, heading(role), text),
        }
    }

    fn message(&mut self, band: Band, message: &Message) {
        self.section(band, heading(message.role), &section_text(message));
    }

    /// Adds a section of its own.
    fn section(&mut self, band: Band, heading: Heading, text: &str) {
        self.close();
        self.open(band, heading);
        self.text(band, text);
        self.close();
    }

    /// Adds the chunks that were appended before the message `index`, in a section of their own so
    /// that they stay where they are when the conversation goes on.
    fn appended(&mut self, chunks: &PlacedChunks<'_>, index: usize) {
        self.close();
        self.pieces(Band::History, chunks.before(index));
        self.close();
    }

    fn pieces<'a>(&mut self, band: Band, kept: impl Iterator<Item = &'a Kept>) {
        for kept in kept {
            self.open(band, Heading::System);
            self.segments.push(band, &kept.text);
        }
    }

    fn text(&mut self, band: Band, text: &str) {
        self.segments
            .push(band, &format!("{}\n\n", neutralise(text)));
    }

    fn open(&mut self, band: Band, heading: Heading) {
        if !self.is_open {
            self.segments.push(band, &format!("{}\n", heading.line()));
            self.is_open = true;
        }
    }

    fn close(&mut self) {
        self.is_open = false;
    }
}
