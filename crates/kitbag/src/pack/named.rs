//! Files and definitions that the task names: they are pinned as if somebody had done it by hand.
//!
//! Together they take half of the budget at most. A file that is named by its path is shown whole where
//! that fits, else by the definitions that the task names, else by its best parts. A definition is
//! shown whole for certain; the fit decides if the rest of its file is worth its place too, since a task
//! may name several.

use std::cmp::Reverse;
use std::path::{Component, Path};

use kitbag_core::chunk::{ContextChunk, ContextPriority, Detail, Level, Relevance};
use kitbag_core::neutral::one_line;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_workspace::survey::{Candidate, NamedBy, Survey};
use kitbag_workspace::walk::Skipped;
use kitbag_workspace::workspace::Workspace;

use super::files::{FileChunk, TestOf};
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
            levels_within(chunk, candidate, named.by, room, counter)
        });
        let Some(levels) = levels.filter(|levels| !levels.is_empty()) else {
            continue;
        };
        let costs = levels.iter().map(|level| counter.count(&level.content));
        // More of a file than its definition is taken only where the fit finds room.
        let reserved = match named.by {
            NamedBy::Path => costs.max(),
            NamedBy::Definition => costs.min(),
        };
        room = room.saturating_sub(reserved.unwrap_or_default());
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

/// The levels of a file that fit into `room`: of one that is named the whole alone, or else its parts; of
/// a definition all that show it.
fn levels_within(
    chunk: &ContextChunk,
    candidate: &Candidate,
    by: NamedBy,
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
    let full = full.filter(fits);
    if let Some(full) = full.filter(|_| by == NamedBy::Path) {
        return vec![full.clone()];
    }
    let units = candidate.parsed.syntax.units.iter().zip(&candidate.units);
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
    let shown = |level: &&Level| named.iter().filter(|&&lines| shows(level, lines)).count();
    let most = parts.iter().map(shown).max().unwrap_or(0);
    let best = parts.into_iter().filter(|level| shown(level) == most);
    full.into_iter().chain(best).cloned().collect()
}

/// The most of the budget that the model of a test takes, as a part of it: a short test of one of the best files
/// is tried first.
const OF_A_SHORT_TEST: u32 = 20;
const OF_A_TEST: u32 = 10;

/// Makes one test critical, by one whole function at least: whoever is to write a test has seen one. Those
/// of the best files come first, then tests that stand in one of the best files.
pub(super) fn pin_a_test(
    prepared: &Prepared,
    chunks: &mut [FileChunk],
    options: &PackOptions,
    counter: &dyn TokenCounter,
) {
    let left = room(prepared, chunks, options, counter);
    let room = |part: u32| Room {
        model: left.min(Tokens(options.budget.0 / part)),
        // A pinned file knows no other limit.
        whole: left.min(Tokens(options.budget.0 / 2)),
    };
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
    let first_of_any = tests.partition_point(|file| file.test() == Some(TestOf::Best));
    let others = tests.split_off(first_of_any);
    for part in [OF_A_SHORT_TEST, OF_A_TEST] {
        let mut tests = tests.iter_mut();
        if tests.any(|file| pin_model(file, room(part), counter)) {
            return;
        }
    }
    let room = room(OF_A_TEST);
    let others: Vec<String> = others
        .into_iter()
        .map(|file| file.ranked.chunk.source.clone())
        .collect();
    if pin_inner_test(chunks, room.model, counter) {
        return;
    }
    for source in others {
        let file = chunks
            .iter_mut()
            .find(|file| file.ranked.chunk.source == source);
        if file.is_some_and(|file| pin_model(file, room, counter)) {
            return;
        }
    }
}

/// The tokens for the model of a test.
#[derive(Clone, Copy)]
struct Room {
    /// For the part that must be in.
    model: Tokens,
    /// For the test as a whole.
    whole: Tokens,
}

/// Makes a test critical, if a whole function of it fits. More of it is shown where it is worth its place
/// among the code.
fn pin_model(file: &mut FileChunk, room: Room, counter: &dyn TokenCounter) -> bool {
    let levels = file.ranked.chunk.levels.iter();
    let parts = levels.filter(|level| matches!(level.level, Detail::Full | Detail::Slice));
    let is_whole = |level: &&Level| file.shows_a_function(level);
    let cost = |level: &Level| counter.count(&level.content);
    // A token has about four bytes, and the fit counts what it may show.
    let most = usize::try_from(room.whole.0)
        .unwrap_or(usize::MAX)
        .saturating_mul(4);
    let fits = |level: &&Level| level.content.len() <= most;
    let mut levels: Vec<Level> = parts
        .rev()
        .filter(is_whole)
        .take_while(fits)
        .cloned()
        .collect();
    if levels.first().is_none_or(|least| cost(least) > room.model) {
        // The best part of it is too long, or no function.
        let Some(model) = file.model().filter(|model| cost(model) <= room.model) else {
            return false;
        };
        levels.insert(0, model.clone());
    }
    levels.reverse();
    let chunk = &mut file.ranked.chunk;
    // That it must be in makes none of it worth more than it was.
    let (usual, pinned) = (chunk.priority.weight(), ContextPriority::Critical.weight());
    let relevance = u64::from(chunk.relevance.ppm()) * usual / pinned;
    chunk.relevance = Relevance::from_ppm(u32::try_from(relevance).unwrap_or(u32::MAX));
    file.pin("model", 0, levels);
    true
}

