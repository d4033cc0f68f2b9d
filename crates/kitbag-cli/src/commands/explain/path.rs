//! Why one file is in a prompt or not, and what would change that: found by packing again.

use std::collections::BTreeMap;
use std::fmt;

use kitbag::core::rank::ScorePart;
use kitbag::core::tokens::Tokens;
use kitbag::pack::{Pack, PackRequest, PackedChunk, Prepared};
use kitbag::tokens::Counter;
use serde::Serialize;

use crate::commands::pack::{packed, prepared as prepare};
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
    /// The smallest budget with which it is shown.
    budget: Option<Tokens>,
    /// Words that would bring it in, when added to the task.
    words: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Shown {
    level: String,
    lines: Vec<(u32, u32)>,
    tokens: Tokens,
}

/// The largest budget that is tried.
const LARGEST: u32 = 2_000_000;
const MOST_WORDS: usize = 3;

/// Tells about the file at `path`.
pub(super) fn tell(
    path: &str,
    request: &PackRequest,
    prepared: &Prepared,
    pack: &Pack,
    counter: &Counter,
) -> Result<Told, Failure> {
    let rank = pack.ranked.iter().position(|ranked| ranked.source == path);
    let ranked = rank.and_then(|rank| pack.ranked.get(rank));
    let excluded = pack
        .excluded
        .iter()
        .find(|excluded| excluded.source == path);
    let chunk = shown(pack, path);
    let listed = prepared
        .workspace()
        .files()
        .iter()
        .any(|file| file.path == path);
    let mut told = Told {
        source: path.to_owned(),
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
        budget: None,
        words: Vec::new(),
    };
    if chunk.is_some() {
        return Ok(told);
    }
    told.reason = Some(match (excluded, listed) {
        (Some(excluded), _) => excluded.reason.clone(),
        (None, true) if rank.is_some() => "many files have more to do with the task".to_owned(),
        (None, true) => "it has no word of the task".to_owned(),
        (None, false) => missing(request, path),
    });
    if listed {
        told.displaced_by = displaced(path, request, prepared, pack, counter);
        told.budget = budget(path, request, prepared, counter);
        told.words = words(path, request, prepared, counter)?;
    }
    Ok(told)
}

fn shown<'p>(pack: &'p Pack, path: &str) -> Option<&'p PackedChunk> {
    pack.chunks.iter().find(|chunk| chunk.source == path)
}

fn missing(request: &PackRequest, path: &str) -> String {
    if request.root.join(path).exists() {
        "it is ignored, or left out by a pattern; `--pin` shows it in any case".to_owned()
    } else {
        "there is no such file below the root".to_owned()
    }
}

/// What would leave or shrink if the file had to be in: the difference to the pack with it pinned.
fn displaced(
    path: &str,
    request: &PackRequest,
    prepared: &Prepared,
    pack: &Pack,
    counter: &Counter,
) -> Vec<String> {
    let mut pinned = request.clone();
    pinned.pins.push(path.to_owned());
    let Ok(other) = prepared.pack(&pinned, counter) else {
        return Vec::new();
    };
    let with: BTreeMap<&str, Tokens> = other
        .chunks
        .iter()
        .map(|chunk| (chunk.source.as_str(), chunk.tokens))
        .collect();
    let mut lost: Vec<(u32, &str)> = pack
        .chunks
        .iter()
        .filter_map(|chunk| {
            let kept = with
                .get(chunk.source.as_str())
                .copied()
                .unwrap_or(Tokens::ZERO);
            let less = chunk
                .tokens
                .0
                .checked_sub(kept.0)
                .filter(|&less| less > 0)?;
            Some((less, chunk.source.as_str()))
        })
        .collect();
    lost.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    lost.into_iter()
        .take(5)
        .map(|(_, source)| source.to_owned())
        .collect()
}

/// The smallest budget that shows the file, to a hundredth.
fn budget(
    path: &str,
    request: &PackRequest,
    prepared: &Prepared,
    counter: &Counter,
) -> Option<Tokens> {
    let is_shown = |budget: u32| {
        let request = request.clone().with_budget(Tokens(budget));
        prepared
            .pack(&request, counter)
            .is_ok_and(|pack| shown(&pack, path).is_some())
    };
    let mut high = request.budget.0.max(1);
    while !is_shown(high) {
        if high >= LARGEST {
            return None;
        }
        high = high.saturating_mul(2).min(LARGEST);
    }
    let mut low = request.budget.0;
    while high - low > (high / 100).max(1) {
        let middle = low + (high - low) / 2;
        if is_shown(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(Tokens(high))
}

/// Names of the file that bring it in when the task has them too: what it defines, its own name.
fn words(
    path: &str,
    request: &PackRequest,
    prepared: &Prepared,
    counter: &Counter,
) -> Result<Vec<String>, Failure> {
    let files = prepared.workspace().files();
    let defined = prepared
        .survey()
        .candidates
        .iter()
        .find(|candidate| {
            files
                .get(candidate.file)
                .is_some_and(|file| file.path == path)
        })
        .map(|candidate| {
            candidate
                .syntax
                .definitions
                .iter()
                .map(|definition| definition.name.clone())
                .collect::<Vec<_>>()
        })
        .unwrap_or_default();
    let mut longest: Vec<String> = defined.into_iter().filter(|name| name.len() >= 6).collect();
    longest.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    longest.dedup();
    longest.truncate(2);
    longest.push(path.to_owned());
    let mut found = Vec::new();
    for word in longest {
        let mut other = request.clone();
        other.task = format!("{}\n{word}", request.task);
        let prepared = prepare(&other)?;
        let pack = packed(&prepared, &other, counter)?;
        if shown(&pack, path).is_some() {
            found.push(word);
        }
        if found.len() == MOST_WORDS {
            break;
        }
    }
    Ok(found)
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
        if self.shown.is_none() && self.rank.is_some() {
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
            write!(f, "\nso would the task with `{}` in it", one_line(word))?;
        }
        if self.shown.is_none() && self.score.is_some() {
            write!(
                f,
                "\n`--pin {}` shows it in any case",
                one_line(&self.source)
            )?;
        }
        Ok(())
    }
}
