//! The files of a survey as chunks: scored, with their levels.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use kitbag_core::chunk::{
    ChunkId, ChunkType, ContextChunk, ContextPriority, Detail, Level, Relevance,
};
use kitbag_core::rank::{Prioritizer, RankTask, RankedChunk, Score, ScoreWeights};
use kitbag_core::tokens::TokenCounter;
use kitbag_workspace::language::Language;
use kitbag_workspace::levels::{Depth, WithTest};
use kitbag_workspace::relevance::Reach;
use kitbag_workspace::survey::{Candidate, RankedFile, Relation, Survey};
use kitbag_workspace::syntax::UnitKind;
use kitbag_workspace::walk::{FileEntry, FileRole};
use kitbag_workspace::workspace::Workspace;
use rayon::prelude::*;
use serde_json::Value;

use super::{Excluded, PackOptions, Prepared, everything, named, overview};
use crate::engine::{Clean, Redaction, clean_file};

/// The built-in prioritizer of a pack: the usual weights, and for a file also what retrieval found,
/// in thousandths of the best possible hit in contents.
#[derive(Debug, Clone, Default)]
pub struct Retrieval {
    weights: ScoreWeights,
}

impl Prioritizer for Retrieval {
    fn score(&self, chunk: &ContextChunk, task: &RankTask) -> Score {
        let score = self.weights.score(chunk, task);
        match task.evidence.get(&chunk.id) {
            Some(evidence) => joined(score, evidence),
            None => score,
        }
    }
}

/// A score with what retrieval found behind its own parts. Both tell how recent a file is, which
/// counts once.
pub(super) fn joined(score: Score, evidence: &Score) -> Score {
    let parts = evidence.parts().iter();
    let parts = parts.filter(|part| part.name != "recency");
    parts.fold(score, |score, part| {
        score.plus(part.name.clone(), part.value)
    })
}

/// The chunk of a file, and the secrets that were replaced in it.
pub(super) struct FileChunk {
    pub(super) ranked: RankedChunk,
    pub(super) redacted: Vec<Redaction>,
    /// The lines that a stack trace names.
    located: Vec<u32>,
    /// The functions in it that are no parts of longer ones, by their lines.
    functions: Vec<(u32, u32)>,
    test: Option<TestOf>,
    /// The whole function of a test that is its best model.
    model: Option<Level>,
    /// Of source with tests inside its parts with one of them.
    with_test: Vec<WithTest>,
}

/// The code that a test tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TestOf {
    /// Some code of the project.
    Any,
    /// One of the best files.
    Best,
}

impl FileChunk {
    pub(super) fn is_pinned(&self) -> bool {
        self.ranked.chunk.priority == ContextPriority::Critical
    }

    pub(super) fn test(&self) -> Option<TestOf> {
        self.test
    }

    pub(super) fn model(&self) -> Option<&Level> {
        self.model.as_ref()
    }

    pub(super) fn with_test(&self) -> &[WithTest] {
        &self.with_test
    }

    /// Returns true for a level that shows a whole function.
    pub(super) fn shows_a_function(&self, level: &Level) -> bool {
        self.functions.iter().any(|&(first, last)| {
            let mut lines = level.lines.iter();
            lines.any(|&(from, to)| from <= first && last <= to)
        })
    }

    /// Makes it critical at these levels; the score says why.
    pub(super) fn pin(&mut self, reason: &'static str, bonus: i64, levels: Vec<Level>) {
        let chunk = &mut self.ranked.chunk;
        let more = ContextPriority::Critical.score() - chunk.priority.score() + bonus;
        chunk.priority = ContextPriority::Critical;
        chunk.levels = levels;
        self.ranked.score = std::mem::take(&mut self.ranked.score).plus(reason, more);
    }
}

/// A file that the survey looked at, with its text as it may be shown.
pub(super) struct ReadFile<'a> {
    pub(super) entry: &'a FileEntry,
    pub(super) candidate: &'a Candidate,
    pub(super) text: Clean<'a>,
    /// The evidence of retrieval; none for a file that was only pinned.
    pub(super) evidence: Score,
    pub(super) priority: ContextPriority,
    relation: Option<Relation>,
    /// When it was last changed, in seconds since 1970.
    modified: Option<i64>,
    /// The lines that must be in, where not all of it must.
    part: Option<Level>,
}

