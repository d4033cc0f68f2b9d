//! Decides one turn: keep the previous selection or make one anew, then lay it out.

mod choose;

use alloc::vec::Vec;
use core::cell::OnceCell;

use super::draft::Draft;
use super::epoch::{self, Continuation, Epoch};
use super::error::AssembleError;
use super::form::{Laid, Placed, lay_out};
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

/// What was chosen.
pub(super) struct Choice {
    /// What stands in the prompt already.
    pub(super) standing: Vec<Kept>,
    /// What each chunk brings by standing there.
    pub(super) bases: Vec<Base>,
    /// The piece of each chunk that is chosen in this turn.
    pub(super) choices: Vec<Option<usize>>,
    /// The tokens of what is chosen in this turn.
    pub(super) used: Tokens,
    /// The best selection with nothing standing: it sets the prices.
    pub(super) market: Fitted,
    /// The tokens of everything but the chunks.
    pub(super) fixed: Tokens,
    /// Whether remembered chunks could be chosen.
    pub(super) remembered: Remembered,
}

impl Choice {
    /// What all of it brings.
    pub(super) fn worth(&self, priced: &[Priced]) -> u64 {
        let chunks = priced.iter().zip(&self.bases).zip(&self.choices);
        let worth = chunks.map(|((priced, base), choice)| {
            let shown = choice.and_then(|level| priced.pieces.get(level));
            shown.map_or(base.worth, |piece| piece.worth.max(base.worth))
        });
        worth.sum()
    }

    /// The tokens of all chunks in the prompt.
    pub(super) fn chunk_tokens(&self) -> Tokens {
        tokens_of(&self.standing).saturating_add(self.used)
    }
}

impl Turn<'_> {
    /// Keeps the previous selection, or makes one anew.
    pub(super) fn decide(
        &self,
        previous: Option<&Epoch>,
    ) -> Result<(Choice, EpochReport), AssembleError> {
        let anew = self.choose_anew(previous)?;
        let mut report = EpochReport {
            renewed: None,
            regret: 0,
            regret_sum: 0,
            limit: 0,
            best_worth: anew.market.worth,
        };
        let kept = match previous {
            Some(epoch) => self.keep(epoch, &anew.market, &mut report),
            None => Err(Renewal::First),
        };
        let choice = kept.unwrap_or_else(|renewal| {
            report.renewed = Some(renewal);
            anew
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
        // The nodes of a turn answer one message, and each sees something else.
        let is_another_node = self.draft.is_for_node && !self.priced.is_empty();
        if !is_another_node
            && history == Continuation::Appended
            && let Some(frozen) = self.freeze(epoch, market)
        {
            report.regret_sum = epoch.regret;
            return Ok(frozen);
        }
        let kept = self.choose_beside(epoch, history, market);
        let kept = kept.ok_or(Renewal::NoRoom)?;
        report.regret = self.regret(&kept, market);
        report.regret_sum = epoch.regret.saturating_add(report.regret);
        let (behind, renewal) = match history {
            Continuation::Appended => (self.history_tokens(), Renewal::Regret),
            // A history that moved is written to the cache again in any case.
            Continuation::Moved => (Tokens::ZERO, Renewal::HistoryChanged),
        };
        let rewritten = tokens_of(&kept.standing).saturating_add(behind);
        let cache = &self.settings.traits.cache;
        report.limit = epoch::limit(rewritten, cache, self.settings.patience_permille);
        if report.regret_sum > report.limit {
            report.regret_sum = 0;
            return Err(renewal);
        }
        Ok(kept)
    }

    /// Lays out what was chosen.
    pub(super) fn finish(
        &self,
        choice: &Choice,
        report: EpochReport,
        previous: Option<&Epoch>,
    ) -> Result<Assembly, AssembleError> {
        // Beside a selection that stands, what belongs to the session is appended and stays.
        let selection = match report.renewed {
            Some(_) => Selection::Anew,
            None => Selection::Stands,
        };
        let mut kept = choice.standing.clone();
        for (priced, level) in self.priced.iter().zip(&choice.choices) {
            let before = priced.before(self.draft.history.len(), selection);
            kept.extend(level.and_then(|level| priced.keep(level, before)));
        }
        let laid = self.lay_out(&Placed::new(&kept));
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

    fn lay_out(&self, placed: &Placed<'_>) -> Laid {
        let settings = self.settings;
        lay_out(settings.form, self.draft, placed, &settings.traits)
    }

    /// The tokens of a layout before chunks are put into it. A session message that begins with
    /// white space or a slash may merge with whichever chunk stands before it, for a token or two.
    fn fixed(&self, segments: &[Segment]) -> Tokens {
        let merges = |text: &str| text.starts_with(|c: char| c.is_whitespace() || c == '/');
        let session = self.draft.injected(Band::Session);
        let merging = session.filter(|message| merges(&message.content)).count();
        let slack = Tokens(u32::try_from(2 * merging).unwrap_or(u32::MAX));
        self.counter.count_segments(segments).saturating_add(slack)
    }

    /// The tokens of the conversation so far, without what was appended to it.
    pub(super) fn history_tokens(&self) -> Tokens {
        let laid = || self.said(&self.lay_out(&Placed::new(&[])).segments);
        *self.history_tokens.get_or_init(laid)
    }

    /// The tokens of what was said before, in a layout to which nothing is appended.
    fn said(&self, segments: &[Segment]) -> Tokens {
        let said = |segment: &&Segment| matches!(segment.band, Band::Conversation | Band::History);
        let counts = segments.iter().filter(said);
        counts
            .map(|segment| self.counter.count_segment(segment))
            .sum()
    }

    /// Counts the finished text once more; a request's texts stand apart and are counted so.
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
