//! Finds by packing again what would show a file, or more of it.

use std::collections::BTreeMap;

use kitbag_core::chunk::Detail;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_workspace::survey::Candidate;

use super::super::{Pack, PackRequest, Prepared, budget_to_look_at, pack, prepare};

/// The largest budget that is tried.
pub const LARGEST: u32 = 2_000_000;

/// The number of its names to try.
const MOST_NAMES: usize = 2;

/// The most sources to name that would make room.
const MOST_SOURCES: usize = 5;

/// Packs for the same request, with one thing changed.
pub(super) struct Trials<'a> {
    pub(super) path: &'a str,
    pub(super) request: &'a PackRequest,
    pub(super) counter: &'a (dyn TokenCounter + Sync),
}

impl Trials<'_> {
    /// The level that the file has when it is pinned, and the sources that leave or shrink for it,
    /// the largest loss first. Nothing where it does not fit.
    pub(super) fn pinned(&self, prepared: &Prepared, pack: &Pack) -> Option<(Detail, Vec<String>)> {
        let mut options = self.request.options.clone();
        options.pins.push(self.path.to_owned());
        let other = prepared.pack(&options, self.counter).ok()?;
        let level = self.level_in(&other)?;
        let kept = other.assembly.kept.iter();
        let with: BTreeMap<&str, Tokens> = kept
            .map(|kept| (kept.source.as_str(), kept.tokens))
            .collect();
        let kept = pack.assembly.kept.iter();
        let mut lost: Vec<(u32, &str)> = kept
            .filter_map(|kept| {
                let now = with.get(kept.source.as_str()).copied();
                let now = now.unwrap_or(Tokens::ZERO);
                let less = kept.tokens.0.checked_sub(now.0).filter(|&less| less > 0)?;
                Some((less, kept.source.as_str()))
            })
            .collect();
        lost.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let lost = lost.into_iter().take(MOST_SOURCES);
        Some((level, lost.map(|(_, source)| source.to_owned()).collect()))
    }

    /// The smallest budget that shows a file which was passed over: more files are looked at with
    /// more.
    pub(super) async fn wider_budget(&self, place: usize) -> Option<(Tokens, Detail)> {
        let least = budget_to_look_at(place)?.max(self.request.options.budget);
        let wider = self.request.clone().with_budget(least);
        let prepared = prepare(&wider.survey).await.ok()?;
        let trials = Trials {
            request: &wider,
            ..*self
        };
        let (found, level) = trials.budget(&prepared, Detail::Line)?;
        Some((found.max(least), level))
    }

    /// The smallest budget that shows the file, to a hundredth: at all, or whole.
    pub(super) fn budget(&self, prepared: &Prepared, wanted: Detail) -> Option<(Tokens, Detail)> {
        let level = |budget: u32| {
            let options = self.request.options.with_budget(Tokens(budget));
            let pack = prepared.pack(&options, self.counter).ok();
            let level = pack.and_then(|pack| self.level_in(&pack));
            level.filter(|level| wanted != Detail::Full || *level == Detail::Full)
        };
        let is_shown = |budget: u32| level(budget).is_some();
        let asked = self.request.options.budget.0;
        let mut high = asked.max(1);
        while !is_shown(high) {
            if high >= LARGEST {
                return None;
            }
            high = high.saturating_mul(2).min(LARGEST);
        }
        let mut low = asked;
        while high - low > (high / 100).max(1) {
            let middle = low + (high - low) / 2;
            if is_shown(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some((Tokens(high), level(high)?))
    }

    /// Names of the file that bring it in when the task has them too: those that it defines, and its
    /// own. A trial that fails brings nothing in.
    pub(super) async fn words(&self, candidate: Option<&Candidate>) -> Vec<String> {
        let definitions =
            candidate.map_or(&[][..], |candidate| &candidate.parsed.syntax.definitions);
        let mut names: Vec<String> = definitions
            .iter()
            .map(|definition| definition.name.clone())
            .filter(|name| name.len() >= 6)
            .collect();
        names.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        names.dedup();
        names.truncate(MOST_NAMES);
        names.push(self.path.to_owned());
        let mut found = Vec::new();
        for name in names {
            let mut other = self.request.clone();
            other.survey.task = format!("{}\n{name}", other.survey.task);
            let pack = pack(&other, self.counter).await;
            if pack.is_ok_and(|pack| self.level_in(&pack).is_some()) {
                found.push(name);
            }
        }
        found
    }

    fn level_in(&self, pack: &Pack) -> Option<Detail> {
        let mut kept = pack.assembly.kept.iter();
        let kept = kept.find(|kept| kept.source == self.path)?;
        Some(kept.detail)
    }
}
