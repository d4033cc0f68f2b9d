//! What is shown of a project where nothing is asked: its introduction, and the outlines of the files
//! where a newcomer would begin.
//!
//! Activity in git, the name, the size and the place of a file say how prominent it is; of the files
//! of one folder each further one counts less, so that more of the project is seen. Tests, examples,
//! data and settings are no part of it.

use std::cmp::Reverse;
use std::collections::HashMap;

use kitbag_core::chunk::{ContextChunk, ContextPriority, Coverage, Detail, Level, Relevance};
use kitbag_core::rank::{RankedChunk, Score};
use kitbag_core::tokens::Tokens;
use kitbag_secrets::redact;
use kitbag_workspace::survey::{Candidate, Survey};
use kitbag_workspace::syntax::Definition;
use kitbag_workspace::walk::{FileEntry, FileRole};
use kitbag_workspace::workspace::Workspace;

use super::files::number;

/// How many files are looked at whatever git says of them.
const LANDMARKS: usize = 120;

/// The files to look at: what introduces the project, and its most prominent source.
pub(super) fn landmarks(workspace: &Workspace) -> Vec<String> {
    let files = workspace.files();
    let guides = files.iter().filter(|file| is_guide(&file.path));
    let mut sources: Vec<(i64, &FileEntry)> = files
        .iter()
        .filter(|file| file.role == FileRole::Source)
        .map(|file| (prominence(&file.path, file.size, 0).total(), file))
        .collect();
    sources.sort_by_key(|(score, file)| (Reverse(*score), &file.path));
    // The best of each folder, before the second best of any.
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut placed: Vec<(usize, i64, &FileEntry)> = Vec::new();
    for (score, file) in sources {
        let before = seen.entry(folder(&file.path)).or_default();
        placed.push((*before, score, file));
        *before += 1;
    }
    placed.sort_by_key(|(before, score, file)| (*before, Reverse(*score), &file.path));
    let sources = placed.into_iter().take(LANDMARKS).map(|(_, _, file)| file);
    guides
        .chain(sources)
        .map(|file| file.path.clone())
        .collect()
}

/// Why a file is out that was looked at.
pub(super) const LEFT_OUT: &str = "an overview leaves out tests, examples and data";

/// Gives the files of a survey their scores, their relevance and the levels that suit an overview.
///
/// Returns the paths of those that have no place in it, and takes them out.
pub(super) fn arrange(
    files: &mut Vec<RankedChunk>,
    survey: &Survey,
    workspace: &Workspace,
    budget: Tokens,
    line_numbers: bool,
) -> Vec<String> {
    let mut candidates: HashMap<&str, &Candidate> = HashMap::new();
    for candidate in &survey.candidates {
        if let Some(file) = workspace.files().get(candidate.file) {
            candidates.insert(&file.path, candidate);
        }
    }
    let entry = |path: &str| {
        let files = workspace.files();
        let found = files.binary_search_by(|file| file.path.as_str().cmp(path));
        files.get(found.ok()?)
    };
    let left_out = files.extract_if(.., |file| {
        let role = entry(&file.chunk.source).map(|file| file.role);
        let is_pinned = file.chunk.priority == ContextPriority::Critical;
        !is_pinned && !is_guide(&file.chunk.source) && role != Some(FileRole::Source)
    });
    let left_out = left_out.map(|file| file.chunk.source).collect();
    let activity = |file: &RankedChunk| -> i64 {
        let parts = file.score.parts().iter();
        let activity = parts.filter(|part| part.name == "activity");
        activity.map(|part| part.value).sum()
    };
    for file in files.iter_mut() {
        let activity = activity(file);
        let size = entry(&file.chunk.source).map_or(0, |file| file.size);
        file.score = prominence(&file.chunk.source, size, activity);
    }
    spread(files);
    let best = files.iter().map(|file| file.score.total()).max();
    let best = best.unwrap_or_default().max(1);
    let bytes = usize::try_from(budget.0).unwrap_or(usize::MAX);
    for file in files.iter_mut() {
        let chunk = &mut file.chunk;
        if chunk.priority == ContextPriority::Critical {
            continue;
        }
        let candidate = candidates.get(chunk.source.as_str());
        if is_readme(&chunk.source) {
            chunk.priority = ContextPriority::High;
            chunk.relevance = Relevance::CERTAIN;
            // It is read before all else.
            file.score = std::mem::take(&mut file.score).plus("introduction", 2_000);
            // A token has about four bytes: a quarter of the budget.
            let text = candidate.map_or("", |candidate| &candidate.text);
            introduce(chunk, text, bytes, line_numbers);
        } else {
            let names = candidate.map(|candidate| candidate.syntax.definitions.as_slice());
            let names = names_of(names.unwrap_or_default());
            outline(chunk, bytes / 2, share(file.score.total(), best), &names);
        }
    }
    left_out
}

