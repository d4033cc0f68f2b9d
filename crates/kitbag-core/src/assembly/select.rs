//! Renders and counts every level of every chunk, and chooses among them.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::error::AssembleError;
use super::form::OutputForm;
use super::kept::Kept;
use super::memo::Memo;
use super::piece::render_piece;
use super::settings::{AssemblySettings, FitStrategy};
use crate::chunk::{ChunkBand, ChunkId, ContextPriority, Detail, Level, Relevance, Trust};
use crate::fit::{self, Candidate, FitError, Fitted, Offer, Price};
use crate::rank::RankedChunk;
use crate::tokens::Tokens;

/// A chunk with its levels rendered for an output and counted.
pub(super) struct Priced {
    pub(super) id: ChunkId,
    pub(super) ranked: RankedChunk,
    pub(super) pieces: Vec<Piece>,
    /// Set if another chunk with the same id and content stands for it.
    pub(super) is_duplicate: bool,
}

/// A level of a chunk, ready for the prompt.
pub(super) struct Piece {
    pub(super) detail: Detail,
    pub(super) lines: Vec<(u32, u32)>,
    pub(super) text: String,
    pub(super) tokens: Tokens,
    pub(super) worth: u64,
}

/// Renders and counts the chunks, and puts them in the order of their scores.
///
/// Of chunks with one id and content, one stands for all, with the highest priority and relevance
/// of them. Chunks with one id and different contents get ids that name their contents. Neither
/// depends on the order in which they came.
pub(super) fn price(chunks: Vec<RankedChunk>, form: OutputForm, counter: &Memo<'_>) -> Vec<Priced> {
    // Ordered maps, so that the order of the chunks cannot matter.
    let mut groups: BTreeMap<ChunkId, BTreeMap<String, Vec<RankedChunk>>> = BTreeMap::new();
    for ranked in chunks {
        let same_id = groups.entry(ranked.chunk.id.clone()).or_default();
        let content = ranked.chunk.content().into();
        same_id.entry(content).or_default().push(ranked);
    }
    let mut priced = Vec::new();
    for (id, contents) in groups {
        let is_shared = contents.len() > 1;
        for (content, twins) in contents {
            let id = if is_shared {
                id.with_content(&content)
            } else {
                id.clone()
            };
            for (index, ranked) in best_first(twins).into_iter().enumerate() {
                let is_duplicate = index > 0;
                let pieces = if is_duplicate {
                    Vec::new()
                } else {
                    pieces(&ranked, form)
                };
                priced.push(Priced {
                    id: id.clone(),
                    ranked,
                    pieces,
                    is_duplicate,
                });
            }
        }
    }
    count(&mut priced, counter);
    priced.sort_by_key(|priced: &Priced| {
        let RankedChunk { score, chunk } = &priced.ranked;
        let best = Reverse((score.total(), chunk.relevance));
        (best, priced.id.clone(), priced.is_duplicate)
    });
    priced
}

/// Sorts the chunk that stands for all to the front.
fn best_first(mut twins: Vec<RankedChunk>) -> Vec<RankedChunk> {
    if twins.len() > 1 {
        // Twins that differ only in, say, their metadata are ordered by their JSON.
        twins.sort_by_cached_key(|twin| {
            let RankedChunk { score, chunk } = twin;
            let (score, levels) = (score.total(), chunk.levels.len());
            let best = Reverse((chunk.priority, score, chunk.relevance, levels));
            (best, serde_json::to_string(chunk).unwrap_or_default())
        });
        let relevance = twins.iter().map(|twin| twin.chunk.relevance).max();
        if let (Some(first), Some(relevance)) = (twins.first_mut(), relevance) {
            first.chunk.relevance = relevance;
        }
    }
    twins
}

/// Counts all pieces, those of one chunk after each other.
fn count(priced: &mut [Priced], counter: &Memo<'_>) {
    let pieces = priced.iter().flat_map(|priced| &priced.pieces);
    let texts: Vec<&str> = pieces.map(|piece| piece.text.as_str()).collect();
    // One call for all: a counter may count lines once that the levels of a file share.
    let counts = counter.counter.count_all(&texts);
    let pieces = priced.iter_mut().flat_map(|priced| &mut priced.pieces);
    for (piece, tokens) in pieces.zip(counts) {
        piece.tokens = tokens;
    }
}

/// Renders the levels as pieces, not counted yet.
fn pieces(ranked: &RankedChunk, form: OutputForm) -> Vec<Piece> {
    let chunk = &ranked.chunk;
    // An empty critical chunk is still shown: that it is empty may be the point.
    let is_critical = chunk.priority == ContextPriority::Critical;
    let is_shown = |level: &&Level| is_critical || !level.content.trim().is_empty();
    // With its coverage at most eight billion, so that the sums of the fit have room for any number
    // of chunks.
    let worth = u64::from(chunk.relevance.ppm()) * chunk.priority.weight();
    let piece = |level: &Level| Piece {
        detail: level.level,
        lines: level.lines.clone(),
        tokens: Tokens::ZERO,
        text: render_piece(chunk, level, form),
        worth: worth * u64::from(level.coverage.permille()),
    };
    chunk.levels.iter().filter(is_shown).map(piece).collect()
}

/// The selection before the history. Chunks for a selection that stands are appended instead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Selection {
    Fresh,
    Stands,
}

impl Priced {
    pub(super) fn is_critical(&self) -> bool {
        self.ranked.chunk.priority == ContextPriority::Critical
    }

    pub(super) fn is_remembered(&self) -> bool {
        self.ranked.chunk.trust == Trust::Remembered
    }

