//! Renders and counts every level of every chunk, and chooses among them.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::AssembleError;
use super::form::OutputForm;
use super::kept::Kept;
use super::piece::render_piece;
use super::settings::{AssemblySettings, FitStrategy};
use crate::band::Band;
use crate::chunk::{ChunkId, ContextPriority, Detail, Relevance};
use crate::fit::{self, Candidate, FitError, Fitted, Offer, Price};
use crate::rank::RankedChunk;
use crate::tokens::{TokenCounter, Tokens};

/// A chunk with its levels rendered for an output and counted.
pub(super) struct Priced {
    pub(super) id: ChunkId,
    pub(super) ranked: RankedChunk,
    pub(super) pieces: Vec<Piece>,
}

/// A level of a chunk, ready for the prompt.
pub(super) struct Piece {
    pub(super) detail: Detail,
    pub(super) text: String,
    pub(super) tokens: Tokens,
    pub(super) worth: u64,
}

/// Renders and counts the chunks. A second chunk with the same id and text has no pieces; one with
/// another text gets an id of its own.
pub(super) fn price(
    chunks: Vec<RankedChunk>,
    form: OutputForm,
    counter: &dyn TokenCounter,
) -> Vec<Priced> {
    let mut ids: BTreeMap<ChunkId, String> = BTreeMap::new();
    let mut priced = Vec::with_capacity(chunks.len());
    for ranked in chunks {
        let content = ranked.chunk.content();
        let id = match ids.get(&ranked.chunk.id) {
            Some(taken) if taken != content => ranked.chunk.id.with_content(content),
            _ => ranked.chunk.id.clone(),
        };
        let is_new = ids.insert(id.clone(), content.into()).is_none();
        let pieces = if is_new {
            pieces(&ranked, form, counter)
        } else {
            Vec::new()
        };
        priced.push(Priced { id, ranked, pieces });
    }
    priced
}

fn pieces(ranked: &RankedChunk, form: OutputForm, counter: &dyn TokenCounter) -> Vec<Piece> {
    let chunk = &ranked.chunk;
    // A critical chunk that is empty is still shown: that it is empty may be the point.
    let shown =
        |content: &str| !content.trim().is_empty() || chunk.priority == ContextPriority::Critical;
    let levels = chunk.levels.iter().filter(|level| shown(&level.content));
    levels
        .map(|level| {
            let text = render_piece(chunk, level, form);
            let coverage = u64::from(level.coverage.permille());
            Piece {
                detail: level.level,
                tokens: counter.count(&text),
                text,
                worth: u64::from(chunk.relevance.ppm()) * coverage * chunk.priority.weight(),
            }
        })
        .collect()
}

impl Priced {
    pub(super) fn is_critical(&self) -> bool {
        self.ranked.chunk.priority == ContextPriority::Critical
    }

    pub(super) fn is_below(&self, floor: Relevance) -> bool {
        self.ranked.chunk.relevance < floor && !self.is_critical()
    }

    /// Whether it may be chosen at all.
    pub(super) fn is_eligible(&self, floor: Relevance) -> bool {
        !self.pieces.is_empty() && !self.is_below(floor)
    }

    pub(super) fn band(&self) -> Band {
        self.ranked.chunk.band
    }

    /// The piece at `index` as it stands in the prompt.
    pub(super) fn keep(&self, index: usize, before: Option<usize>) -> Option<Kept> {
        let piece = self.pieces.get(index)?;
        Some(Kept {
            id: self.id.clone(),
            source: self.ranked.chunk.source.clone(),
            chunk_type: self.ranked.chunk.chunk_type.clone(),
            band: self.band(),
            detail: piece.detail,
            text: piece.text.clone(),
            tokens: piece.tokens,
            before,
        })
    }
}

/// Chooses a level, or none, of each chunk within `room`.
///
/// `bases` are what chunks already bring by standing in the prompt: only what is worth more counts,
/// and only as much as it is worth more. `price` is what a token must bring at least.
pub(super) fn choose(
    priced: &[Priced],
    bases: &[Base],
    room: Tokens,
    price: Option<Price>,
    settings: &AssemblySettings,
) -> Result<Fitted, AssembleError> {
    let candidates: Vec<Candidate> = priced
        .iter()
        .zip(bases)
        .map(|(priced, base)| {
            if !priced.is_eligible(settings.floor) {
                return Candidate::optional([]);
            }
            let must = priced.is_critical() && !base.is_shown;
            let offer = |piece: &Piece| {
                let due = price
                    .filter(|_| !must)
                    .map_or(0, |price| price.worth_for(piece.tokens));
                let surplus = piece.worth.saturating_sub(base.worth).saturating_sub(due);
                Offer::new(piece.tokens.0, surplus)
            };
            let offers: Vec<Offer> = priced.pieces.iter().map(offer).collect();
            if must {
                Candidate::critical(offers)
            } else {
                Candidate::optional(offers)
            }
        })
        .collect();
    let mut fitted = match settings.strategy {
        FitStrategy::Optimal => fit::fit(&candidates, room),
        FitStrategy::Greedy => {
            let order: Vec<usize> = (0..candidates.len()).collect();
            fit::fit_greedy(&candidates, &order, room)
        }
    }
    .map_err(|error| explain(error, priced))?;
    mention_the_rest(priced, bases, &candidates, &mut fitted);
    Ok(fitted)
}

/// What a chunk brings already.
#[derive(Clone, Copy, Default)]
pub(super) struct Base {
    pub(super) worth: u64,
    pub(super) is_shown: bool,
}

/// Spends what is left on handles, the best chunks first: what was relevant leaves a trace.
fn mention_the_rest(
    priced: &[Priced],
    base: &[Base],
    candidates: &[Candidate],
    fitted: &mut Fitted,
) {
    let chunks = priced
        .iter()
        .zip(base)
        .zip(candidates)
        .zip(&mut fitted.choices);
    for (((priced, base), candidate), choice) in chunks {
        if choice.is_some() || base.is_shown || candidate.offers.is_empty() {
            continue;
        }
        let handle = priced
            .pieces
            .iter()
            .position(|piece| piece.detail == Detail::Handle && piece.tokens <= fitted.unused);
        if let Some(piece) = handle.and_then(|index| priced.pieces.get(index)) {
            *choice = handle;
            fitted.used = fitted.used.saturating_add(piece.tokens);
            fitted.unused = fitted.unused.saturating_sub(piece.tokens);
        }
    }
}

fn explain(error: FitError, priced: &[Priced]) -> AssembleError {
    let id = |index: usize| priced.get(index).map(|priced| priced.id.clone());
    match error {
        FitError::CriticalOverBudget {
            needed,
            budget,
            largest,
        } => AssembleError::CriticalOverBudget {
            needed,
            room: budget,
            largest: id(largest),
        },
        FitError::CriticalWithoutOffers { index } => {
            AssembleError::CriticalWithoutLevels { id: id(index) }
        }
    }
}
