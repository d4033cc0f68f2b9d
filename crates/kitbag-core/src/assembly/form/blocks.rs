//! The forms that are no text: blocks by band, in the order of a request.
//!
//! What differs between providers in the words themselves is decided here: where the operator may
//! speak, and whose reasoning can be read. The JSON is made elsewhere.

use alloc::string::String;
use alloc::vec::Vec;

use super::carried::carried;
use super::countable::segments;
use super::{LaidOut, LayoutRevision, OutputForm, PlacedChunks};
use crate::assembly::block::{Block, BlockBody};
use crate::assembly::draft::Draft;
use crate::assembly::kept::Kept;
use crate::assembly::settings::ModelTraits;
use crate::band::Band;
use crate::inject::{ContextMessage, reminder};
use crate::message::Message;
use crate::problem::Problem;
use crate::role::Role;

pub(super) fn lay_out(
    form: OutputForm,
    draft: &Draft,
    chunks: &PlacedChunks<'_>,
    traits: &ModelTraits,
) -> LaidOut {
    let mut out = Blocks {
        form,
        traits,
        blocks: Vec::new(),
        held: Vec::new(),
        problems: Vec::new(),
    };
    for tool in draft.sorted_tools() {
        out.push(Band::Tools, BlockBody::Tool(tool.clone()));
    }
    if !draft.identity.is_empty() {
        out.text(Band::Identity, Role::System, draft.identity.clone());
    }
    let system = draft.injected(Band::System);
    // Anthropic refuses empty texts.
    for message in system.filter(|message| !message.content.is_empty()) {
        out.injected(&message);
    }
    for kept in chunks.session() {
        out.push(Band::Session, kept.into());
    }
    if chunks.reserved().session {
        out.reserve(Band::Session, Role::System);
    }
    for message in draft.injected(Band::Session) {
        out.injected(&message);
    }
    for kept in chunks.remembered() {
        out.push(Band::Session, kept.into());
    }
    for message in draft.injected(Band::Conversation) {
        out.injected(&message);
    }
    for (index, message) in draft.history.iter().enumerate() {
        out.hold(Band::History, chunks.before(index));
        out.message(Band::History, message);
    }
    let history = draft.history.len();
    let appended = match form {
        // A program that lays the bands out itself sees what is new in one of them.
        OutputForm::Payload => Band::Volatile,
        _ => Band::History,
    };
    if appended == Band::Volatile && chunks.revision == LayoutRevision::Latest {
        out.hold(Band::Volatile, chunks.recent(history).into_iter());
    } else {
        out.hold(appended, chunks.before(history));
        out.hold(Band::Volatile, chunks.volatile());
    }
    for (is_reserved, band) in [
        (chunks.reserved().appended, Band::History),
        (chunks.reserved().volatile, Band::Volatile),
    ] {
        if is_reserved {
            out.reserve(band, chunk_role(form));
        }
    }
    out.message(Band::Current, &draft.current);
    for step in &draft.steps {
        out.message(Band::Steps, step);
    }
    // Behind a final result of a tool no message released them.
    out.release();
    for message in draft.injected(Band::SuffixSystem) {
        out.injected(&message);
    }
    LaidOut {
        segments: segments(form, &out.blocks),
        body: String::new(),
        blocks: out.blocks,
        problems: out.problems,
    }
}

/// Returns the speaker of chunks chosen for this turn: the operator, if the provider lets one speak
/// there.
pub(super) const fn chunk_role(form: OutputForm) -> Role {
    match form {
        OutputForm::Anthropic => Role::User,
        _ => Role::System,
    }
}

struct Blocks<'a> {
    form: OutputForm,
    traits: &'a ModelTraits,
    blocks: Vec<Block>,
    /// Chunks that wait for the next message that is not a tool's result.
    held: Vec<Block>,
    problems: Vec<Problem>,
}

impl Blocks<'_> {
    fn push(&mut self, band: Band, body: BlockBody) {
        self.blocks.push(Block::new(band, body));
    }

    fn text(&mut self, band: Band, role: Role, text: String) {
        self.push(band, BlockBody::Text { role, text });
    }

    /// Puts an empty text in the place of chunks that are not chosen yet, so that the texts around
    /// them have their final cost. A payload has nothing there.
    fn reserve(&mut self, band: Band, role: Role) {
        if self.form != OutputForm::Payload {
            self.text(band, role, String::new());
        }
    }

    /// Adds a context message in the voice of its own speaker. Where a provider takes the
    /// operator's words only before the conversation or at its very end, they become a reminder
    /// among the user's.
    fn injected(&mut self, message: &ContextMessage) {
        let (band, text) = (message.target.band(), message.content.clone());
        let may_speak = band <= Band::Session
            || (band == Band::SuffixSystem && self.traits.mid_conversation_system);
        match message.role {
            role if self.form != OutputForm::Anthropic => self.text(band, role, text),
            Role::System if !may_speak => self.text(band, Role::User, reminder(&text)),
            Role::Tool => self.text(band, Role::User, text),
            role => self.text(band, role, text),
        }
    }

    /// Holds chunks for the message they were needed for. Behind a result of a tool they wait for
    /// the next message, since nothing may separate a result from its call.
    fn hold<'k>(&mut self, band: Band, kept: impl Iterator<Item = &'k Kept>) {
        self.held
            .extend(kept.map(|kept| Block::new(band, kept.into())));
    }

    fn release(&mut self) {
        self.blocks.append(&mut self.held);
    }

    fn message(&mut self, band: Band, message: &Message) {
        // Whoever lays out a payload knows which provider it is for.
        if self.form == OutputForm::Payload {
            self.release();
            return self.push(band, BlockBody::Message(message.clone()));
        }
        if !message.answers_a_call() {
            self.release();
        }
        // From here on the message is as the provider can take it.
        let message = carried(message, self.form, &mut self.problems);
        self.push(band, BlockBody::Message(message));
    }
}
