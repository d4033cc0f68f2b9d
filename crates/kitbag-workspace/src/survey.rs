//! Looks at a whole workspace for a task: scans, asks git, ranks, and parses the best.
//!
//! Scan all, parse few. Git's log is read beside the scan. What fails becomes a problem in the
//! result. The order of the result depends on the
//! tree and the task alone, never on threads.

mod candidate;
mod companions;
mod history;
mod judge;
mod locations;
mod named;
mod phrases;
mod scan;

use std::collections::BTreeSet;

use kitbag_core::problem::Problem;
use kitbag_core::rank::Score;
use serde::{Deserialize, Serialize};

pub(crate) use candidate::structure;
pub use candidate::{Candidate, UnitWorth};
pub use companions::{Companions, Relation};
pub use named::{NamedBy, NamedFile, UnresolvedPath};

use crate::cache::Cache;
use crate::matcher::Matcher;
use crate::query::Query;
use crate::relevance::{Reach, RelevanceWeights};
use crate::walk::Skipped;
use crate::workspace::Workspace;
use candidate::Loader;
use judge::Judge;
use locations::locations;
use scan::scan;

/// How a workspace is looked at.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SurveyOptions {
    /// Whether the task is about tests, which then count as much as other files.
    pub about_tests: bool,
    /// How much each kind of evidence counts.
    pub weights: RelevanceWeights,
    /// How many of the best files are looked at closely: parsed, unless they are so large that too
    /// little would be left for the others. Those are divided into windows.
    pub candidates: usize,
    /// Files that are looked at in any case.
    pub always: Vec<String>,
    /// What a change under review touches.
    pub changed: Vec<Changed>,
    /// The files that come along with the best ones.
    pub companions: Companions,
}

impl Default for SurveyOptions {
    fn default() -> Self {
        Self {
            about_tests: false,
            weights: RelevanceWeights::default(),
            candidates: 100,
            always: Vec::new(),
            changed: Vec::new(),
            companions: Companions::default(),
        }
    }
}

/// Parsing takes most of the time: so much of a candidate is parsed on average.
const BYTES_OF_A_CANDIDATE: u64 = 15_000;

/// A file that a change touches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// The file.
    pub path: String,
    /// The lines, as first and last, counted from 1.
    pub lines: Vec<(u32, u32)>,
}

impl Changed {
    /// A file with the lines that a change touches.
    #[must_use]
    pub fn new(path: impl Into<String>, lines: Vec<(u32, u32)>) -> Self {
        Self {
            path: path.into(),
            lines,
        }
    }
}

/// A workspace, ranked for a task.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Survey {
    /// The files with any evidence, the best first.
    pub ranked: Vec<RankedFile>,
    /// The best of them, parsed, in the same order.
    pub candidates: Vec<Candidate>,
    /// The words of the task that were looked for, the weightiest first.
    pub words: Vec<WordUse>,
    /// The files that the task names by a path, then those it names by a definition, in its order.
    pub named: Vec<NamedFile>,
    /// The paths of the task that mean no file, or could mean several.
    pub unresolved: Vec<UnresolvedPath>,
    /// What turned out to be no text, or none that is worth showing.
    pub skipped: Vec<Skipped>,
    /// What did not go as asked.
    pub problems: Vec<Problem>,
}

/// A file with its score.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankedFile {
    /// The file, as an index into [`Workspace::files`].
    pub file: usize,
    /// Its score by part, in thousandths.
    pub score: Score,
    /// How the task leads to it.
    pub reach: Reach,
    /// Its relation to the best files, where it has one.
    pub relation: Option<Relation>,
}

/// A word of a task, and the number of files that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WordUse {
    /// The stem, or the whole compound identifier, in lower case.
    pub word: String,
    /// The files with it.
    pub files: usize,
}

