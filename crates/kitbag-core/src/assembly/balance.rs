//! Keeps one source from taking a prompt, and small parts from filling it.
//!
//! The fit knows worths and costs only: by those, a single file may be worth the whole budget, and
//! thirty scraps may be worth more than three functions. A reader is served by neither. What must be
//! in is exempt, and so are chunks that are no files. Room that stays free for want of anything better
//! stays free.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::select::{Piece, Priced};
use crate::chunk::{ChunkType, Detail};
use crate::fit::{Candidate, FitError, Fitted};
use crate::tokens::Tokens;

/// The most that a file, and that small parts of files, take of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Balance {
    /// The most tokens of one file.
    pub file: Tokens,
    /// The most tokens of all fragments together.
    pub fragments: Tokens,
    /// A part or an outline of a file with fewer bytes is a fragment.
    pub fragment_bytes: usize,
}

impl Balance {
    /// A balance of these limits, where fragments have less than 1,500 bytes.
    #[must_use]
    pub const fn new(file: Tokens, fragments: Tokens) -> Self {
        Self {
            file,
            fragments,
            fragment_bytes: 1_500,
        }
    }

    /// Fits within the limits. Of the fragments that a first choice takes, those stay that are worth most
    /// for their size, and the others make room for a second choice without them. By worth alone, a few
    /// large parts of unlikely files would push out the short function of the likeliest one.
    pub(super) fn fit(
        &self,
        priced: &[Priced],
        mut candidates: Vec<Candidate>,
        fit: impl Fn(&[Candidate]) -> Result<Fitted, FitError>,
    ) -> Result<Fitted, FitError> {
        self.forbid(priced, &mut candidates, |_, piece| piece.tokens > self.file);
        let fitted = fit(&candidates)?;
        let mut fragments: Vec<(usize, &Piece)> = Vec::new();
        let mut room = self.room_for_fragments(&fitted);
        for (index, (priced, choice)) in priced.iter().zip(&fitted.choices).enumerate() {
            let piece = choice.and_then(|choice| priced.pieces.get(choice));
            let piece = piece.filter(|piece| is_file(priced) && self.is_fragment(piece));
            match piece {
                // It stays, and leaves less for the others.
                Some(piece) if priced.is_critical() => room = room.saturating_sub(piece.tokens),
                Some(piece) => fragments.push((index, piece)),
                None => {}
            }
        }
        let all: Tokens = fragments.iter().map(|(_, piece)| piece.tokens).sum();
        if all <= room {
            return Ok(fitted);
        }
        fragments.sort_by_key(|&(index, piece)| (Reverse(worth_of_a_token(piece)), index));
        let mut stay = BTreeSet::new();
        for (index, piece) in fragments {
            if piece.tokens <= room {
                room = room.saturating_sub(piece.tokens);
                stay.insert((index, piece.tokens));
            }
        }
        self.forbid(priced, &mut candidates, |index, piece| {
            self.is_fragment(piece) && !stay.contains(&(index, piece.tokens))
        });
        fit(&candidates)
    }

    /// The limit is a share of the budget; of a prompt that leaves some of it free it is the same share. A
    /// function or two may be shown in any case.
    fn room_for_fragments(&self, fitted: &Fitted) -> Tokens {
        let all = u64::from(fitted.used.saturating_add(fitted.unused).0);
        let share = u64::from(self.fragments.0) * u64::from(fitted.used.0);
        let share = share.checked_div(all).unwrap_or_default();
        let share = Tokens(u32::try_from(share).unwrap_or(u32::MAX));
        share.max(LEAST_FRAGMENTS).min(self.fragments)
    }

    fn is_fragment(&self, piece: &Piece) -> bool {
        let is_part = matches!(piece.detail, Detail::Slice | Detail::Outline);
        is_part && piece.text.len() < self.fragment_bytes
    }

    /// Puts the offers out of reach whose pieces are forbidden.
    fn forbid(
        &self,
        priced: &[Priced],
        candidates: &mut [Candidate],
        is_forbidden: impl Fn(usize, &Piece) -> bool,
    ) {
        for (index, (priced, candidate)) in priced.iter().zip(candidates).enumerate() {
            if !limits(priced) {
                continue;
            }
            for (piece, offer) in priced.pieces.iter().zip(&mut candidate.offers) {
                if is_forbidden(index, piece) {
                    offer.cost = Tokens(u32::MAX);
                }
            }
        }
    }
}

/// Fragments up to this many tokens are no noise, even in a small prompt.
const LEAST_FRAGMENTS: Tokens = Tokens(400);

/// The worth of each token of a piece, in units so small that a division loses nothing that counts.
fn worth_of_a_token(piece: &Piece) -> u128 {
    (u128::from(piece.worth) << 32) / u128::from(piece.tokens.0.max(1))
}

/// Tells files that the limits hold for from other chunks and from what must be in.
fn limits(priced: &Priced) -> bool {
    is_file(priced) && !priced.is_critical()
}

