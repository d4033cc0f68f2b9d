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

    /// Fits within the limits. Of the fragments that a first choice takes, the worthiest stay, and
    /// the others make room for a second choice without them.
    pub(super) fn fit(
        &self,
        priced: &[Priced],
        mut candidates: Vec<Candidate>,
        fit: impl Fn(&[Candidate]) -> Result<Fitted, FitError>,
    ) -> Result<Fitted, FitError> {
        self.forbid(priced, &mut candidates, |_, piece| piece.tokens > self.file);
        let fitted = fit(&candidates)?;
        let mut fragments: Vec<(usize, &Piece)> = Vec::new();
        for (index, (priced, choice)) in priced.iter().zip(&fitted.choices).enumerate() {
            let piece = choice.and_then(|choice| priced.pieces.get(choice));
            let piece = piece.filter(|piece| limits(priced) && self.is_fragment(piece));
            fragments.extend(piece.map(|piece| (index, piece)));
        }
        let all: Tokens = fragments.iter().map(|(_, piece)| piece.tokens).sum();
        if all <= self.fragments {
            return Ok(fitted);
        }
        fragments.sort_by_key(|&(index, piece)| (Reverse(piece.worth), index));
        let mut room = self.fragments;
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

/// Tells files that the limits hold for from other chunks and from what must be in.
fn limits(priced: &Priced) -> bool {
    priced.ranked.chunk.chunk_type == ChunkType::File && !priced.is_critical()
}
