//! The overview of a project for an empty task: its introduction, and the outlines of the files where a
//! newcomer would begin.
//!
//! Activity in git, the name, the size and the place of a file say how prominent it is; of the files
//! of one folder each further one counts less, so that more of the project is seen. Tests, examples,
//! data and settings are no part of it.

use std::cmp::Reverse;
use std::collections::HashMap;

use kitbag_core::chunk::{ContextChunk, ContextPriority, Coverage, Detail, Level, Relevance};
use kitbag_core::rank::Score;
use kitbag_workspace::levels::{self, Depth};
use kitbag_workspace::syntax::Definition;
use kitbag_workspace::walk::{FileEntry, FileRole};
use kitbag_workspace::workspace::Workspace;
use rayon::prelude::*;

use super::files::{FileChunk, ReadFile};
use super::{Excluded, PackOptions};

/// The number of source files that are read, whatever their activity in git.
const LANDMARKS: usize = 120;

/// The files to look at: what introduces the project, and its most prominent source.
pub(super) fn landmarks(workspace: &Workspace) -> Vec<String> {
    let files = workspace.files();
    let guides = files.iter().filter(|file| is_guide(&file.path));
    let guides = guides.map(|file| file.path.as_str());
    let sources = files.iter().filter(|file| file.role == FileRole::Source);
    // Without activity, which the survey judges: these files are read whatever git says of them.
    let prominence = |file: &FileEntry| prominence(&file.path, file.size, 0).total();
    let mut sources: Vec<(Reverse<i64>, &str)> = sources
        .map(|file| (Reverse(prominence(file)), file.path.as_str()))
        .collect();
    sources.sort_unstable();
    // The best file of each folder comes before the second best of any, so that a large folder does not
    // take all the places.
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut placed: Vec<(usize, Reverse<i64>, &str)> = Vec::new();
    for (score, path) in sources {
        let before = seen.entry(folder(path)).or_default();
        placed.push((*before, score, path));
        *before += 1;
    }
    placed.sort_unstable();
    let sources = placed.into_iter().take(LANDMARKS).map(|(.., path)| path);
    guides.chain(sources).map(str::to_owned).collect()
}

/// The reason in the ledger for files that were read and have no place in an overview.
const LEFT_OUT: &str = "an overview leaves out tests, examples and data";

/// The chunks of an overview, with the levels that suit it, and the files that have no place in it.
pub(super) fn chunks(
    files: Vec<ReadFile<'_>>,
    options: &PackOptions,
    depth: &Depth<'_>,
) -> (Vec<FileChunk>, Vec<Excluded>) {
    let (shown, left_out): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| {
        let is_source = file.entry.role == FileRole::Source;
        file.is_pinned() || is_guide(&file.entry.path) || is_source
    });
    let left_out = left_out.iter();
    let left_out = left_out.map(|file| Excluded::new(file.entry.path.as_str(), LEFT_OUT));
    let scored = shown.into_iter().map(|file| {
        let parts = file.evidence.parts().iter();
        let activity = parts.filter(|part| part.name == "activity");
        let activity = activity.map(|part| part.value).sum();
        let score = prominence(&file.entry.path, file.entry.size, activity);
        (file, score)
    });
    let scored = spread(scored.collect());
    let best = scored.iter().map(|(_, score)| score.total()).max();
    // Relevance is a share of the best score; a divisor of zero is impossible.
    let best = best.unwrap_or_default().max(1);
    // A token has about four bytes: as many bytes as tokens are a quarter of the budget.
    let bytes = usize::try_from(options.budget.0).unwrap_or(usize::MAX);
    let chunks = scored.into_par_iter().map(|(file, mut score)| {
        let mut chunk = file.chunk();
        let text = &*file.text.text;
        if file.is_pinned() {
            chunk.relevance = Relevance::CERTAIN;
            chunk.levels = depth.levels(file.candidate, text, &chunk.source, 1.0);
        } else if is_readme(&chunk.source) {
            chunk.priority = ContextPriority::High;
            chunk.relevance = Relevance::CERTAIN;
            // More than the prominence of any file, so that it stands first in the prompt.
            score = score.plus("introduction", 2_000);
            chunk.levels = introduction(text, bytes);
            let line = Level::new(Detail::Line, chunk.source.as_str());
            chunk.levels.push(line);
        } else {
            outline(&mut chunk, &file, bytes / 2, share(score.total(), best));
        }
        file.finish(chunk, score, options)
    });
    (chunks.collect(), left_out.collect())
}

/// Tells whether a file introduces the project.
fn is_readme(path: &str) -> bool {
    stem(path).eq_ignore_ascii_case("readme") && !path.contains('/')
}

/// Tells whether a file is a text at the root that explains the project.
fn is_guide(path: &str) -> bool {
    let is_text = matches!(
        path.rsplit_once('.').map(|(_, extension)| extension),
        None | Some("md" | "rst" | "txt" | "adoc" | "markdown")
    );
    let name = stem(path).to_ascii_lowercase();
    is_text && is_among(&name, GUIDES) && !path.contains('/')
}