/// Whether it is the file that introduces the project.
fn is_readme(path: &str) -> bool {
    stem(path).eq_ignore_ascii_case("readme") && !path.contains('/')
}

/// Whether it is a text at the root that explains the project.
fn is_guide(path: &str) -> bool {
    let is_text = matches!(
        path.rsplit_once('.').map(|(_, extension)| extension),
        None | Some("md" | "rst" | "txt" | "adoc" | "markdown")
    );
    let name = stem(path).to_ascii_lowercase();
    let explains = matches!(
        name.as_str(),
        "readme" | "architecture" | "design" | "overview"
    );
    is_text && explains && !path.contains('/')
}

/// How prominent a file is, in thousandths, each part visible. `activity` is that of git.
fn prominence(path: &str, size: u64, activity: i64) -> Score {
    let parents: Vec<&str> = path.split('/').rev().skip(1).collect();
    let depth = i64::try_from(parents.len()).unwrap_or(i64::MAX).min(8);
    let name = match stem(path).to_ascii_lowercase().as_str() {
        name if BEGINNINGS.contains(&name) => 350,
        name if CENTRES.contains(&name) => 200,
        // Named as its folder, it speaks for it.
        name if parents.first().is_some_and(|folder| *folder == name) => 200,
        name if LISTS.contains(&name) => 100,
        _ => 0,
    };
    // From 0 for a kilobyte to 300 for 64 of them; larger is no better.
    let size_part = i64::from((size >> 10).max(1).ilog2().min(6)) * 50;
    // Little can be in it, but where there is nothing else it is shown.
    let base = if size < 200 { 10 } else { 50 };
    let score = Score::default()
        .plus("activity", activity.clamp(0, 1_000) * 6 / 10)
        // Deep down a name says less: each of many apps may have its `main`.
        .plus(
            "name",
            if size < 200 {
                0
            } else {
                name * (10 - depth) / 10
            },
        )
        .plus("size", size_part)
        .plus("base", base);
    let is_aside = |folder: &&str| {
        let folder = folder.to_ascii_lowercase();
        ASIDE.contains(&folder.as_str()) || folder.ends_with("_template")
    };
    let kept = if parents.iter().any(is_aside) {
        50
    } else {
        1_000 - depth * 60
    };
    let lost = score.total().max(0) * (1_000 - kept) / 1_000;
    score.plus("depth", -lost)
}

/// Each further file of a folder counts less, and so does each of the same part of the project.
fn spread(files: &mut [RankedChunk]) {
    files.sort_by(|a, b| {
        let order = b.score.total().cmp(&a.score.total());
        order.then_with(|| a.chunk.source.cmp(&b.chunk.source))
    });
    let mut seen: HashMap<String, u32> = HashMap::new();
    for file in files {
        let mut kept = 1_000;
        let (inner, outer) = (folder(&file.chunk.source), part(&file.chunk.source));
        for (place, keeps) in [(inner, 700), (outer, 900)] {
            let before = seen.entry(place.to_owned()).or_default();
            for _ in 0..(*before).min(12) {
                kept = kept * keeps / 1_000;
            }
            *before += 1;
            if inner == outer {
                break;
            }
        }
        let lost = file.score.total().max(0) * (1_000 - kept) / 1_000;
        file.score = std::mem::take(&mut file.score).plus("folder", -lost);
    }
}

/// The text of a file, or its beginning where the whole is too long.
///
/// It is made from the file, for the levels of a long one no longer hold the whole.
fn introduce(chunk: &mut ContextChunk, text: &str, most: usize, line_numbers: bool) {
    let redacted = redact(text, &chunk.source);
    let text: &str = &redacted.text;
    let from_first = |detail: Detail, text: &str| {
        let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        Level::new(detail, text).with_lines([(1, lines.max(1))])
    };
    let mut levels = Vec::new();
    if text.len() <= most {
        levels.push(from_first(Detail::Full, text));
    }
    for (most, coverage) in [(most, 1_000), (most / 2, 800), (most / 4, 500)] {
        if text.len() <= most {
            continue;
        }
        let head = beginning(text, most);
        if !head.is_empty() {
            let coverage = Coverage::from_permille(coverage);
            levels.push(from_first(Detail::Slice, head).with_coverage(coverage));
        }
    }
    if line_numbers {
        levels.iter_mut().for_each(|level| number(level, text));
    }
    chunk.levels.retain(|level| level.level == Detail::Line);
    levels.append(&mut chunk.levels);
    chunk.levels = levels;
}