    pub(super) fn is_below(&self, floor: Relevance) -> bool {
        self.ranked.chunk.relevance < floor && !self.is_critical()
    }

    /// Tells whether it may be chosen at all.
    pub(super) fn is_eligible(&self, floor: Relevance) -> bool {
        !self.pieces.is_empty() && !self.is_below(floor)
    }

    pub(super) fn band(&self) -> ChunkBand {
        self.ranked.chunk.band
    }

    /// Returns the message before which it stands, in a history of `history` messages.
    pub(super) const fn before(&self, history: usize, selection: Selection) -> Option<usize> {
        match (self.ranked.chunk.band, selection) {
            (ChunkBand::Appended, _) | (ChunkBand::Session, Selection::Stands) => Some(history),
            (ChunkBand::History, _) => Some(0),
            (ChunkBand::Session, Selection::Fresh) | (ChunkBand::Volatile, _) => None,
        }
    }

    /// Returns the piece at `index` as the prompt keeps it.
    pub(super) fn keep(&self, index: usize, before: Option<usize>) -> Option<Kept> {
        let piece = self.pieces.get(index)?;
        let chunk = &self.ranked.chunk;
        Some(Kept {
            id: self.id.clone(),
            source: chunk.source.clone(),
            chunk_type: chunk.chunk_type.clone(),
            priority: chunk.priority,
            visibility: chunk.visibility,
            band: chunk.band,
            detail: piece.detail,
            lines: piece.lines.clone(),
            text: piece.text.clone(),
            tokens: piece.tokens,
            before,
            is_remembered: self.is_remembered(),
        })
    }
}

/// The worth that a chunk already adds because the prompt shows it.
#[derive(Clone, Copy, Default)]
pub(super) struct Base {
    /// The piece that stands there.
    pub(super) shown: Option<usize>,
    pub(super) worth: u64,
    /// Set if the only text that stands there is an earlier one of the chunk.
    pub(super) is_outdated: bool,
}

/// The treatment of remembered chunks, which cost a heading besides their own tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Remembered {
    /// The heading is paid for.
    MayCome,
    /// There is no room for the heading.
    StayOut,
}

/// Chooses a level, or none, of each chunk within `room`. A chunk that the prompt shows counts only
/// with the worth it would add. `only` limits the choice to one band, and sets the least that a
/// token must bring there.
pub(super) fn choose(
    priced: &[Priced],
    bases: &[Base],
    only: Option<(ChunkBand, Price)>,
    remembered: Remembered,
    room: Tokens,
    settings: &AssemblySettings,
) -> Result<Fitted, AssembleError> {
    let candidate = |(priced, base): (&Priced, &Base)| {
        let is_elsewhere = only.is_some_and(|(band, _)| band != priced.band());
        // An outdated text would mislead the model, so its present version must follow.
        let must = base.is_outdated || (priced.is_critical() && base.shown.is_none());
        let stays_out = remembered == Remembered::StayOut && priced.is_remembered();
        if is_elsewhere || stays_out || priced.is_duplicate {
            Candidate::optional([])
        } else if must {
            Candidate::critical(offers(priced, base, None))
        } else if priced.is_eligible(settings.floor) {
            Candidate::optional(offers(priced, base, only.map(|(_, price)| price)))
        } else {
            Candidate::optional([])
        }
    };
    let candidates: Vec<Candidate> = priced.iter().zip(bases).map(candidate).collect();
    let choose = |candidates: &[Candidate]| match settings.strategy {
        FitStrategy::Optimal => fit::fit(candidates, room),
        FitStrategy::Greedy => {
            // The candidates are sorted by score already.
            let order: Vec<usize> = (0..candidates.len()).collect();
            fit::fit_greedy(candidates, &order, room)
        }
    };
    let mut fitted = match &settings.balance {
        Some(balance) => balance.fit(priced, candidates.clone(), choose),
        None => choose(&candidates),
    }
    .map_err(|error| explain(error, priced))?;
    mention_the_rest(priced, bases, &candidates, &mut fitted);
    Ok(fitted)
}

fn offers(priced: &Priced, base: &Base, price: Option<Price>) -> Vec<Offer> {
    let offer = |piece: &Piece| {
        let due = price.map_or(0, |price| price.worth_for(piece.tokens));
        let surplus = piece.worth.saturating_sub(base.worth).saturating_sub(due);
        // What brings nothing more than what stands there is out of reach, also for a strategy
        // that does not look at worth.
        let is_idle = surplus == 0 && base.shown.is_some();
        let cost = if is_idle { u32::MAX } else { piece.tokens.0 };
        Offer::new(cost, surplus)
    };
    priced.pieces.iter().map(offer).collect()
}

/// Spends the rest on handles, the best chunks first, so that relevant chunks leave a trace.
fn mention_the_rest(
    priced: &[Priced],
    bases: &[Base],
    candidates: &[Candidate],
    fitted: &mut Fitted,
) {
    let chunks = priced.iter().zip(bases).zip(candidates);
    for (((priced, base), candidate), choice) in chunks.zip(&mut fitted.choices) {
        if choice.is_some() || base.shown.is_some() || candidate.offers.is_empty() {
            continue;
        }
        let mut pieces = priced.pieces.iter().enumerate();
        let is_handle = |(_, piece): &(usize, &Piece)| {
            piece.detail == Detail::Handle && piece.tokens <= fitted.unused
        };
        if let Some((index, piece)) = pieces.find(is_handle) {
            *choice = Some(index);
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