/// The prominence of a file, in thousandths, with its parts. `activity` is that of git.
fn prominence(path: &str, size: u64, activity: i64) -> Score {
    let parents: Vec<&str> = path.split('/').rev().skip(1).collect();
    let depth = i64::try_from(parents.len()).unwrap_or(i64::MAX).min(8);
    let name = match stem(path).to_ascii_lowercase().as_str() {
        name if is_among(name, BEGINNINGS) => 350,
        name if is_among(name, CENTRES) => 200,
        // Named as its folder, it speaks for it.
        name if parents.first().is_some_and(|folder| *folder == name) => 200,
        name if is_among(name, LISTS) => 100,
        _ => 0,
    };
    // From 0 for a kilobyte to 300 for 64 of them; larger is no better.
    let size_part = i64::from((size >> 10).max(1).ilog2().min(6)) * 50;
    // Deep down a name says less: each of many apps may have its `main`. Little can be in a small
    // file, but where there is nothing else it is shown.
    let (name, base) = match size {
        ..200 => (0, 10),
        _ => (name * (10 - depth) / 10, 50),
    };
    let score = Score::default()
        .plus("activity", activity.clamp(0, 1_000) * 6 / 10)
        .plus("name", name)
        .plus("size", size_part)
        .plus("base", base);
    let is_aside = |folder: &&str| {
        let folder = folder.to_ascii_lowercase();
        is_among(&folder, ASIDE) || folder.ends_with("_template")
    };
    let kept = if parents.iter().any(is_aside) {
        50
    } else {
        1_000 - depth * 60
    };
    let lost = score.total().max(0) * (1_000 - kept) / 1_000;
    score.plus("depth", -lost)
}

/// Sorts the files by score. Each further file of a folder counts less, and so does each of the same
/// part of the project.
fn spread(mut files: Vec<(ReadFile<'_>, Score)>) -> Vec<(ReadFile<'_>, Score)> {
    files.sort_by(|(a, a_score), (b, b_score)| {
        let order = b_score.total().cmp(&a_score.total());
        order.then_with(|| a.entry.path.cmp(&b.entry.path))
    });
    let mut seen: HashMap<String, u32> = HashMap::new();
    for (file, score) in &mut files {
        let mut kept = 1_000;
        let (inner, outer) = (folder(&file.entry.path), part(&file.entry.path));
        for (place, keeps) in [(inner, 700), (outer, 900)] {
            let before = seen.entry(place.to_owned()).or_default();
            // After a dozen files of one folder the factor is near zero anyway.
            for _ in 0..(*before).min(12) {
                kept = kept * keeps / 1_000;
            }
            *before += 1;
            // Near the root the folder is the part, and counts once.
            if inner == outer {
                break;
            }
        }
        let lost = score.total().max(0) * (1_000 - kept) / 1_000;
        *score = std::mem::take(score).plus("folder", -lost);
    }
    files
}

/// The text of a file, or its beginning where the whole is too long.
fn introduction(text: &str, most: usize) -> Vec<Level> {
    let from_first = |detail: Detail, text: &str| {
        let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        Level::new(detail, text).with_lines([(1, lines.max(1))])
    };
    let mut levels = Vec::new();
    if text.len() <= most {
        levels.push(from_first(Detail::Full, text));
    }
    // The first paragraphs of an introduction say most: half of it keeps four fifths of its worth.
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
    levels
}

/// The first paragraphs of a text, or its first lines where whole paragraphs are less than half of
/// what there is room for.
fn beginning(text: &str, most: usize) -> &str {
    let head = text.get(..text.floor_char_boundary(most));
    let (mut paragraphs, mut lines) = (0, 0);
    for line in head.unwrap_or_default().split_inclusive('\n') {
        // The limit cuts through this line.
        if !line.ends_with('\n') {
            break;
        }
        if line.trim().is_empty() {
            paragraphs = lines;
        }
        lines += line.len();
    }
    let are_enough = paragraphs >= most / 2;
    text.get(..if are_enough { paragraphs } else { lines })
        .unwrap_or_default()
}

/// The public names that a file defines, those at its top level first.
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
    // A stable sort: within types and others the order of the file stays.
    names.sort_by_key(|name| !is_type(name));
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    let names = names.join(", ");
    match more {
        0 => names,
        more => format!("{names}, … {more} more"),
    }
}

const MOST_NAMES: usize = 16;

/// Gives a chunk the outline, and the path with the names that the file defines; the whole only where
/// it is hardly longer.
fn outline(chunk: &mut ContextChunk, file: &ReadFile<'_>, most: usize, share: u64) {
    let text = &*file.text.text;
    let outline = levels::outline(file.candidate, text, &chunk.source);
    // The outline of a short file may leave nothing out; then there is none.
    let shortest = outline.as_ref();
    let length = shortest.map_or(text.len(), |level| level.content.len());
    let whole = std::mem::take(&mut chunk.levels).into_iter();
    let whole = whole.filter(|whole| whole.content.len() <= length + length / 4);
    chunk.levels = whole.chain(outline).collect();
    for level in &mut chunk.levels {
        // In an overview the outline is the goal and not a substitute, so that it is worth all of the file.
        level.coverage = Coverage::from_permille(1_000);
    }
    let line = match names_of(&file.candidate.parsed.syntax.definitions) {
        names if names.is_empty() => chunk.source.clone(),
        names => format!("{}: {names}", chunk.source),
    };
    let line = Level::new(Detail::Line, line).with_coverage(Coverage::from_permille(250));
    chunk.levels.push(line);
    // A long outline tells more, up to a point: otherwise many small files would always be worth
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

/// Texts that explain a project.
const GUIDES: &str = "readme architecture design overview";

/// Names of files where programs and libraries begin.
const BEGINNINGS: &str = "main lib app application cli server index __main__ manage program";

/// Names of files on which the rest of a folder is often built.
const CENTRES: &str = "api base client config context core engine handler models router routes \
                       schema service store types";

/// Names of files that list the rest of a folder.
const LISTS: &str = "__init__ mod package doc";

/// Folders of tables, copies and generated files, where little is written by hand.
const ASIDE: &str = "assets benches benchmarks data generated i18n l10n locale locales migrations \
                     public static templates translations vendor";

/// Tells whether a name is one of a list of words.
fn is_among(name: &str, words: &str) -> bool {
    words.split(' ').any(|word| word == name)
}
