//! Files that the task names: they are pinned as if somebody had done it by hand.
//!
//! Together they take half of the budget at most, in the order of the task: whole where that fits, else
//! by the definitions that the task names, else by their best parts.

use std::cmp::Reverse;

use kitbag_core::chunk::{ContextChunk, Detail, Level};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_workspace::survey::Candidate;

use super::files::FileChunk;
use super::{PackOptions, Prepared};

/// The bonus that puts a named file before all that were merely found.
const FIRST: i64 = 2_000;

/// Makes the files critical that the task names, at the levels that fit.
pub(super) fn pin(
    prepared: &Prepared,
    chunks: &mut [FileChunk],
    options: &PackOptions,
    counter: &dyn TokenCounter,
) {
    let mut room = room(prepared, chunks, options, counter).min(Tokens(options.budget.0 / 2));
    let survey = &prepared.survey;
    for named in &survey.named {
        let Some(path) = prepared.workspace.files().get(named.file) else {
            continue;
        };
        let is_it = |file: &&mut FileChunk| file.ranked.chunk.source == path.path;
        let Some(file) = chunks
            .iter_mut()
            .find(is_it)
            .filter(|file| !file.is_pinned())
        else {
            continue;
        };
        let mut candidates = survey.candidates.iter();
        let candidate = candidates.find(|candidate| candidate.file == named.file);
        let levels = candidate.map(|candidate| {
            let chunk = &file.ranked.chunk;
            levels_within(chunk, candidate, room, counter)
        });
        let Some(levels) = levels.filter(|levels| !levels.is_empty()) else {
            continue;
        };
        let largest = levels.iter().map(|level| counter.count(&level.content));
        room = room.saturating_sub(largest.max().unwrap_or_default());
        file.pin("named", FIRST, levels);
    }
}

/// Most of what the task, the pins and the lines of a trace leave of the budget: all of them must be in.
fn room(
    prepared: &Prepared,
    chunks: &[FileChunk],
    options: &PackOptions,
    counter: &dyn TokenCounter,
) -> Tokens {
    let half = Tokens(options.budget.0 / 2);
    let mut left = options.budget.saturating_sub(ROUND_ABOUT);
    left = left.saturating_sub(counter.count(&prepared.task.text).min(half));
    if prepared.strategy.locations_are_critical {
        left = left.saturating_sub(Tokens(options.budget.0 / 4));
    }
    for pinned in chunks.iter().filter(|file| file.is_pinned()) {
        let levels = pinned.ranked.chunk.levels.iter();
        let least = levels
            .map(|level| level.content.as_str())
            .min_by_key(|text| text.len());
        left = left.saturating_sub(counter.count(least.unwrap_or_default()));
    }
    Tokens(left.0 / 4 * 3)
}

/// The tokens of headings and instructions, roughly.
const ROUND_ABOUT: Tokens = Tokens(200);

/// The levels of a file that fit into `room`: the whole alone, or else its parts.
fn levels_within(
    chunk: &ContextChunk,
    candidate: &Candidate,
    room: Tokens,
    counter: &dyn TokenCounter,
) -> Vec<Level> {
    // A token has rarely more than a dozen bytes.
    let most = usize::try_from(room.0)
        .unwrap_or(usize::MAX)
        .saturating_mul(12);
    let fits =
        |level: &&Level| level.content.len() <= most && counter.count(&level.content) <= room;
    let full = chunk
        .levels
        .iter()
        .find(|level| level.level == Detail::Full);
    if let Some(full) = full.filter(fits) {
        return vec![full.clone()];
    }
    let units = candidate.syntax.units.iter().zip(&candidate.units);
    let named: Vec<(u32, u32)> = units
        .filter(|(_, worth)| worth.named || worth.framed)
        .map(|(unit, _)| (unit.first, unit.last))
        .collect();
    let shows = |level: &Level, (first, last): (u32, u32)| {
        let mut lines = level.lines.iter();
        lines.any(|&(from, to)| from <= first && last <= to)
    };
    let parts = chunk
        .levels
        .iter()
        .filter(|level| level.level == Detail::Slice);
    let parts: Vec<&Level> = parts.filter(fits).collect();
    let shown = |level: &&&Level| named.iter().filter(|&&lines| shows(level, lines)).count();
    let most = parts.iter().map(|level| shown(&level)).max().unwrap_or(0);
    let best = parts.iter().filter(|level| shown(level) == most);
    best.map(|level| (*level).clone()).collect()
}

/// The most of the budget that the model of a test takes, as a part of it.
const OF_A_TEST: u32 = 10;

/// Makes one test critical, by one whole function at least: whoever is to write a test has seen one. Those
/// of the best files come first.
pub(super) fn pin_a_test(
    prepared: &Prepared,
    chunks: &mut [FileChunk],
    options: &PackOptions,
    counter: &dyn TokenCounter,
) {
    let room = room(prepared, chunks, options, counter).min(Tokens(options.budget.0 / OF_A_TEST));
    let is_test = |file: &&mut FileChunk| file.test().is_some();
    let mut tests: Vec<&mut FileChunk> = chunks.iter_mut().filter(is_test).collect();
    if tests.iter().any(|file| file.is_pinned()) {
        return;
    }
    tests.sort_by_key(|file| {
        let chunk = &file.ranked.chunk;
        let best = Reverse((file.test(), chunk.relevance));
        (best, chunk.source.clone())
    });
    for file in tests {
        let levels = file.ranked.chunk.levels.iter();
        let parts = levels.filter(|level| matches!(level.level, Detail::Full | Detail::Slice));
        let is_whole = |level: &&Level| file.shows_a_function(level);
        let fits = |level: &&Level| counter.count(&level.content) <= room;
        let levels: Vec<Level> = parts
            .rev()
            .filter(is_whole)
            .take_while(fits)
            .cloned()
            .collect();
        if !levels.is_empty() {
            let levels = levels.into_iter().rev().collect();
            file.pin("model", 0, levels);
            return;
        }
    }
}
