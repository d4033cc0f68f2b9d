//! The reasons why a file is in a prompt or not, and what would change that.
//!
//! Answers three symptoms of one file: it is missing, it is cut, or it takes too much room. The
//! fourth, a task that was misunderstood, is a matter of the whole pack: see `inferred_from` and
//! `words` of [`Decisions`](super::Decisions).

mod trials;

use kitbag_core::chunk::Detail;
use kitbag_core::rank::ScorePart;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_workspace::walk::{NAMED_SIZE_LIMIT, SkipReason, Skipped};
use serde::Serialize;

use super::{Excluded, Pack, PackRequest, Prepared};
pub use trials::LARGEST;
use trials::Trials;

/// The explanation of one file, or of another source of the pack.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The source.
    pub source: String,
    /// Its place among the ranked files, from 1.
    pub rank: Option<usize>,
    /// The number of ranked files.
    pub ranked: usize,
    /// Its score.
    pub score: Option<i64>,
    /// The parts of the score, which add up to it.
    pub parts: Vec<ScorePart>,
    /// Its level in the prompt.
    pub shown: Option<Shown>,
    /// The reason why it is not shown.
    pub reason: Option<String>,
    /// The sources that would leave or shrink if it had to be in whole.
    pub displaced_by: Vec<String>,
    /// The smallest budget with which it is shown, or shown whole where it is shown in part.
    pub budget: Option<Tokens>,
    /// The level at which that budget shows it.
    pub budget_level: Option<Detail>,
    /// Words that would bring it in, when added to the task.
    pub words: Vec<String>,
    /// The level at which it would be shown if it were pinned.
    pub pinned: Option<Detail>,
    /// True if other budgets were tried.
    #[serde(skip)]
    pub was_tried: bool,
    /// True if it can be pinned.
    #[serde(skip)]
    pub can_be_pinned: bool,
}

impl Explanation {
    /// Notes the budget that shows it, and how.
    fn show_with(&mut self, found: Option<(Tokens, Detail)>) {
        self.budget = found.map(|(budget, _)| budget);
        self.budget_level = found.map(|(_, level)| level);
    }
}

/// The level at which a source is shown.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Shown {
    /// The level.
    pub level: Detail,
    /// The lines.
    pub lines: Vec<(u32, u32)>,
    /// The tokens that it takes.
    pub tokens: Tokens,
    /// Its share of the budget, in thousandths.
    pub permille: u32,
}

/// Explains the file at `path`, below the root, or another source of the pack. Where it is not shown
/// whole, other budgets, words and pins are tried, which may read files again.
pub async fn explain(
    path: &str,
    request: &PackRequest,
    prepared: &Prepared,
    pack: &Pack,
    counter: &(dyn TokenCounter + Sync),
) -> Explanation {
    let all = &pack.decisions.ranked;
    let place = all.iter().position(|ranked| ranked.source == path);
    let ranked = place.and_then(|place| all.get(place));
    let mut entries = pack.assembly.ledger.entries.iter();
    let entry = entries.find(|entry| ranked.is_none() && entry.source == path);
    let score = ranked.map(|ranked| (ranked.score, ranked.parts.as_slice()));
    let score = score.or(entry.map(|entry| (entry.score.total(), entry.score.parts())));
    let mut told = Explanation {
        source: path.to_owned(),
        rank: place.map(|place| place + 1),
        ranked: all.len(),
        score: score.as_ref().map(|(total, _)| *total),
        parts: score.map(|(_, parts)| parts.to_vec()).unwrap_or_default(),
        shown: shown(pack, path),
        ..Explanation::default()
    };
    let files = prepared.workspace.files();
    let index = files.iter().position(|file| file.path == path);
    let shown_at = told.shown.as_ref().map(|shown| shown.level);
    if shown_at.is_none() {
        told.reason = Some(reason(&told, pack, index.is_some()));
        told.can_be_pinned = can_be_pinned(path, prepared);
    }
    let (Some(index), true) = (index, shown_at != Some(Detail::Full)) else {
        return told;
    };
    let mut candidates = prepared.survey.candidates.iter();
    let candidate = candidates.find(|candidate| candidate.file == index);
    let trials = Trials {
        path,
        request,
        counter,
    };
    // Only what was looked at has a text that could be shown.
    if candidate.is_some() {
        told.was_tried = true;
        let wanted = shown_at.map_or(Detail::Line, |_| Detail::Full);
        if let Some((level, lost)) = trials.pinned(prepared, pack) {
            told.pinned = Some(level).filter(|_| shown_at != Some(level));
            told.displaced_by = lost;
        }
        told.show_with(trials.budget(prepared, wanted));
        told.can_be_pinned = true;
    } else if let Some(place) = place {
        told.was_tried = true;
        told.show_with(trials.wider_budget(place).await);
    }
    if shown_at.is_none() {
        told.words = trials.words(candidate).await;
    }
    told
}

fn shown(pack: &Pack, path: &str) -> Option<Shown> {
    let kept = pack.assembly.kept.iter().find(|kept| kept.source == path)?;
    let budget = pack.decisions.budget.0.max(1);
    let permille = u64::from(kept.tokens.0) * 1_000 / u64::from(budget);
    Some(Shown {
        level: kept.detail,
        lines: kept.lines.clone(),
        tokens: kept.tokens,
        permille: u32::try_from(permille).unwrap_or(u32::MAX),
    })
}

/// The reason why it is not in the prompt.
fn reason(told: &Explanation, pack: &Pack, is_listed: bool) -> String {
    let excluded = &pack.decisions.excluded;
    if let Some(excluded) = excluded.iter().find(|out| out.source == told.source) {
        // The tokens that are missing with everything else in place are not those that a larger
        // budget has to bring: that is found by trying.
        return match excluded.reason.starts_with("no room") {
            true => "no room: what is shown is worth more".to_owned(),
            false => excluded.reason.to_string(),
        };
    }
    if is_listed && told.rank.is_some() {
        return "many files have more to do with the task".to_owned();
    }
    if is_listed {
        return "it has no word of the task".to_owned();
    }
    let is_above = |excluded: &&Excluded| {
        let below = told.source.strip_prefix(&excluded.source);
        below.is_some_and(|below| below.starts_with('/'))
    };
    match excluded.iter().find(is_above) {
        Some(folder) => format!(
            "the folder `{}` is left out: {}",
            folder.source, folder.reason
        ),
        None => "it is ignored, or left out by a pattern".to_owned(),
    }
}

/// Returns true if it is a text, as far as known.
fn can_be_pinned(path: &str, prepared: &Prepared) -> bool {
    let workspace = &prepared.workspace;
    let mut skipped = workspace.skipped().iter().chain(&prepared.survey.skipped);
    let cannot = |skipped: &Skipped| match &skipped.reason {
        SkipReason::Binary | SkipReason::Unreadable { .. } => true,
        SkipReason::Huge { size } => *size > NAMED_SIZE_LIMIT,
        _ => false,
    };
    let is_file = workspace.root().join(path).is_file();
    is_file && !skipped.any(|skipped| skipped.path == path && cannot(skipped))
}
