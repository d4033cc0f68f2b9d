//! The files of a survey as chunks: scored, with their levels.

use std::collections::{BTreeMap, HashMap};

use kitbag_core::chunk::{ChunkId, ChunkType, ContextChunk, ContextPriority, Level, Relevance};
use kitbag_core::rank::{Prioritizer, RankTask, RankedChunk, Score, ScoreWeights};
use kitbag_workspace::levels::Depth;
use kitbag_workspace::survey::{Candidate, Survey};
use kitbag_workspace::walk::{FileEntry, FileRole};
use kitbag_workspace::workspace::Workspace;
use rayon::prelude::*;

use super::{Excluded, PackOptions, Prepared, overview};
use crate::engine::{Clean, clean};
use crate::redaction::Redaction;

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

/// A score with the parts of another behind its own.
pub(super) fn joined(score: Score, other: &Score) -> Score {
    other.parts().iter().fold(score, |score, part| {
        score.plus(part.name.clone(), part.value)
    })
}

/// The chunk of a file, and the secrets that were replaced in it.
pub(super) struct FileChunk {
    pub(super) ranked: RankedChunk,
    pub(super) redacted: Vec<Redaction>,
}

impl FileChunk {
    pub(super) fn is_pinned(&self) -> bool {
        self.ranked.chunk.priority == ContextPriority::Critical
    }
}

/// A file that the survey looked at, with its text as it may be shown.
pub(super) struct ReadFile<'a> {
    pub(super) entry: &'a FileEntry,
    pub(super) candidate: &'a Candidate,
    pub(super) text: Clean<'a>,
    /// What retrieval found; nothing for a file that was only pinned.
    pub(super) evidence: Score,
    pub(super) priority: ContextPriority,
}

impl ReadFile<'_> {
    pub(super) fn is_pinned(&self) -> bool {
        self.priority == ContextPriority::Critical
    }

    /// The chunk with the whole text as its only level.
    pub(super) fn chunk(&self) -> ContextChunk {
        let mut chunk =
            ContextChunk::new(ChunkType::File, self.entry.path.as_str(), &*self.text.text)
                .with_priority(self.priority);
        if let Some(language) = self.candidate.syntax.language {
            let language = language.name().into();
            chunk.metadata.insert("language".into(), language);
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
        }
    }
}

/// Reads the candidates of a survey. Whoever scores them sees what would be shown, and no secret.
fn read<'a>(prepared: &'a Prepared, options: &PackOptions) -> Vec<ReadFile<'a>> {
    let (survey, files) = (&prepared.survey, prepared.workspace.files());
    let read = |candidate: &'a Candidate| {
        let entry = files.get(candidate.file)?;
        let pins = prepared.request.pins.iter().chain(&options.pins);
        let is_pinned = pins.into_iter().any(|pin| *pin == entry.path);
        let evidence = prepared.rank_task.evidence.get(&id_of(&entry.path));
        Some(ReadFile {
            entry,
            candidate,
            text: clean(&candidate.text, &entry.path),
            evidence: evidence.cloned().unwrap_or_default(),
            priority: match is_pinned {
                true => ContextPriority::Critical,
                false => priority_of(entry.role),
            },
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
) -> (Vec<FileChunk>, Vec<Excluded>) {
    let files = read(prepared, options);
    let mut weights = options.depth.clone();
    if options.prioritizer.is_some() {
        // Somebody else's score counts alone, not the size of a file.
        weights.mass = 0.0;
    }
    let depth = Depth::of(&prepared.survey.candidates, &weights);
    if prepared.is_overview && options.prioritizer.is_none() {
        return overview::chunks(files, options, &depth);
    }
    let task = &prepared.rank_task;
    (for_task(options, task, files, &depth), Vec::new())
}

fn for_task(
    options: &PackOptions,
    task: &RankTask,
    files: Vec<ReadFile<'_>>,
    depth: &Depth<'_>,
) -> Vec<FileChunk> {
    let usual = Retrieval::default();
    let prioritizer = options.prioritizer.as_deref().unwrap_or(&usual);
    let scored: Vec<(ReadFile<'_>, ContextChunk, Score, i64)> = files
        .into_par_iter()
        .with_max_len(1)
        .map(|file| {
            let chunk = file.chunk();
            let score = prioritizer.score(&chunk, task);
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
    scored
        .into_par_iter()
        .with_max_len(1)
        .map(|(file, mut chunk, score, likely)| {
            #[expect(clippy::cast_precision_loss, reason = "scores are small numbers")]
            let mut share = likely.max(0) as f64 / best as f64;
            chunk.relevance = Relevance::from_ppm(depth.relevance(file.candidate, share));
            if file.is_pinned() {
                // Whoever pins a file wants to see it, whatever the task says.
                share = 1.0;
                chunk.relevance = Relevance::CERTAIN;
            }
            chunk.levels = depth.levels(file.candidate, &file.text.text, &chunk.source, share);
            file.finish(chunk, score, options)
        })
        .collect()
}

/// The priority of a file that nobody pinned.
pub(super) fn priority_of(_role: FileRole) -> ContextPriority {
    ContextPriority::Medium
}

/// The id of the chunk of a file.
pub(super) fn id_of(path: &str) -> ChunkId {
    ChunkId::new(&ChunkType::File, path)
}

/// What retrieval found for the files that were looked at.
pub(super) fn evidence(survey: &Survey, workspace: &Workspace) -> BTreeMap<ChunkId, Score> {
    let known: HashMap<usize, &Score> = survey
        .ranked
        .iter()
        .map(|ranked| (ranked.file, &ranked.score))
        .collect();
    let candidates = survey.candidates.iter();
    let found = candidates.filter_map(|candidate| {
        let path = &workspace.files().get(candidate.file)?.path;
        Some((id_of(path), (*known.get(&candidate.file)?).clone()))
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
    let mut shown = level
        .lines
        .iter()
        .flat_map(|&(first, last)| first..=last)
        .peekable();
    let mut numbered = String::with_capacity(level.content.len() * 5 / 4);
    for line in level.content.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let source = |number: u32| {
            let index = usize::try_from(number)
                .unwrap_or_default()
                .saturating_sub(1);
            lines.get(index).copied()
        };
        match shown.next_if(|&number| source(number) == Some(bare)) {
            Some(number) => numbered.push_str(&format!("{number:>width$} {line}")),
            None => numbered.push_str(&format!("{:width$} {line}", "")),
        }
    }
    level.content = numbered;
}