impl ReadFile<'_> {
    pub(super) fn is_pinned(&self) -> bool {
        self.priority == ContextPriority::Critical
    }

    /// The code that it tests, if it is a test: what tests only need is no model of one.
    fn test(&self) -> Option<TestOf> {
        if self.entry.path.split('/').any(only_serves_tests) {
            return None;
        }
        match self.relation {
            Some(Relation::Test) => Some(TestOf::Best),
            _ => (self.entry.role == FileRole::Test).then_some(TestOf::Any),
        }
    }

    /// The chunk with the whole text as its only level.
    pub(super) fn chunk(&self) -> ContextChunk {
        let mut chunk =
            ContextChunk::new(ChunkType::File, self.entry.path.as_str(), &*self.text.text)
                .with_priority(self.priority);
        let language = self.candidate.parsed.syntax.language.map(Language::name);
        let relation = self.relation.map(Relation::as_str);
        let known = [
            ("language", language.map(Value::from)),
            ("last_modified", self.modified.map(Value::from)),
            ("relation", relation.map(Value::from)),
        ];
        for (name, value) in known {
            chunk
                .metadata
                .extend(value.map(|value| (name.into(), value)));
        }
        chunk
    }

    /// The chunk with its levels, of which those stay that may fit.
    pub(super) fn finish(
        self,
        mut chunk: ContextChunk,
        score: Score,
        options: &PackOptions,
    ) -> FileChunk {
        // A token has rarely more than a dozen bytes: what is larger than that cannot fit.
        let budget = usize::try_from(options.budget.0).unwrap_or(usize::MAX);
        let most = budget.saturating_mul(16);
        let test = self.test();
        if let Some(part) = self.part {
            chunk.levels = vec![part];
        }
        chunk.levels.retain(|level| level.content.len() <= most);
        if options.line_numbers {
            let levels = chunk.levels.iter_mut();
            levels.for_each(|level| number(level, &self.text.text));
        }
        let mut ranked = RankedChunk::from(chunk);
        ranked.score = score;
        FileChunk {
            ranked,
            redacted: self.text.redacted,
            located: self.candidate.located.clone(),
            functions: match test {
                Some(_) => functions(self.candidate),
                None => Vec::new(),
            },
            test,
            model: None,
            with_test: Vec::new(),
        }
    }
}

/// Tells by a part of a path that a file holds what tests need, and none of them.
fn only_serves_tests(part: &str) -> bool {
    let name = part.trim_matches('_').to_ascii_lowercase();
    SERVES_TESTS.contains(&name.as_str())
}

#[rustfmt::skip]
const SERVES_TESTS: [&str; 14] = [
    "cassettes", "conftest.py", "fixture", "fixtures", "golden", "goldens", "mocks", "snapshots", "test-data",
    "test-fixtures", "test_data", "test_fixtures", "testdata", "testfixtures",
];

/// The functions of a file that were not cut, by their lines.
fn functions(candidate: &Candidate) -> Vec<(u32, u32)> {
    let units = candidate.parsed.syntax.units.iter();
    let whole = units.filter(|unit| unit.kind == UnitKind::Function && !unit.part);
    whole.map(|unit| (unit.first, unit.last)).collect()
}

/// Reads the candidates of a survey. Whoever scores them sees what would be shown, and no secret.
fn read<'a>(prepared: &'a Prepared, options: &PackOptions) -> Vec<ReadFile<'a>> {
    let (survey, files) = (&prepared.survey, prepared.workspace.files());
    let ranked: HashMap<usize, &RankedFile> = by_file(survey);
    let read = |candidate: &'a Candidate| {
        let entry = files.get(candidate.file)?;
        let mut pins = options.pins.iter().map(String::as_str);
        let is_pinned = prepared
            .pinned()
            .chain(&mut pins)
            .any(|pin| pin == entry.path);
        let ranked = ranked.get(&candidate.file).copied();
        let text = clean_file(&entry.path, &candidate.text, &candidate.parsed);
        let asked_whole = options.pins.contains(&entry.path);
        let part = prepared.pins.level(&entry.path, &text.text);
        Some(ReadFile {
            entry,
            candidate,
            part: part.filter(|_| !asked_whole),
            text,
            evidence: ranked
                .map(|ranked| ranked.score.clone())
                .unwrap_or_default(),
            priority: match is_pinned {
                true => ContextPriority::Critical,
                false => priority_of(prepared, entry.role, ranked),
            },
            relation: ranked.and_then(|ranked| ranked.relation),
            modified: prepared.last_change(&entry.path),
        })
    };
    survey
        .candidates
        .par_iter()
        .with_max_len(1)
        .filter_map(read)
        .collect()
}

