//! Decides one turn: keeps the previous selection or makes a fresh one, then lays it out.

mod choose;

use alloc::vec::Vec;
use core::cell::OnceCell;

use super::draft::Draft;
use super::epoch::{self, Continuation, Epoch};
use super::error::AssembleError;
use super::form::{LaidOut, PlacedChunks, lay_out};
use super::kept::Kept;
use super::ledger::{EpochReport, Renewal};
use super::memo::Memo;
use super::segment::Segment;
use super::select::{Base, Priced, Remembered, Selection};
use super::settings::AssemblySettings;
use super::{Assembly, breakpoint, explain};
use crate::band::Band;
use crate::fit::Fitted;
use crate::tokens::Tokens;

/// One turn while it is decided.
pub(super) struct Turn<'a> {
    pub(super) draft: &'a Draft,
    pub(super) settings: &'a AssemblySettings,
    pub(super) counter: &'a Memo<'a>,
    pub(super) priced: &'a [Priced],
    /// The tokens of the conversation so far, once they were asked for.
    pub(super) history_tokens: OnceCell<Tokens>,
}

/// The outcome of choosing.
pub(super) struct Choice {
    /// The chunks that already stand in the prompt.
    pub(super) standing: Vec<Kept>,
    /// The worth that each chunk adds by standing there.
    pub(super) bases: Vec<Base>,
    /// The piece of each chunk that is chosen in this turn.
    pub(super) choices: Vec<Option<usize>>,
    /// The tokens of the pieces that are chosen in this turn.
    pub(super) used: Tokens,
    /// The best selection when nothing stands: it sets the prices.
    pub(super) market: Fitted,
    /// The tokens of everything but the chunks.
    pub(super) fixed: Tokens,
    /// The treatment that remembered chunks got.
    pub(super) remembered: Remembered,
}

impl Choice {
    /// Returns the worth of all chunks in the prompt.
    pub(super) fn worth(&self, priced: &[Priced]) -> u64 {
        let chunks = priced.iter().zip(&self.bases).zip(&self.choices);
        let worth = chunks.map(|((priced, base), choice)| {
            let shown = choice.and_then(|level| priced.pieces.get(level));
            shown.map_or(base.worth, |piece| piece.worth.max(base.worth))
        });
        worth.sum()
    }

    /// Returns the tokens of all chunks in the prompt.
    pub(super) fn chunk_tokens(&self) -> Tokens {
        tokens_of(&self.standing).saturating_add(self.used)
    }
}