/// The first paragraphs of a text, or its first lines where whole paragraphs are less than half of
/// what there is room for.
fn beginning(text: &str, most: usize) -> &str {
    let head = text.get(..text.floor_char_boundary(most));
    let (mut paragraphs, mut lines) = (0, 0);
    for line in head.unwrap_or_default().split_inclusive('\n') {
        if !line.ends_with('\n') {
            break;
        }
        if line.trim().is_empty() {
            paragraphs = lines;
        }
        lines += line.len();
    }
    let end = if paragraphs < most / 2 {
        lines
    } else {
        paragraphs
    };
    text.get(..end).unwrap_or_default()
}

/// The names that a file defines, those at its top first; names that are meant for itself are not
/// told.
fn names_of(definitions: &[Definition]) -> String {
    let told = |definition: &&Definition| !definition.name.starts_with('_');
    let is_top = |definition: &&Definition| definition.parent.is_empty();
    let top = definitions.iter().filter(is_top).filter(told);
    let inner = definitions.iter().filter(|d| !is_top(d)).filter(told);
    let mut names: Vec<&str> = Vec::new();
    for definition in top.chain(inner) {
        if !names.contains(&definition.name.as_str()) {
            names.push(&definition.name);
        }
    }
    // In most languages a type begins with a capital, and a constant has nothing else.
    let is_type = |name: &&str| {
        name.starts_with(|c: char| c.is_uppercase()) && name.contains(|c: char| c.is_lowercase())
    };
    names.sort_by_key(|name| !is_type(name));
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    let more = if more > 0 {
        format!(", … {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", names.join(", "))
}

const MOST_NAMES: usize = 16;

/// The outline, and the path with the names that the file defines; the whole only where it is hardly
/// longer.
fn outline(chunk: &mut ContextChunk, most: usize, share: u64, names: &str) {
    let length_at = |detail: Detail| {
        let level = chunk.levels.iter().find(|level| level.level == detail);
        level.map(|level| level.content.len())
    };
    let whole = length_at(Detail::Full).unwrap_or_default();
    // A short file may have nothing that an outline could leave out.
    let length = length_at(Detail::Outline).unwrap_or(whole);
    chunk.levels.retain(|level| match level.level {
        Detail::Full => whole <= length + length / 4,
        Detail::Slice => false,
        _ => true,
    });
    for level in &mut chunk.levels {
        level.coverage = Coverage::from_permille(1_000);
        if level.level == Detail::Line {
            level.coverage = Coverage::from_permille(250);
            if !names.is_empty() {
                level.content = format!("{}: {names}", chunk.source);
            }
        }
    }
    // A long outline tells more, up to a point: without that many small files would always be worth
    // more.
    let length = (length.min(most) as u64 * 1_000_000) / (most.max(1) as u64);
    let relevance = share * share / 1_000_000 * length.isqrt() / 1_000;
    chunk.relevance = Relevance::from_ppm(u32::try_from(relevance).unwrap_or(u32::MAX));
}

/// In parts per million.
fn share(score: i64, best: i64) -> u64 {
    u64::try_from(score.max(0) * 1_000_000 / best).unwrap_or_default()
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The part of the project: its first two folders.
fn part(path: &str) -> &str {
    let ends = path.match_indices('/').map(|(at, _)| at);
    ends.take(2)
        .last()
        .and_then(|end| path.get(..end))
        .unwrap_or_default()
}

/// Where programs and libraries begin.
const BEGINNINGS: &[&str] = &[
    "main",
    "lib",
    "app",
    "application",
    "cli",
    "server",
    "index",
    "__main__",
    "manage",
    "program",
];

/// What the rest of a folder is often built on.
#[rustfmt::skip]
const CENTRES: &[&str] = &[
    "api", "base", "client", "config", "context", "core", "engine", "handler", "models", "router", "routes", "schema",
    "service", "store", "types",
];

/// What lists the rest of a folder.
const LISTS: &[&str] = &["__init__", "mod", "package", "doc"];

/// Folders that hold tables, copies and what is made.
#[rustfmt::skip]
const ASIDE: &[&str] = &[
    "assets",
    "benches",
    "benchmarks",
    "data",
    "generated",
    "i18n",
    "l10n",
    "locale",
    "locales",
    "migrations",
    "public",
    "static",
    "templates",
    "translations",
    "vendor",
];
