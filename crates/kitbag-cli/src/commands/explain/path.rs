//! Why one file is in a prompt or not, and what would change that.

use std::fmt;

use kitbag::core::rank::ScorePart;
use kitbag::core::tokens::Tokens;
use kitbag::pack::{Excluded, Pack, PackRequest, PackedChunk, Prepared};
use kitbag::tokens::Counter;
use kitbag::workspace::walk::{NAMED_SIZE_LIMIT, SkipReason, Skipped};
use serde::Serialize;

use super::trials::{LARGEST, budget, displaced, wider_budget, words};
use crate::commands::pack::place;
use crate::failure::Failure;
use crate::output::{grouped, one_line};

/// What is known of a file.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    source: String,
    /// Its place among the ranked files, from 1.
    rank: Option<usize>,
    ranked: usize,
    score: Option<i64>,
    parts: Vec<ScorePart>,
    /// How it is shown.
    shown: Option<Shown>,
    /// Why it is not.
    reason: Option<String>,
    /// What would leave or shrink if it had to be in.
    displaced_by: Vec<String>,
    /// Whether other budgets were tried.
    #[serde(skip)]
    was_tried: bool,
    /// The smallest budget with which it is shown.
    budget: Option<Tokens>,
    /// Words that would bring it in, when added to the task.
    words: Vec<String>,
    /// Whether it is shown when it is pinned.
    #[serde(skip)]
    can_be_pinned: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    level: String,
    lines: Vec<(u32, u32)>,
    tokens: Tokens,
}

/// Tells about the file at `typed`, or about another source of the pack.
pub(super) fn tell(
    typed: &str,
    request: &PackRequest,
    prepared: &Prepared,
    pack: &Pack,
    counter: &Counter,
) -> Result<Told, Failure> {
    let place = place(&request.root, typed);
    let is_file = place.is_ok();
    let path = match place {
        Ok(path) => path,
        // A source may be no file, such as `git log`, or a file that a change deletes.
        Err(_) if shown(pack, typed).is_some() || excluded(pack, typed).is_some() => typed.into(),
        Err(misplaced) => return Err(Failure::usage(&misplaced).hint(misplaced.hint())),
    };
    let rank = pack.ranked.iter().position(|ranked| ranked.source == path);
    let ranked = rank.and_then(|rank| pack.ranked.get(rank));
    let chunk = shown(pack, &path);
    let mut told = Told {
        rank: rank.map(|rank| rank + 1),
        ranked: pack.ranked.len(),
        score: ranked.map(|ranked| ranked.score),
        parts: ranked
            .map(|ranked| ranked.parts.clone())
            .unwrap_or_default(),
        shown: chunk.map(|chunk| Shown {
            level: chunk.level.as_str().to_owned(),
            lines: chunk.lines.clone(),
            tokens: chunk.tokens,
        }),
        reason: None,
        displaced_by: Vec::new(),
        was_tried: false,
        budget: None,
        words: Vec::new(),
        can_be_pinned: false,
        source: path,
    };
    if told.shown.is_some() {
        return Ok(told);
    }
    let files = prepared.workspace().files();
    let index = files.iter().position(|file| file.path == told.source);
    told.reason = Some(reason(&told, pack, index.is_some()));
    told.can_be_pinned = is_file && can_be_pinned(&told.source, prepared);
    let Some(index) = index else {
        return Ok(told);
    };
    let mut candidates = prepared.survey().candidates.iter();
    let candidate = candidates.find(|candidate| candidate.file == index);
    // Only what was looked at has a text that could be shown.
    if candidate.is_some() {
        told.was_tried = true;
        told.displaced_by = displaced(&told.source, request, prepared, pack, counter);
        told.budget = budget(&told.source, request, prepared, counter);
    } else if let Some(place) = rank {
        told.was_tried = true;
        told.budget = wider_budget(&told.source, place, request, counter);
    }
    told.words = words(&told.source, candidate, request, counter);
    Ok(told)
}

/// How a source is shown.
pub(super) fn shown<'p>(pack: &'p Pack, path: &str) -> Option<&'p PackedChunk> {
    pack.chunks.iter().find(|chunk| chunk.source == path)
}

fn excluded<'p>(pack: &'p Pack, path: &str) -> Option<&'p Excluded> {
    pack.excluded
        .iter()
        .find(|excluded| excluded.source == path)
}

/// Why it is not in the prompt.
fn reason(told: &Told, pack: &Pack, is_listed: bool) -> String {
    if let Some(excluded) = excluded(pack, &told.source) {
        // How many tokens are missing beside what is shown is not what a larger budget has to
        // bring: that is found by trying, and told below.
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
    match pack.excluded.iter().find(is_above) {
        Some(folder) => format!(
            "the folder `{}` is left out: {}",
            folder.source, folder.reason
        ),
        None => "it is ignored, or left out by a pattern".to_owned(),
    }
}

/// Whether it is text, as far as is known.
fn can_be_pinned(path: &str, prepared: &Prepared) -> bool {
    let skipped = prepared.workspace().skipped().iter();
    let mut skipped = skipped.chain(&prepared.survey().skipped);
    let cannot = |skipped: &Skipped| match &skipped.reason {
        SkipReason::Binary | SkipReason::Unreadable { .. } => true,
        SkipReason::Huge { size } => *size > NAMED_SIZE_LIMIT,
        _ => false,
    };
    !skipped.any(|skipped| skipped.path == path && cannot(skipped))
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", one_line(&self.source))?;
        match &self.shown {
            Some(shown) => {
                write!(
                    f,
                    " is in the prompt: {}, {} tokens",
                    shown.level,
                    grouped(shown.tokens.0)
                )?;
                let ranges: Vec<String> = shown
                    .lines
                    .iter()
                    .map(|(first, last)| format!("{first}-{last}"))
                    .collect();
                if !ranges.is_empty() {
                    write!(f, ", lines {}", ranges.join(", "))?;
                }
            }
            None => {
                let reason = self.reason.as_deref().unwrap_or("nothing speaks for it");
                write!(f, " is not in the prompt: {}", one_line(reason))?;
            }
        }
        if let (Some(rank), Some(score)) = (self.rank, self.score) {
            write!(
                f,
                "\nrank {} of {}, score {score}",
                grouped(rank as u64),
                grouped(self.ranked as u64)
            )?;
            for part in &self.parts {
                write!(f, "\n  {:<12}{:>+6}", part.name, part.value)?;
            }
        }
        if !self.displaced_by.is_empty() {
            write!(f, "\nif it had to be in, these would leave or shrink:")?;
            for source in &self.displaced_by {
                write!(f, "\n  {}", one_line(source))?;
            }
        }
        if self.was_tried {
            match self.budget {
                Some(budget) => write!(
                    f,
                    "\na budget of {} tokens would show it",
                    grouped(budget.0)
                )?,
                None => write!(
                    f,
                    "\nno budget up to {} tokens would show it",
                    grouped(LARGEST)
                )?,
            }
        }
        for word in &self.words {
            write!(
                f,
                "\nthe task with `{}` in it would show it",
                one_line(word)
            )?;
        }
        if self.can_be_pinned {
            write!(
                f,
                "\n`--pin {}` shows it in any case",
                one_line(&self.source)
            )?;
        }
        Ok(())
    }
}
