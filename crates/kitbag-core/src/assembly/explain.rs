//! Writes the ledger of a decided turn.

use alloc::collections::BTreeMap;

use super::ledger::{BandUse, EpochReport, FitReport, Ledger, LedgerEntry, Reason};
use super::select::{Base, Piece, Priced};
use super::turn::{Choice, Turn};
use crate::band::Band;
use crate::chunk::Detail;
use crate::fit::{Offer, ratio_ppm};
use crate::tokens::Tokens;

pub(super) fn ledger(
    turn: &Turn<'_>,
    choice: &Choice,
    epoch: EpochReport,
    bands: &[(Band, Tokens)],
    chunks_out: usize,
) -> Ledger {
    // Of a chunk that was appended again in more detail, the latest counts.
    let standing: BTreeMap<_, _> = choice
        .standing
        .iter()
        .map(|kept| (&kept.id, kept))
        .collect();
    let chunks = turn
        .priced
        .iter()
        .zip(&choice.bases)
        .zip(&choice.fitted.choices);
    let entries = chunks.map(|((priced, base), &level)| {
        let shown = level.and_then(|level| priced.pieces.get(level));
        let standing = standing.get(&priced.id).filter(|_| base.is_shown);
        let tokens = shown
            .map(|piece| piece.tokens)
            .or(standing.map(|kept| kept.tokens))
            .or(priced.pieces.first().map(|piece| piece.tokens));
        let chunk = &priced.ranked.chunk;
        LedgerEntry {
            id: priced.id.clone(),
            source: chunk.source.clone(),
            chunk_type: chunk.chunk_type.clone(),
            priority: chunk.priority,
            relevance: chunk.relevance,
            score: priced.ranked.score.clone(),
            level: shown
                .map(|piece| piece.detail)
                .or(standing.map(|kept| kept.detail)),
            worth: shown.map_or(base.worth, |piece| piece.worth),
            tokens: tokens.unwrap_or_default(),
            reason: reason(turn, choice, priced, *base, shown, epoch.renewed.is_none()),
        }
    });
    let used = bands.iter().filter(|(_, tokens)| *tokens > Tokens::ZERO);
    let fitted = &choice.fitted;
    let worth = choice.worth(turn.priced);
    // What was appended may bring more than the limit of a selection made anew allows.
    let bound = choice.market.bound.max(worth);
    Ledger {
        entries: entries.collect(),
        bands: used
            .map(|&(band, tokens)| BandUse { band, tokens })
            .collect(),
        fit: FitReport {
            budget: turn.settings.budget,
            fixed: choice.fixed,
            chunks_in: turn.priced.len(),
            chunks_out,
            used: fitted.used.saturating_add(choice.standing_tokens()),
            worth,
            bound,
            ratio_ppm: ratio_ppm(worth, bound),
            price: choice.market.price,
        },
        epoch,
    }
}

fn reason(
    turn: &Turn<'_>,
    choice: &Choice,
    priced: &Priced,
    base: Base,
    shown: Option<&Piece>,
    beside_standing: bool,
) -> Reason {
    let floor = turn.settings.floor;
    match shown {
        Some(_) if priced.is_critical() => Reason::Critical,
        Some(piece) if piece.detail == Detail::Handle => Reason::Mentioned,
        Some(_) if beside_standing && priced.band() == Band::Session => Reason::Appended,
        Some(_) => Reason::Chosen,
        None if base.is_shown => Reason::Kept,
        None if priced.is_below(floor) => Reason::BelowFloor { floor },
        None if !priced.pieces.is_empty() => {
            let offers = priced
                .pieces
                .iter()
                .map(|piece| Offer::new(piece.tokens.0, piece.worth));
            let more = offers
                .filter_map(|offer| choice.fitted.shortfall(&offer))
                .min();
            Reason::NoRoom { more }
        }
        None if priced.ranked.chunk.content().trim().is_empty() => Reason::Empty,
        None => Reason::Duplicate,
    }
}