/// The chunks of the files, and what has no place among them.
pub(super) fn chunks(
    prepared: &Prepared,
    options: &PackOptions,
    counter: &dyn TokenCounter,
) -> (Vec<FileChunk>, Vec<Excluded>) {
    let files = read(prepared, options);
    let mut weights = options.depth.clone();
    if options.prioritizer.is_some() {
        // Somebody else's score counts alone, not the size of a file.
        weights.mass = 0.0;
    }
    if prepared.request.is_all {
        return (
            everything::chunks(files, options, &prepared.rank_task),
            Vec::new(),
        );
    }
    let depth = Depth::of(&prepared.survey.candidates, &weights);
    if prepared.is_overview && options.prioritizer.is_none() {
        return overview::chunks(files, options, &depth);
    }
    let mut chunks = for_task(options, &prepared.rank_task, files, &depth);
    named::pin(prepared, &mut chunks, options, counter);
    if prepared.strategy.shows_a_test {
        named::pin_a_test(prepared, &mut chunks, options, counter);
    }
    if prepared.strategy.locations_are_critical {
        show_locations(&mut chunks, options);
    }
    (chunks, Vec::new())
}

fn for_task(
    options: &PackOptions,
    task: &RankTask,
    files: Vec<ReadFile<'_>>,
    depth: &Depth<'_>,
) -> Vec<FileChunk> {
    let scored: Vec<(ReadFile<'_>, ContextChunk, Score, i64)> = files
        .into_par_iter()
        .with_max_len(1)
        .map(|file| {
            let chunk = file.chunk();
            let score = options.score(&chunk, task);
            // Retrieval tells better how likely a file is needed than the other parts of a score
            // do; with somebody else's score there is no telling them apart.
            let likely = match options.prioritizer {
                Some(_) => score.total() - chunk.priority.score(),
                None => file.evidence.total(),
            };
            (file, chunk, score, likely)
        })
        .collect();
    let best = scored.iter().map(|(.., likely)| *likely).max();
    let best = best.unwrap_or_default().max(1);
    let source = scored
        .iter()
        .filter(|(file, ..)| file.entry.role == FileRole::Source);
    let mut source: Vec<(Reverse<i64>, &str)> = source
        .map(|(file, .., likely)| (Reverse(*likely), file.entry.path.as_str()))
        .collect();
    source.sort_unstable();
    source.truncate(WITH_INNER_TESTS);
    let source: Vec<String> = source.iter().map(|(_, path)| (*path).to_owned()).collect();
    scored
        .into_par_iter()
        .with_max_len(1)
        .map(|(file, mut chunk, score, likely)| {
            let mut share = likely.max(0) as f64 / best as f64;
            if !file.candidate.located.is_empty() {
                // A stack trace leads to it, whatever its words are.
                share = share.max(LOCATED);
            }
            if file.candidate.named {
                // Whatever its role takes away: somebody wrote down its name.
                share = 1.0;
            } else if file.candidate.units.iter().any(|unit| unit.named) {
                share = share.max(options.depth.named_share);
            }
            let mut relevance = depth.relevance(file.candidate, share);
            if share * share * 1e6 >= f64::from(options.floor_ppm) {
                // That a file is short keeps it above the floor.
                relevance = relevance.max(options.floor_ppm);
            }
            chunk.relevance = Relevance::from_ppm(relevance);
            if file.is_pinned() {
                // Whoever pins a file wants to see it, whatever the task says.
                share = 1.0;
                chunk.relevance = Relevance::CERTAIN;
            }
            chunk.levels = depth.levels(file.candidate, &file.text.text, &chunk.source, share);
            let is_test = file.test().is_some();
            let model = || depth.model(file.candidate, &file.text.text, &chunk.source);
            let mut model = is_test.then(model).flatten();
            if let Some(level) = model.as_mut().filter(|_| options.line_numbers) {
                number(level, &file.text.text);
            }
            let mut with_test = Vec::new();
            if source.contains(&chunk.source) {
                let (text, path) = (&file.text.text, &chunk.source);
                with_test = depth.with_inner_test(file.candidate, text, path, &chunk.levels);
            }
            if options.line_numbers {
                let levels = with_test.iter_mut().map(|with| &mut with.level);
                levels.for_each(|level| number(level, &file.text.text));
            }
            FileChunk {
                model,
                with_test,
                ..file.finish(chunk, score, options)
            }
        })
        .collect()
}

/// The best files whose own tests may be the model of one.
const WITH_INNER_TESTS: usize = 3;

/// The least share of the best score that a file has which a stack trace names.
const LOCATED: f64 = 0.5;

/// Makes the files critical that a stack trace names, at levels that show a line of it. The likeliest
/// come first, and all of them take about a quarter of the budget at most, so that a trace of a
/// hundred frames leaves room for the rest.
fn show_locations(chunks: &mut [FileChunk], options: &PackOptions) {
    let is_located = |file: &&mut FileChunk| !file.located.is_empty() && !file.is_pinned();
    let mut located: Vec<&mut FileChunk> = chunks.iter_mut().filter(is_located).collect();
    located.sort_by_key(|file| {
        let chunk = &file.ranked.chunk;
        (Reverse(chunk.relevance), chunk.source.clone())
    });
    // A token has about four bytes: as many bytes as tokens are a quarter of the budget.
    let mut room = usize::try_from(options.budget.0).unwrap_or(usize::MAX);
    for file in located {
        let shows = |level: &&Level| {
            let within = |line: &u32| {
                let mut ranges = level.lines.iter();
                ranges.any(|(first, last)| (first..=last).contains(&line))
            };
            !matches!(level.level, Detail::Outline | Detail::Line)
                && file.located.iter().any(within)
        };
        let chunk = &file.ranked.chunk;
        let levels: Vec<Level> = chunk.levels.iter().filter(shows).cloned().collect();
        let shortest = levels.iter().map(|level| level.content.len()).min();
        let Some(left) = shortest.and_then(|shortest| room.checked_sub(shortest)) else {
            continue;
        };
        room = left;
        file.pin("location", 0, levels);
    }
}

/// The priority of a file that nobody pinned.
pub(super) fn priority_of(
    prepared: &Prepared,
    role: FileRole,
    ranked: Option<&RankedFile>,
) -> ContextPriority {
    // Without a task nothing is related to it.
    let Some(ranked) = ranked.filter(|_| !prepared.is_overview) else {
        return ContextPriority::Medium;
    };
    match (ranked.reach, role) {
        (Reach::Named, _) => ContextPriority::High,
        (Reach::Imports, _) => ContextPriority::Minimal,
        (_, FileRole::Source) => ContextPriority::High,
        (_, FileRole::Test) if prepared.strategy.about_tests => ContextPriority::High,
        (_, FileRole::Docs | FileRole::Example) => ContextPriority::Low,
        _ => ContextPriority::Medium,
    }
}

/// Everything known about each relevant file.
fn by_file(survey: &Survey) -> HashMap<usize, &RankedFile> {
    let ranked = survey.ranked.iter();
    ranked.map(|ranked| (ranked.file, ranked)).collect()
}

/// The evidence of retrieval for the files that were parsed.
pub(super) fn evidence(survey: &Survey, workspace: &Workspace) -> BTreeMap<ChunkId, Score> {
    let known = by_file(survey);
    let candidates = survey.candidates.iter();
    let found = candidates.filter_map(|candidate| {
        let path = &workspace.files().get(candidate.file)?.path;
        let id = ChunkId::new(&ChunkType::File, path);
        Some((id, known.get(&candidate.file)?.score.clone()))
    });
    found.collect()
}

/// Puts the number of each line of the source before it.
fn number(level: &mut Level, text: &str) {
    let Some((_, last)) = level.lines.last() else {
        return;
    };
    let width = last.to_string().len();
    let lines: Vec<&str> = text.split('\n').collect();
    let source = |number: u32| {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        Some((number, *lines.get(index)?))
    };
    let shown = level.lines.iter().flat_map(|&(first, last)| first..=last);
    let mut shown = shown.filter_map(source).peekable();
    let mut numbered = String::with_capacity(level.content.len() * 5 / 4);
    for line in level.content.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        match shown.next_if(|(_, source)| *source == bare) {
            Some((number, _)) => numbered.push_str(&format!("{number:>width$} {line}")),
            None => numbered.push_str(&format!("{:width$} {line}", "")),
        }
    }
    level.content = numbered;
}