fn is_file(priced: &Priced) -> bool {
    priced.ranked.chunk.chunk_type == ChunkType::File
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::chunk::{ChunkId, ContextChunk, ContextPriority};
    use crate::fit;
    use crate::rank::RankedChunk;

    /// A file with pieces of this many bytes, a token for each four, and of this worth.
    fn file(path: &str, priority: ContextPriority, pieces: &[(Detail, u32, u64)]) -> Priced {
        let chunk = ContextChunk::new(ChunkType::File, path, "").with_priority(priority);
        let piece = |&(detail, bytes, worth): &(Detail, u32, u64)| Piece {
            detail,
            lines: Vec::new(),
            text: "x".repeat(bytes as usize),
            tokens: Tokens(bytes / 4),
            worth,
        };
        Priced {
            id: ChunkId::new(&ChunkType::File, path),
            ranked: RankedChunk::from(chunk),
            pieces: pieces.iter().map(piece).collect(),
            is_duplicate: false,
        }
    }

    /// For each file the tokens that are chosen of it, of 1,000.
    fn chosen(balance: &Balance, priced: &[Priced]) -> Vec<Option<u32>> {
        let candidates = priced.iter().map(|priced| {
            let pieces = priced.pieces.iter();
            let offers: Vec<_> = pieces
                .map(|piece| fit::Offer::new(piece.tokens.0, piece.worth))
                .collect();
            match priced.is_critical() {
                true => Candidate::critical(offers),
                false => Candidate::optional(offers),
            }
        });
        let fit = |candidates: &[Candidate]| fit::fit(candidates, Tokens(1_000));
        let fitted = balance.fit(priced, candidates.collect(), fit).unwrap();
        let pairs = priced.iter().zip(fitted.choices);
        pairs
            .map(|(priced, choice)| Some(priced.pieces.get(choice?)?.tokens.0))
            .collect()
    }

    const NO_LIMIT: Tokens = Tokens(10_000);

    #[test]
    fn a_short_fragment_stays_before_a_long_one_that_is_worth_little_more() {
        let usual = ContextPriority::Medium;
        let file = |bytes, worth| file("a", usual, &[(Detail::Slice, bytes, worth)]);
        let priced = [file(1_200, 50), file(400, 40), file(400, 30)];
        let some = chosen(&Balance::new(NO_LIMIT, Tokens(350)), &priced);
        assert_eq!(some, [None, Some(100), Some(100)]);
    }

    #[test]
    fn of_too_many_fragments_the_worthiest_stay() {
        let usual = ContextPriority::Medium;
        let priced: Vec<Priced> = [10, 60, 20, 50, 30, 40]
            .iter()
            .map(|&worth| file("a", usual, &[(Detail::Slice, 200, worth)]))
            .collect();
        let all = chosen(&Balance::new(NO_LIMIT, NO_LIMIT), &priced);
        assert_eq!(all, vec![Some(50); 6]);
        let some = chosen(&Balance::new(NO_LIMIT, Tokens(110)), &priced);
        assert_eq!(some, [None, Some(50), None, Some(50), None, None]);
    }

    #[test]
    fn fragments_that_must_be_in_leave_less_for_others() {
        let part = [(Detail::Slice, 200, 50)];
        let priced = [
            file("a", ContextPriority::Critical, &part),
            file("b", ContextPriority::Medium, &part),
            file("c", ContextPriority::Medium, &part),
        ];
        let some = chosen(&Balance::new(NO_LIMIT, Tokens(110)), &priced);
        assert_eq!(some, [Some(50), Some(50), None]);
    }

    #[test]
    fn of_a_prompt_with_room_to_spare_fragments_take_the_same_share() {
        let usual = ContextPriority::Medium;
        let priced: Vec<Priced> = (0..14)
            .map(|_| file("a", usual, &[(Detail::Slice, 200, 50)]))
            .collect();
        let some = chosen(&Balance::new(NO_LIMIT, Tokens(650)), &priced);
        // 700 tokens of 1,000 would be taken, and 65 % of these are 455.
        assert_eq!(some.iter().flatten().count(), 9);
    }

    #[test]
    fn what_fragments_leave_is_spent_on_larger_parts() {
        let usual = ContextPriority::Medium;
        let parts = [(Detail::Slice, 3_000, 30), (Detail::Slice, 200, 20)];
        let priced = [file("a", usual, &parts), file("b", usual, &parts[1..])];
        assert_eq!(
            chosen(&Balance::new(NO_LIMIT, Tokens(0)), &priced),
            [Some(750), None]
        );
    }

    #[test]
    fn one_file_takes_its_share_at_most_unless_it_must_be_in() {
        let parts = [(Detail::Full, 3_600, 90), (Detail::Slice, 2_000, 60)];
        let balance = Balance::new(Tokens(600), NO_LIMIT);
        let usual = [file("a", ContextPriority::Medium, &parts)];
        assert_eq!(chosen(&balance, &usual), [Some(500)]);
        let pinned = [file("a", ContextPriority::Critical, &parts)];
        assert_eq!(chosen(&balance, &pinned), [Some(900)]);
    }
}