/// Looks at a workspace for a task.
#[must_use]
pub fn survey(
    workspace: &Workspace,
    query: &Query,
    options: &SurveyOptions,
    cache: &Cache,
) -> Survey {
    let files = workspace.files();
    let mut problems = Vec::new();
    let (log, scanned) = rayon::join(
        || {
            let repository = workspace.repository();
            repository.map_or(Ok(&[][..]), |repository| repository.history())
        },
        || scan(workspace, &Matcher::new(&query.terms), query),
    );
    let commits = log.unwrap_or_else(|error| {
        problems.push(Problem::failed("git log", error));
        &[]
    });
    let holders = named::holders(query, files, &scanned.documents);
    let mut judge = Judge::new(workspace, scanned.documents, commits, query, options);
    let loader = Loader {
        workspace,
        query,
        rarity: judge.rarity().to_vec(),
        cache,
        inner_tests: match options.about_tests {
            true => 1.0,
            false => options.weights.test,
        },
    };
    let changed = options.changed.iter().map(|changed| &changed.path);
    let asked_for = options.always.iter().chain(changed);
    let asked_for = asked_for.filter_map(|path| {
        let found = files.binary_search_by(|file| file.path.as_str().cmp(path));
        found.ok()
    });
    let located = locations(&query.frames, files);
    let (mut named, unresolved) = named::files(&query.names, files);
    let asked_for = asked_for.chain(located.keys().copied());
    let asked_for = asked_for.chain(named.iter().map(|named| named.file));
    // What was asked for is parsed first, and what may be shown next.
    let mut known = BTreeSet::new();
    let chosen: Vec<usize> = asked_for
        .chain(judge.best(options.candidates))
        .filter(|&file| known.insert(file))
        .collect();
    let mut bytes = options.candidates as u64 * BYTES_OF_A_CANDIDATE;
    let (mut candidates, paths) = rayon::join(
        || loader.load(&chosen, &mut bytes),
        || workspace.path_index(),
    );
    let mut defining = named::to_parse(&holders, || judge.best(usize::MAX));
    defining.retain(|file| !known.contains(file));
    let defining = loader.load_defining(&defining);
    known.extend(defining.iter().map(|candidate| candidate.file));
    candidates.extend(defining);
    for definition in named::mark(&query.names, files, &mut candidates) {
        if !named.iter().any(|named| named.file == definition.file) {
            named.push(definition);
        }
    }
    let wanted: Vec<usize> = named.iter().map(|named| named.file).collect();
    judge.look_closer(&candidates, paths);
    // What the best files import may be among the best itself, and what belongs to them comes along.
    let companions = judge.bring_along(&wanted, &candidates, paths);
    let parsed = loader.load_companions(&companions, &mut candidates);
    known.extend(parsed);
    let more = judge.best(options.candidates).into_iter().chain(companions);
    let more: Vec<usize> = more.filter(|&file| known.insert(file)).collect();
    if !more.is_empty() {
        candidates.extend(loader.load(&more, &mut bytes));
    }
    phrases::mark(query, &options.changed, files, &mut candidates);
    // What was loaded since has definitions too.
    for definition in named::mark(&query.names, files, &mut candidates) {
        if !named.iter().any(|named| named.file == definition.file) {
            named.push(definition);
        }
    }
    for candidate in &mut candidates {
        // By a definition only a part of the file is meant.
        let is_named =
            |named: &NamedFile| named.file == candidate.file && named.by == NamedBy::Path;
        candidate.named = named.iter().any(is_named);
        let lines = located.get(&candidate.file);
        candidate.located = lines.cloned().unwrap_or_default();
    }
    if !more.is_empty() {
        judge.look_closer(&candidates, paths);
    }
    let ranked = judge.ranked();
    sort_as(&ranked, &mut candidates);
    Survey {
        ranked,
        candidates,
        words: judge.words(),
        named,
        unresolved,
        skipped: scanned.skipped,
        problems,
    }
}

/// Puts the candidates in the order of the ranking.
fn sort_as(ranked: &[RankedFile], candidates: &mut [Candidate]) {
    let mut places = std::collections::HashMap::new();
    for (place, file) in ranked.iter().enumerate() {
        places.insert(file.file, place);
    }
    candidates.sort_by_key(|candidate| {
        let place = places.get(&candidate.file).copied();
        (place.unwrap_or(usize::MAX), candidate.file)
    });
}
