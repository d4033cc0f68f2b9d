//! Writes the ledger of a decided turn.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::kept::Kept;
use super::ledger::{BandUse, EpochReport, FitReport, Ledger, LedgerEntry, Reason};
use super::select::{Base, Piece, Priced, Remembered};
use super::turn::{Choice, Turn};
use crate::band::Band;
use crate::chunk::{ChunkBand, ChunkId, Detail, Relevance};
use crate::fit::ratio_ppm;
use crate::problem::Problem;
use crate::rank::Score;
use crate::tokens::Tokens;

pub(super) fn ledger(
    turn: &Turn<'_>,
    choice: &Choice,
    epoch: EpochReport,
    bands: &[(Band, Tokens)],
    problems: Vec<Problem>,
) -> Ledger {
    let keeps_selection = epoch.renewed.is_none();
    let chunks = turn.priced.iter().zip(&choice.bases).zip(&choice.choices);
    let mut entries: Vec<LedgerEntry> = chunks
        .map(|((priced, base), &level)| entry(turn, choice, priced, base, level, keeps_selection))
        .collect();
    let standing = unlisted_standing(turn, choice);
    let chunks_in = entries.len();
    entries.extend(standing);

    let used = bands.iter().filter(|(_, tokens)| *tokens > Tokens::ZERO);
    let worth = choice.worth(turn.priced);
    // Appended chunks may add more than the limit of a fresh selection allows.
    let bound = choice.market.bound.max(worth);
    Ledger {
        bands: used
            .map(|&(band, tokens)| BandUse { band, tokens })
            .collect(),
        fit: FitReport {
            budget: turn.settings.budget,
            fixed: choice.fixed,
            chunks_in,
            chunks_out: entries.iter().filter(|entry| entry.level.is_some()).count(),
            used: choice.chunk_tokens(),
            worth,
            bound,
            ratio_ppm: ratio_ppm(worth, bound),
            price: choice.market.price,
        },
        entries,
        epoch,
        problems,
    }
}

fn entry(
    turn: &Turn<'_>,
    choice: &Choice,
    priced: &Priced,
    base: &Base,
    level: Option<usize>,
    keeps_selection: bool,
) -> LedgerEntry {
    let chosen = level.and_then(|level| priced.pieces.get(level));
    let standing = base.shown.and_then(|level| priced.pieces.get(level));
    let shown = chosen.or(standing);
    let chunk = &priced.ranked.chunk;
    LedgerEntry {
        id: priced.id.clone(),
        source: chunk.source.clone(),
        chunk_type: chunk.chunk_type.clone(),
        priority: chunk.priority,
        relevance: chunk.relevance,
        score: priced.ranked.score.clone(),
        level: shown.map(|piece| piece.detail),
        worth: shown.map_or(0, |piece| piece.worth),
        tokens: shown
            .or(priced.pieces.first())
            .map_or(Tokens::ZERO, |piece| piece.tokens),
        reason: match chosen {
            Some(piece) => reason_in(priced, piece, keeps_selection),
            None if standing.is_some() => Reason::Kept,
            None => reason_out(turn, choice, priced),
        },
    }
}

fn reason_in(priced: &Priced, piece: &Piece, keeps_selection: bool) -> Reason {
    if priced.is_critical() {
        Reason::Critical
    } else if piece.detail == Detail::Handle {
        Reason::Mentioned
    } else if keeps_selection && matches!(priced.band(), ChunkBand::Session | ChunkBand::Appended) {
        Reason::Appended
    } else {
        Reason::Chosen
    }
}

fn reason_out(turn: &Turn<'_>, choice: &Choice, priced: &Priced) -> Reason {
    let floor = turn.settings.floor;
    if priced.is_duplicate {
        Reason::Duplicate
    } else if priced.is_below(floor) {
        Reason::BelowFloor { floor }
    } else if priced.pieces.is_empty() {
        Reason::Empty
    } else {
        // With that much more it could be added to what is there, at its cheapest worthy level.
        let taken = choice.fixed.saturating_add(choice.chunk_tokens());
        let unused = turn.settings.budget.saturating_sub(taken);
        // While all that is remembered stays out, the first such chunk has to bring its heading,
        // too.
        let unused = match choice.remembered == Remembered::StayOut && priced.is_remembered() {
            true => unused.saturating_sub(turn.heading_tokens()),
            false => unused,
        };
        let worthy = priced.pieces.iter().filter(|piece| piece.worth > 0);
        let cheapest = worthy.min_by_key(|piece| piece.tokens);
        Reason::NoRoom {
            level: cheapest.map(|piece| piece.detail),
            more: cheapest.map(|piece| piece.tokens.saturating_sub(unused).max(Tokens(1))),
        }
    }
}

/// Returns lines for texts in the prompt that no chunk's own line covers: of chunks that are gone,
/// that have changed, or that were shown again in more detail.
fn unlisted_standing(turn: &Turn<'_>, choice: &Choice) -> Vec<LedgerEntry> {
    let mut listed: BTreeMap<&ChunkId, (&Priced, Option<&str>)> = BTreeMap::new();
    for ((priced, base), level) in turn.priced.iter().zip(&choice.bases).zip(&choice.choices) {
        if !priced.is_duplicate {
            let standing = base.shown.filter(|_| level.is_none());
            let piece = standing.and_then(|index| priced.pieces.get(index));
            listed.insert(&priced.id, (priced, piece.map(|piece| piece.text.as_str())));
        }
    }
    let is_unlisted = |kept: &&Kept| {
        let listed = listed.get(&kept.id).and_then(|(_, text)| *text);
        listed != Some(kept.text.as_str())
    };
    let line = |kept: &Kept| {
        let current = listed.get(&kept.id);
        let is_current = current
            .is_some_and(|(priced, _)| priced.pieces.iter().any(|piece| piece.text == kept.text));
        LedgerEntry {
            id: kept.id.clone(),
            source: kept.source.clone(),
            chunk_type: kept.chunk_type.clone(),
            priority: kept.priority,
            relevance: Relevance::from_ppm(0),
            score: Score::default(),
            level: Some(kept.detail),
            worth: 0,
            tokens: kept.tokens,
            reason: if current.is_some() && !is_current {
                Reason::Outdated
            } else {
                Reason::Kept
            },
        }
    };
    choice
        .standing
        .iter()
        .filter(is_unlisted)
        .map(line)
        .collect()
}
