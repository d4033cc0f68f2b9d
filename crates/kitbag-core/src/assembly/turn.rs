//! Decides one turn: keep the previous selection or make one anew, then lay it out.

use alloc::vec::Vec;

use super::draft::Draft;
use super::epoch::{self, Epoch};
use super::error::AssembleError;
use super::explain;
use super::form::{OutputForm, Placed, Reserved, lay_out};
use super::kept::Kept;
use super::ledger::{EpochReport, Renewal};
use super::segment::Segment;
use super::select::{Base, Priced, choose};
use super::settings::AssemblySettings;
use super::{Assembly, Reuse, breakpoint};
use crate::band::Band;
use crate::fit::Fitted;
use crate::tokens::{TokenCounter, Tokens};

/// One turn while it is decided.
pub(super) struct Turn<'a> {
    pub(super) draft: &'a Draft,
    pub(super) settings: &'a AssemblySettings,
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) priced: &'a [Priced],
}

/// What was chosen.
pub(super) struct Choice {
    /// What stands since the epoch began.
    pub(super) standing: Vec<Kept>,
    /// What each chunk brings by standing there.
    pub(super) bases: Vec<Base>,
    /// What is chosen in this turn, beside what stands.
    pub(super) fitted: Fitted,
    /// What a selection made anew would be: it sets the prices.
    pub(super) market: Fitted,
    /// The tokens of everything but the chunks.
    pub(super) fixed: Tokens,
}

impl Choice {
    /// What all of it brings.
    pub(super) fn worth(&self, priced: &[Priced]) -> u64 {
        let chunks = priced.iter().zip(&self.bases).zip(&self.fitted.choices);
        let worth = chunks.map(|((priced, base), choice)| {
            let shown = choice.and_then(|level| priced.pieces.get(level));
            shown.map_or(base.worth, |piece| piece.worth.max(base.worth))
        });
        worth.sum()
    }

