//! Chooses the chunks of a turn: a fresh selection, or additions to one that is kept.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::{Choice, Turn, tokens_of};
use crate::assembly::Kept;
use crate::assembly::epoch::{self, Continuation, Epoch, bases};
use crate::assembly::error::AssembleError;
use crate::assembly::form::{Place, PlacedChunks, Reserved, heading};
use crate::assembly::select::{Base, Priced, Remembered, Selection, choose};
use crate::chunk::ChunkBand;
use crate::fit::Fitted;
use crate::tokens::Tokens;

impl Turn<'_> {
    /// Chooses with the heading of remembered chunks paid for, or without these chunks if the
    /// heading is not worth its tokens.
    pub(super) fn choose_fresh(&self, previous: Option<&Epoch>) -> Result<Choice, AssembleError> {
        let headings = self.headings(Selection::Fresh);
        let with = self.choose_with(previous, Remembered::MayCome, &headings);
        // A critical chunk has to be in, whatever its heading costs.
        let mut remembered = self.priced.iter().filter(|priced| priced.is_remembered());
        if headings.is_empty() || remembered.any(Priced::is_critical) {
            return with;
        }
        let floor = self.settings.floor;
        let is_all_in = |choice: &Choice| {
            let mut chunks = self.priced.iter().zip(&choice.choices);
            chunks.all(|(priced, level)| level.is_some() || !priced.is_eligible(floor))
        };
        let has_remembered = |choice: &Choice| {
            let mut chunks = self.priced.iter().zip(&choice.choices);
            chunks.any(|(priced, level)| level.is_some() && priced.is_remembered())
        };
        match with {
            Ok(with) if has_remembered(&with) && is_all_in(&with) => Ok(with),
            Ok(with) if has_remembered(&with) => {
                let without = self.choose_with(previous, Remembered::StayOut, &[]);
                let worth = |choice: &Choice| choice.worth(self.priced);
                let better = without.ok().filter(|without| worth(without) > worth(&with));
                Ok(better.unwrap_or(with))
            }
            _ => self.choose_with(previous, Remembered::StayOut, &[]),
        }
    }

    /// Returns the places of remembered chunks that may be chosen.
    fn headings(&self, selection: Selection) -> Vec<Place> {
        let remembered = self.priced.iter().filter(|priced| priced.is_remembered());
        let eligible = remembered.filter(|priced| priced.is_eligible(self.settings.floor));
        let history = self.draft.history.len();
        let place = |priced: &Priced| {
            let before = priced.before(history, selection);
            Place::new(self.settings.form, priced.band(), before, history)
        };
        let places: BTreeSet<Place> = eligible.map(place).collect();
        places.into_iter().collect()
    }

    /// Returns the tokens of a heading of remembered chunks.
    pub(in crate::assembly) fn heading_tokens(&self) -> Tokens {
        self.counter.counter.count(&heading(self.settings.form))
    }

    fn choose_with(
        &self,
        previous: Option<&Epoch>,
        remembered: Remembered,
        headings: &[Place],
    ) -> Result<Choice, AssembleError> {
        // Remembered chunks bring their frame with their heading.
        let eligible = |band: ChunkBand| {
            let mut priced = self.priced.iter().filter(|priced| !priced.is_remembered());
            priced.any(|priced| priced.band() == band && priced.is_eligible(self.settings.floor))
        };
        let reserved = Reserved {
            session: eligible(ChunkBand::Session),
            appended: eligible(ChunkBand::History) || eligible(ChunkBand::Appended),
            volatile: eligible(ChunkBand::Volatile),
        };
        let placed = PlacedChunks::reserving(&[], reserved, headings);
        let segments = self.lay_out(&placed).segments;
        // Nothing is reserved around the history here, so this layout can be counted for it, too.
        if !reserved.appended && headings.is_empty() {
            self.history_tokens.get_or_init(|| self.said(&segments));
        }
        let fixed = self.fixed(&segments);
        if fixed > self.settings.budget {
            return Err(self.fixed_over_budget(fixed, &segments));
        }
        let room = self.settings.budget.saturating_sub(fixed);
        let limit = self.settings.chunk_limit.unwrap_or(room);
        let market = self.choose_all(remembered, room.min(limit))?;
        // Room is left free for the growth of the conversation, unless critical chunks need it.
        let headroom = previous.map_or(Tokens::ZERO, |epoch| {
            epoch.headroom(self.history_tokens(), room)
        });
        let fitted = match room.saturating_sub(headroom) {
            free if free < room.min(limit) => self.choose_all(remembered, free).ok(),
            _ => None,
        };
        let fitted = fitted.as_ref().unwrap_or(&market);
        Ok(Choice {
            standing: Vec::new(),
            bases: vec![Base::default(); self.priced.len()],
            choices: fitted.choices.clone(),
            used: fitted.used,
            fixed,
            remembered,
            market,
        })
    }

    /// Returns the best selection within `room` when nothing stands.
    fn choose_all(&self, remembered: Remembered, room: Tokens) -> Result<Fitted, AssembleError> {
        let bases = vec![Base::default(); self.priced.len()];
        choose(self.priced, &bases, None, remembered, room, self.settings)
    }

    /// Keeps everything as it was in the previous inference, if this is another one of the same
    /// turn and nothing that must be in is missing.
    pub(super) fn freeze(&self, epoch: &Epoch, market: &Fitted) -> Option<Choice> {
        if !epoch.is_same_turn(self.draft) {
            return None;
        }
        let standing = epoch.kept.clone();
        let bases = bases(&standing, self.priced);
        let is_missing = |(priced, base): (&Priced, &Base)| {
            let unseen = priced.is_critical() && base.shown.is_none() && !priced.is_duplicate;
            unseen || base.is_outdated
        };
        if self.priced.iter().zip(&bases).any(is_missing) {
            return None;
        }
        let all = self.fixed(&self.lay_out(&PlacedChunks::new(&standing)).segments);
        (all <= self.settings.budget).then(|| Choice {
            fixed: all.saturating_sub(tokens_of(&standing)),
            standing,
            choices: vec![None; bases.len()],
            bases,
            used: Tokens::ZERO,
            remembered: Remembered::MayCome,
            market: market.clone(),
        })
    }

    /// Chooses additions to a selection that stands: chunks worth their tokens at the price of a
    /// fresh selection. None when there is no room for what must be in.
    pub(super) fn choose_additions(
        &self,
        epoch: &Epoch,
        history: Continuation,
        market: &Fitted,
    ) -> Option<Choice> {
        let headings = self.headings(Selection::Stands);
        let with = self.additions(epoch, history, market, Remembered::MayCome, &headings);
        with.or_else(|| self.additions(epoch, history, market, Remembered::StayOut, &[]))
    }

    fn additions(
        &self,
        epoch: &Epoch,
        history: Continuation,
        market: &Fitted,
        remembered: Remembered,
        headings: &[Place],
    ) -> Option<Choice> {
        let mut standing = epoch.lasting(history);
        // The text that replaces older messages is itself replaced when it changes: two versions
        // would tell of the same messages.
        standing.retain(|kept| kept.band != ChunkBand::History || self.still_says(kept));
        let reserved = Reserved {
            session: false,
            appended: true,
            volatile: true,
        };
        let placed = PlacedChunks::reserving(&standing, reserved, headings);
        let with_standing = self.fixed(&self.lay_out(&placed).segments);
        if with_standing > self.settings.budget {
            return None;
        }
        let mut room = self.settings.budget.saturating_sub(with_standing);
        let limit = self.settings.appended_limit(tokens_of(&standing));
        let bases = bases(&standing, self.priced);
        // A remembered text that must be in, or that has changed since it was shown.
        let must_come = |(priced, base): (&Priced, &Base)| {
            let is_missing = priced.is_critical() && base.shown.is_none();
            priced.is_remembered() && (base.is_outdated || is_missing)
        };
        let mut chunks = self.priced.iter().zip(&bases);
        if remembered == Remembered::StayOut && chunks.any(must_come) {
            return None;
        }
        let within = |band: ChunkBand, room: Tokens| {
            let only = Some((band, market.price));
            choose(self.priced, &bases, only, remembered, room, self.settings)
        };

        let earlier = within(ChunkBand::History, room).ok()?;
        room = room.saturating_sub(earlier.used);
        // Chunks for this turn alone come first. Appended ones stay, so without a limit half of the
        // room is left to later turns.
        let volatile = within(ChunkBand::Volatile, room.min(limit.unwrap_or(room)))
            .or_else(|_| within(ChunkBand::Volatile, room))
            .ok()?;
        let mut used = volatile.used;
        let mut chosen = vec![earlier, volatile];
        for band in [ChunkBand::Appended, ChunkBand::Session] {
            let left = room.saturating_sub(used);
            let some = match limit {
                Some(limit) => left.min(limit.saturating_sub(used)),
                None => Tokens(left.0 / 2),
            };
            let appended = within(band, some).or_else(|_| within(band, left)).ok()?;
            used = used.saturating_add(appended.used);
            chosen.push(appended);
        }
        let choice = |index: usize| {
            let mut choices = chosen.iter().filter_map(|one| one.choices.get(index));
            choices.find_map(|choice| *choice)
        };
        Some(Choice {
            fixed: with_standing.saturating_sub(tokens_of(&standing)),
            standing,
            choices: (0..self.priced.len()).map(choice).collect(),
            bases,
            used: chosen.iter().map(|one| one.used).sum(),
            remembered,
            market: market.clone(),
        })
    }

    /// Tells whether a chunk would be shown in the same words again.
    fn still_says(&self, kept: &Kept) -> bool {
        let same = self.priced.iter().filter(|priced| priced.id == kept.id);
        let mut pieces = same.flat_map(|priced| &priced.pieces);
        pieces.any(|piece| piece.text == kept.text)
    }

    /// Returns the cost of keeping a selection, against the best one of as many tokens.
    pub(super) fn regret(&self, kept: &Choice, market: &Fitted) -> u64 {
        let tokens = kept.chunk_tokens();
        // Appended chunks may exceed the limit that a fresh selection has: compare equal sizes.
        let equal =
            (tokens > market.used).then(|| self.choose_all(Remembered::MayCome, tokens).ok());
        let best = equal.flatten();
        epoch::regret(best.as_ref().unwrap_or(market), kept.worth(self.priced))
    }
}