/// Lets a test that stands in one of the best files be shown with each part of that file. Of a file that
/// the task names whole it is shown anyway.
fn pin_inner_test(chunks: &mut [FileChunk], room: Tokens, counter: &dyn TokenCounter) -> bool {
    let has_tests = |file: &&mut FileChunk| !file.with_test().is_empty();
    let mut files: Vec<&mut FileChunk> = chunks.iter_mut().filter(has_tests).collect();
    files.sort_by_key(|file| {
        let chunk = &file.ranked.chunk;
        (
            Reverse((chunk.priority, chunk.relevance)),
            chunk.source.clone(),
        )
    });
    for file in files {
        let mut levels: Vec<Level> = Vec::new();
        let mut least = None;
        for level in &file.ranked.chunk.levels {
            let mut with_test = file.with_test().iter();
            match with_test.find(|with| with.without == level.lines) {
                Some(with) => {
                    let more = counter.count(&with.level.content);
                    let more = more.saturating_sub(counter.count(&level.content));
                    least = Some(least.map_or(more, |least: Tokens| least.min(more)));
                    levels.push(with.level.clone());
                }
                // The whole file has its tests.
                None if level.level == Detail::Full => levels.push(level.clone()),
                None => {}
            }
        }
        if levels.is_empty() || least.is_some_and(|least| least > room) {
            continue;
        }
        match file.is_pinned() {
            true => file.ranked.chunk.levels = levels,
            false => {
                // Its cheapest part must be in.
                let cheapest = levels
                    .iter()
                    .map(|level| counter.count(&level.content))
                    .min();
                if cheapest.is_none_or(|cheapest| cheapest > room.saturating_add(room)) {
                    continue;
                }
                file.pin("model", 0, levels);
            }
        }
        return true;
    }
    false
}

/// Tells which paths of the task mean another file, several, or none.
pub(super) fn tell(
    survey: &Survey,
    workspace: &Workspace,
    notes: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) {
    let path = |file: usize| workspace.files().get(file).map(|file| file.path.as_str());
    let mut tell = |named: &str, kind: ProblemKind, note: String, message: String| {
        notes.push(note);
        problems.push(Problem::new(named, kind, message));
    };
    for named in &survey.named {
        if let Some((named, file)) = named.instead_of.as_ref().zip(path(named.file)) {
            let (shown, file) = (one_line(named), one_line(file));
            if let Some(reason) = left_out(named, workspace) {
                tell(
                    named,
                    ProblemKind::LeftOut,
                    format!(
                        "The task names `{shown}`, which is left out ({reason}): `{file}` is the only other file of that name."
                    ),
                    format!(
                        "it is left out ({reason}); `{file}` is the only other file of its name"
                    ),
                );
                continue;
            }
            tell(
                named,
                ProblemKind::NotFound,
                format!(
                    "The task names `{shown}`, which does not exist: `{file}` is the only file of that name."
                ),
                format!("there is no such file; `{file}`, the only one of its name, is meant"),
            );
        }
    }
    for unresolved in survey.unresolved.iter().take(MOST_UNRESOLVED) {
        let shown = one_line(&unresolved.path);
        let paths = unresolved.candidates.iter().filter_map(|&file| path(file));
        let paths: Vec<String> = paths.map(|path| format!("`{}`", one_line(path))).collect();
        let reason = left_out(&unresolved.path, workspace).filter(|_| paths.is_empty());
        if let Some(reason) = reason {
            tell(
                &unresolved.path,
                ProblemKind::LeftOut,
                format!("The task names `{shown}`, which is left out ({reason})."),
                format!("it is left out ({reason})"),
            );
            continue;
        }
        match paths.is_empty() {
            true => tell(
                &unresolved.path,
                ProblemKind::NotFound,
                format!("The task names `{shown}`, which does not exist."),
                "there is no such file".to_owned(),
            ),
            false => tell(
                &unresolved.path,
                ProblemKind::NotFound,
                format!(
                    "The task names `{shown}`, which could be {}.",
                    paths.join(" or ")
                ),
                format!("could be {}: name the folder", paths.join(" or ")),
            ),
        }
    }
}

/// The reason why an existing file does not belong to the workspace; `None` if it does not exist.
fn left_out(named: &str, workspace: &Workspace) -> Option<String> {
    let named = named.trim_start_matches("./");
    let mut skipped = workspace.skipped().iter();
    let is_it = |skipped: &Skipped| {
        let before = skipped.path.strip_suffix(named);
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    if let Some(file) = skipped.clone().find(|skipped| is_it(skipped)) {
        return Some(file.reason.to_string());
    }
    // Nobody learns from a pack what is elsewhere on the disk.
    let mut parts = Path::new(named).components();
    let is_below = parts.all(|part| matches!(part, Component::Normal(_)));
    // Files that are ignored, and what is in a folder that is left out, are not noted one by one.
    if !is_below || workspace.root().join(named).symlink_metadata().is_err() {
        return None;
    }
    let folder = skipped.find(|skipped| {
        let below = named.strip_prefix(&skipped.path);
        below.is_some_and(|below| below.starts_with('/'))
    });
    let reason = folder.map(|folder| folder.reason.to_string());
    Some(reason.unwrap_or_else(|| "ignored or not selected".to_owned()))
}

/// The task of a long report names many paths of other projects.
const MOST_UNRESOLVED: usize = 3;
