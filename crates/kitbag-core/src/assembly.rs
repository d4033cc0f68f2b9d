//! Assembly: rank order, fit, layout and ledger in one pure step.
//!
//! What must be in (the [`Draft`]) is laid out and counted, what may be in (the chunks) is fitted
//! into the rest, and the whole is counted once more. The result holds the prompt, as a text or as
//! blocks by band, its exact count, the ledger that explains it, and the epoch that the next turn
//! continues.

mod block;
mod breakpoint;
mod draft;
mod epoch;
mod error;
mod explain;
pub(crate) mod form;
mod injected;
mod kept;
mod ledger;
mod memo;
mod people;
mod piece;
mod segment;
mod select;
mod settings;
mod turn;

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use serde::{Deserialize, Serialize};

pub use block::{Block, BlockBody};
pub use breakpoint::Breakpoint;
pub use draft::Draft;
pub use epoch::Epoch;
pub use error::AssembleError;
pub use form::{LayoutRevision, OutputForm, OutputFormError};
pub use kept::{Kept, kept_chunks};
pub use ledger::{BandUse, EpochReport, FitReport, Ledger, LedgerEntry, Reason, Renewal};
pub use people::{ForPeople, render_for_people};
use piece::render_piece;
pub use segment::Segment;
pub use settings::{AssemblySettings, CacheProfile, FitStrategy, MarkerDialect, ModelTraits};

use crate::rank::RankedChunk;
use crate::tokens::{Exactness, TokenCounter, Tokens};
use form::{LaidOut, PlacedChunks, lay_out};
use memo::Memo;
use turn::Turn;

/// Assembles a prompt within the budget.
///
/// `previous` is the epoch of the assembly before, whose selection is kept as long as that pays.
/// The order of `chunks` does not matter.
///
/// ```
/// use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
/// use kitbag_core::chunk::{ChunkType, ContextChunk};
/// use kitbag_core::tokens::{TokenCounter, Tokens};
///
/// struct Bytes;
/// impl TokenCounter for Bytes {
///     fn name(&self) -> &str { "bytes" }
///     fn count(&self, text: &str) -> Tokens { Tokens(text.len() as u32) }
/// }
///
/// let chunk = ContextChunk::new(ChunkType::Fact, "fact/name", "The user is called Ann.");
/// let settings = AssemblySettings::new(OutputForm::Flat, Tokens(100));
/// let assembly = assemble(&Draft::new("who am I?"), vec![chunk.into()], &settings, &Bytes, None)?;
/// assert_eq!(
///     assembly.body,
///     "[System]\n- The user is called Ann.\n\n[User]\nwho am I?"
/// );
/// # Ok::<(), kitbag_core::assembly::AssembleError>(())
/// ```
///
/// # Errors
/// When what must be in does not fit.
pub fn assemble(
    draft: &Draft,
    chunks: Vec<RankedChunk>,
    settings: &AssemblySettings,
    counter: &dyn TokenCounter,
    previous: Option<&Epoch>,
) -> Result<Assembly, AssembleError> {
    let speaks = settings.form.needs_message();
    // A message may consist of calls alone.
    if speaks && draft.current.content.is_blank() && draft.current.calls().is_empty() {
        return Err(AssembleError::EmptyMessage {
            form: settings.form,
        });
    }
    // The parts are laid out several times while the choice is made: each text is counted once.
    let counter = Memo::new(counter);
    let priced = select::price(chunks, settings.form, &counter);
    let turn = Turn {
        draft,
        settings,
        counter: &counter,
        priced: &priced,
        history_tokens: OnceCell::new(),
    };
    // The counter's factor may have changed since then: compare with counts of the same kind.
    let previous = previous.map(|epoch| epoch.recounted(&counter));
    let (choice, report) = turn.decide(previous.as_deref())?;
    turn.finish(&choice, report, previous.as_deref())
}

/// Renders a prompt from its draft and its kept chunks, as [`assemble`] did: nothing is chosen or
/// counted.
#[must_use]
pub fn render(draft: &Draft, kept: &[Kept], settings: &AssemblySettings) -> Rendered {
    rendered(draft, &PlacedChunks::new(kept), settings)
}

/// Renders a prompt by the layout rules of an earlier revision.
#[must_use]
pub fn render_as_of(
    revision: LayoutRevision,
    draft: &Draft,
    kept: &[Kept],
    settings: &AssemblySettings,
) -> Rendered {
    let placed = PlacedChunks {
        revision,
        ..PlacedChunks::new(kept)
    };
    rendered(draft, &placed, settings)
}

fn rendered(draft: &Draft, placed: &PlacedChunks<'_>, settings: &AssemblySettings) -> Rendered {
    let LaidOut { body, blocks, .. } = lay_out(settings.form, draft, placed, &settings.traits);
    Rendered { body, blocks }
}

/// A laid-out prompt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rendered {
    /// The text, if the form is one text.
    pub body: String,
    /// The blocks, if the form is a request.
    pub blocks: Vec<Block>,
}

/// A prompt with its count and its explanation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assembly {
    /// The output's form.
    pub form: OutputForm,
    /// The text, if the form is one text.
    pub body: String,
    /// The blocks in the order of a request, if the form is one.
    pub blocks: Vec<Block>,
    /// The tokens of the texts in it.
    pub tokens: Tokens,
    /// The name of the tokenizer that counted.
    pub tokenizer: String,
    /// The relation of the counts of texts to the model's own.
    pub exactness: Exactness,
    /// The tokens that are estimates with any counter: those that a provider adds around messages,
    /// and pictures and files.
    pub estimated: Tokens,
    /// The texts, in order.
    pub segments: Vec<Segment>,
    /// The chunks that the prompt shows.
    pub kept: Vec<Kept>,
    /// The ends of cached prefixes.
    pub breakpoints: Vec<Breakpoint>,
    /// Every decision with its reason.
    pub ledger: Ledger,
    /// The state that the next turn continues.
    pub epoch: Epoch,
    /// The part of the previous request that this one begins with.
    pub reuse: Option<Reuse>,
}

/// The bytes of the previous request that this one begins with, compared text by text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reuse {
    /// The bytes of the texts that both begin with.
    pub shared: usize,
    /// The bytes of the previous request.
    pub previous: usize,
    /// The bytes up to the last breakpoint of the previous request that stands among the shared ones.
    pub marked: usize,
    /// False only if both name a model and the names differ.
    pub is_same_model: bool,
}

impl Reuse {
    /// Returns the shared bytes in thousandths of the previous request; all if that was empty.
    #[must_use]
    pub fn permille(&self) -> u32 {
        let share = (self.shared as u64 * 1_000).checked_div(self.previous as u64);
        u32::try_from(share.unwrap_or(1_000)).unwrap_or(1_000)
    }
}

#[cfg(test)]
mod tests;