impl Turn<'_> {
    /// Keeps the previous selection, or makes a fresh one.
    pub(super) fn decide(
        &self,
        previous: Option<&Epoch>,
    ) -> Result<(Choice, EpochReport), AssembleError> {
        let fresh = self.choose_fresh(previous)?;
        let mut report = EpochReport {
            renewed: None,
            regret: 0,
            regret_sum: 0,
            limit: 0,
            best_worth: fresh.market.worth,
        };
        let kept = match previous {
            Some(epoch) => self.keep(epoch, &fresh.market, &mut report),
            None => Err(Renewal::First),
        };
        let choice = kept.unwrap_or_else(|renewal| {
            report.renewed = Some(renewal);
            fresh
        });
        Ok((choice, report))
    }

    /// Keeps the selection of an epoch, as long as that pays.
    fn keep(
        &self,
        epoch: &Epoch,
        market: &Fitted,
        report: &mut EpochReport,
    ) -> Result<Choice, Renewal> {
        let history = epoch.continues(self.draft, self.settings, self.counter)?;
        if history == Continuation::Appended
            && let Some(frozen) = self.freeze(epoch, market)
        {
            // Another inference of the same turn adds no regret.
            report.regret_sum = epoch.regret;
            return Ok(frozen);
        }
        let kept = self.choose_additions(epoch, history, market);
        let kept = kept.ok_or(Renewal::NoRoom)?;
        report.regret = self.regret(&kept, market);
        report.regret_sum = epoch.regret.saturating_add(report.regret);
        // A renewed selection changes the bytes of everything behind it.
        let (behind, renewal) = match history {
            Continuation::Appended => (self.history_tokens(), Renewal::Regret),
            // A history that moved is written to the cache again in any case.
            Continuation::Moved => (Tokens::ZERO, Renewal::HistoryChanged),
        };
        let rewritten = tokens_of(&kept.standing).saturating_add(behind);
        let cache = &self.settings.traits.cache;
        report.limit = epoch::limit(rewritten, cache, self.settings.patience_permille);
        if report.regret_sum > report.limit {
            // The epoch that begins now has no regret yet.
            report.regret_sum = 0;
            return Err(renewal);
        }
        Ok(kept)
    }

    /// Lays out the choice.
    pub(super) fn finish(
        &self,
        choice: &Choice,
        report: EpochReport,
        previous: Option<&Epoch>,
    ) -> Result<Assembly, AssembleError> {
        // When a selection stands, further chunks for the session are appended and stay.
        let selection = match report.renewed {
            Some(_) => Selection::Fresh,
            None => Selection::Stands,
        };
        let mut kept = choice.standing.clone();
        for (priced, level) in self.priced.iter().zip(&choice.choices) {
            let before = priced.before(self.draft.history.len(), selection);
            kept.extend(level.and_then(|level| priced.keep(level, before)));
        }
        let laid = self.lay_out(&PlacedChunks::new(&kept));
        let (segments, body) = (laid.segments, laid.body);
        let bands = self.bands(&segments);
        let breakpoints = breakpoint::place(&bands, self.settings, self.draft);
        let regret = report.regret_sum;
        let epoch = Epoch::new(kept.clone(), regret, self, &segments, &breakpoints);
        let reuse = previous.map(|previous| previous.reuse(&epoch));
        let estimated = segments.iter().map(|segment| Tokens(segment.overhead));
        let counter = self.counter.counter;
        Ok(Assembly {
            form: self.settings.form,
            tokens: self.count_whole(&body, self.counter.count_segments(&segments))?,
            estimated: estimated.sum(),
            ledger: explain::ledger(self, choice, report, &bands, laid.problems),
            body,
            blocks: laid.blocks,
            tokenizer: counter.name().into(),
            exactness: counter.exactness(),
            segments,
            kept,
            breakpoints,
            epoch,
            reuse,
        })
    }

    fn lay_out(&self, placed: &PlacedChunks<'_>) -> LaidOut {
        let settings = self.settings;
        lay_out(settings.form, self.draft, placed, &settings.traits)
    }

    /// Counts a layout before chunks are put into it. A session message that begins with white
    /// space or a slash may merge with whichever chunk stands before it, for a token or two.
    fn fixed(&self, segments: &[Segment]) -> Tokens {
        let merges = |text: &str| text.starts_with(|c: char| c.is_whitespace() || c == '/');
        let session = self.draft.injected(Band::Session);
        let merging = session.filter(|message| merges(&message.content)).count();
        let slack = Tokens(u32::try_from(2 * merging).unwrap_or(u32::MAX));
        self.counter.count_segments(segments).saturating_add(slack)
    }

    /// Returns the tokens of the conversation so far, without chunks that were appended to it.
    pub(super) fn history_tokens(&self) -> Tokens {
        let laid = || self.said(&self.lay_out(&PlacedChunks::new(&[])).segments);
        *self.history_tokens.get_or_init(laid)
    }

    /// Counts the past messages of a layout that has no appended chunks.
    fn said(&self, segments: &[Segment]) -> Tokens {
        let said = |segment: &&Segment| matches!(segment.band, Band::Conversation | Band::History);
        let counts = segments.iter().filter(said);
        counts
            .map(|segment| self.counter.count_segment(segment))
            .sum()
    }

    /// Counts the finished text once more. The texts of a request stay separate, so their sum is
    /// its count.
    fn count_whole(&self, body: &str, parts: Tokens) -> Result<Tokens, AssembleError> {
        let whole = if self.settings.form.is_text() {
            self.counter.counter.count(body)
        } else {
            parts
        };
        if whole > self.settings.budget {
            return Err(AssembleError::CountsDoNotAddUp {
                tokenizer: self.counter.counter.name().into(),
                whole,
                parts,
                budget: self.settings.budget,
            });
        }
        Ok(whole)
    }

    fn bands(&self, segments: &[Segment]) -> Vec<(Band, Tokens)> {
        let tokens = |band: Band| {
            let of_band = segments.iter().filter(|segment| segment.band == band);
            let counts = of_band.map(|segment| self.counter.count_segment(segment));
            (band, counts.sum())
        };
        Band::ALL.into_iter().map(tokens).collect()
    }

    fn fixed_over_budget(&self, fixed: Tokens, segments: &[Segment]) -> AssembleError {
        let bands = self.bands(segments);
        let largest = bands.into_iter().max_by_key(|&(_, tokens)| tokens);
        // `Band::ALL` is never empty, so there is a largest band.
        let (largest, largest_tokens) = largest.unwrap_or((Band::Current, fixed));
        AssembleError::FixedOverBudget {
            fixed,
            budget: self.settings.budget,
            largest,
            largest_tokens,
        }
    }
}

fn tokens_of(kept: &[Kept]) -> Tokens {
    kept.iter().map(|kept| kept.tokens).sum()
}