    pub(super) fn standing_tokens(&self) -> Tokens {
        self.standing.iter().map(|kept| kept.tokens).sum()
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
            renewed: Some(Renewal::First),
            regret: 0,
            regret_sum: 0,
            limit: 0,
            best_worth: anew.fitted.worth,
        };
        let Some(epoch) = previous else {
            return Ok((anew, report));
        };
        let kept = epoch
            .continues(self.draft, self.settings, self.counter)
            .and_then(|()| {
                self.choose_beside(epoch, &anew.fitted)
                    .ok_or(Renewal::NoRoom)
            });
        let kept = match kept {
            Ok(kept) => kept,
            Err(renewal) => {
                report.renewed = Some(renewal);
                return Ok((anew, report));
            }
        };
        report.regret = epoch::regret(&anew.fitted, kept.worth(self.priced));
        report.regret_sum = epoch.regret.saturating_add(report.regret);
        let rewritten = kept.standing_tokens().saturating_add(self.history_tokens());
        let cache = &self.settings.traits.cache;
        report.limit = epoch::limit(rewritten, cache, self.settings.patience_permille);
        if report.regret_sum > report.limit {
            report.renewed = Some(Renewal::Regret);
            report.regret_sum = 0;
            return Ok((anew, report));
        }
        report.renewed = None;
        Ok((kept, report))
    }

    fn choose_anew(&self, previous: Option<&Epoch>) -> Result<Choice, AssembleError> {
        let eligible = |band: Band| {
            let mut priced = self.priced.iter();
            priced.any(|priced| priced.band() == band && priced.is_eligible(self.settings.floor))
        };
        let reserved = Reserved {
            session: eligible(Band::Session),
            appended: false,
            volatile: eligible(Band::Volatile),
        };
        let segments = self.segments(&Placed::reserving(&[], reserved));
        let fixed = self.count(&segments);
        if fixed > self.settings.budget {
            return Err(self.fixed_over_budget(fixed, &segments));
        }
        let room = self.settings.budget.saturating_sub(fixed);
        let headroom = previous.map_or(Tokens::ZERO, |epoch| {
            epoch.headroom(self.history_tokens(), room)
        });
        let limit = self.settings.chunk_limit.unwrap_or(room);
        let bases = alloc::vec![Base::default(); self.priced.len()];
        let within =
            |room: Tokens| choose(self.priced, &bases, room.min(limit), None, self.settings);
        // What must be in may use the headroom as well.
        let fitted = within(room.saturating_sub(headroom)).or_else(|_| within(room))?;
        Ok(Choice {
            standing: Vec::new(),
            bases,
            market: fitted.clone(),
            fitted,
            fixed,
        })
    }

    /// Chooses what to append beside a selection that stands: what is worth its tokens at the price
    /// of a selection made anew. None when there is no room for what must be in.
    fn choose_beside(&self, epoch: &Epoch, market: &Fitted) -> Option<Choice> {
        let reserved = Reserved {
            session: false,
            appended: true,
            volatile: true,
        };
        let standing = epoch.kept.clone();
        let tokens: Tokens = standing.iter().map(|kept| kept.tokens).sum();
        let with_standing = self.count(&self.segments(&Placed::reserving(&standing, reserved)));
        if with_standing > self.settings.budget {
            return None;
        }
        let room = self.settings.budget.saturating_sub(with_standing);
        // Without a limit half of the room is left to the turns that follow.
        let limit = self
            .settings
            .limit_beside(tokens)
            .unwrap_or(Tokens(room.0 / 2));
        let bases = epoch.bases(self.priced);
        let price = Some(market.price);
        let fitted = choose(self.priced, &bases, room.min(limit), price, self.settings).ok()?;
        Some(Choice {
            standing,
            bases,
            fitted,
            market: market.clone(),
            fixed: with_standing.saturating_sub(tokens),
        })
    }

    /// Lays out what was chosen.
    pub(super) fn finish(
        &self,
        choice: &Choice,
        report: EpochReport,
        previous: Option<&Assembly>,
    ) -> Result<Assembly, AssembleError> {
        // Beside a selection that stands, what belongs to the session is appended and stays.
        let before = report.renewed.is_none().then_some(self.draft.history.len());
        let mut kept = choice.standing.clone();
        for (priced, level) in self.priced.iter().zip(&choice.fitted.choices) {
            let before = before.filter(|_| priced.band() == Band::Session);
            kept.extend(level.and_then(|level| priced.keep(level, before)));
        }
        let placed = Placed::new(&kept);
        let segments = self.segments(&placed);
        let bands = self.bands(&segments);
        let traits = &self.settings.traits;
        let markers = traits
            .cache
            .max_breakpoints
            .saturating_sub(self.draft.client_markers());
        let breakpoints = breakpoint::place(&bands, traits.cache.min_tokens, markers);
        let body = lay_out(
            self.settings.form,
            self.draft,
            &placed,
            traits,
            &breakpoints,
        )
        .body;

        let lasting = kept.iter().filter(|kept| kept.band == Band::Session);
        let epoch = Epoch::new(lasting.cloned().collect(), report.regret_sum, self);
        let mut assembly = Assembly {
            form: self.settings.form,
            tokens: self.count_whole(&body, self.count(&segments))?,
            ledger: explain::ledger(self, choice, report, &bands, kept.len()),
            body,
            tokenizer: self.counter.name().into(),
            exactness: self.counter.exactness(),
            segments,
            kept,
            breakpoints,
            epoch,
            reuse: None,
        };
        assembly.reuse =
            previous.map(|previous| Reuse::between(&previous.stream(), &assembly.stream()));
        Ok(assembly)
    }

    fn segments(&self, placed: &Placed<'_>) -> Vec<Segment> {
        let settings = self.settings;
        lay_out(settings.form, self.draft, placed, &settings.traits, &[]).segments
    }

    fn count(&self, segments: &[Segment]) -> Tokens {
        segments.iter().map(|segment| self.count_one(segment)).sum()
    }

    fn count_one(&self, segment: &Segment) -> Tokens {
        let text = self.counter.count(&segment.text);
        text.saturating_add(Tokens(segment.overhead))
    }

    /// The tokens of the conversation so far, without what was appended to it.
    pub(super) fn history_tokens(&self) -> Tokens {
        let segments = self.segments(&Placed::new(&[]));
        let said = |segment: &&Segment| matches!(segment.band, Band::Conversation | Band::History);
        segments
            .iter()
            .filter(said)
            .map(|segment| self.count_one(segment))
            .sum()
    }

    /// Counts the finished text once more; a request's texts stand apart and are counted so.
    fn count_whole(&self, body: &str, parts: Tokens) -> Result<Tokens, AssembleError> {
        let whole = match self.settings.form {
            OutputForm::Flat | OutputForm::Pack | OutputForm::Node => self.counter.count(body),
            OutputForm::Anthropic | OutputForm::OpenAi | OutputForm::Payload => parts,
        };
        if whole > self.settings.budget {
            return Err(AssembleError::CountsDoNotAddUp {
                tokenizer: self.counter.name().into(),
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
            (band, of_band.map(|segment| self.count_one(segment)).sum())
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
