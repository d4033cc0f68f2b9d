//! Assembly: rank order, fit, layout and ledger in one pure step.
//!
//! What must be in (the [`Draft`]) is laid out and counted, what may be in (the chunks) is fitted
//! into the rest, and the whole is counted once more. The result holds the prompt, as a text or as
//! blocks by band, its exact count, the ledger that explains it, and the epoch that the next turn
//! continues.

mod balance;
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

pub use balance::Balance;
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
use form::{Laid, Placed, lay_out};
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
    if speaks && draft.current.content.is_blank() && draft.current.calls().is_empty() {
        return Err(AssembleError::EmptyMessage {
            form: settings.form,
        });
    }
    let counter = Memo::new(counter);
    let priced = select::price(chunks, settings.form, &counter);
    let turn = Turn {
        draft,
        settings,
        counter: &counter,
        priced: &priced,
        history_tokens: OnceCell::new(),
    };
    let previous = previous.map(|epoch| epoch.recounted(&counter));
    let (choice, report) = turn.decide(previous.as_deref())?;
    turn.finish(&choice, report, previous.as_deref())
}

/// Renders a prompt from what was kept, as [`assemble`] did: nothing is chosen or counted.
#[must_use]
pub fn render(draft: &Draft, kept: &[Kept], settings: &AssemblySettings) -> Rendered {
    rendered(draft, &Placed::new(kept), settings)
}

/// Renders a prompt as it was laid out by the rules of a revision.
#[must_use]
pub fn render_as_of(
    revision: LayoutRevision,
    draft: &Draft,
    kept: &[Kept],
    settings: &AssemblySettings,
) -> Rendered {
    let placed = Placed {
        revision,
        ..Placed::new(kept)
    };
    rendered(draft, &placed, settings)
}

fn rendered(draft: &Draft, placed: &Placed<'_>, settings: &AssemblySettings) -> Rendered {
    let Laid { body, blocks, .. } = lay_out(settings.form, draft, placed, &settings.traits);
    Rendered { body, blocks }
}

/// A prompt as it is laid out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rendered {
    /// The text of a form that is one.
    pub body: String,
    /// The blocks of any other form.
    pub blocks: Vec<Block>,
}

/// A prompt, its count, and why it is as it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assembly {
    /// The output's form.
    pub form: OutputForm,
    /// The text of a form that is one.
    pub body: String,
    /// The blocks of any other form, in the order of a request.
    pub blocks: Vec<Block>,
    /// The tokens of the texts in it.
    pub tokens: Tokens,
    /// The tokenizer that counted.
    pub tokenizer: String,
    /// Whether the counts of texts are the model's own.
    pub exactness: Exactness,
    /// How many of the tokens are estimates in any case: what a provider adds around messages, and
    /// pictures and files.
    pub estimated: Tokens,
    /// The texts, in order.
    pub segments: Vec<Segment>,
    /// The chunks that are in it.
    pub kept: Vec<Kept>,
    /// Where cached prefixes end.
    pub breakpoints: Vec<Breakpoint>,
    /// Every decision.
    pub ledger: Ledger,
    /// What the next turn continues.
    pub epoch: Epoch,
    /// How much of the previous request stands at the beginning of this one.
    pub reuse: Option<Reuse>,
}

/// How much of the previous request's bytes stand at the beginning of this one, text by text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reuse {
    /// The bytes of the texts that both begin with.
    pub shared: usize,
    /// The bytes of the previous request.
    pub previous: usize,
    /// The bytes up to the last breakpoint of the previous request that stands among the shared ones.
    pub marked: usize,
    /// Whether both ask the same model, as far as that is known.
    pub is_same_model: bool,
}

impl Reuse {
    /// The share in thousandths.
    #[must_use]
    pub fn permille(&self) -> u32 {
        let share = (self.shared as u64 * 1_000).checked_div(self.previous as u64);
        u32::try_from(share.unwrap_or(1_000)).unwrap_or(1_000)
    }
}

#[cfg(test)]
mod tests;
