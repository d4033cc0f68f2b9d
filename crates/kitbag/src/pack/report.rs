//! What a pack tells about itself. No time, no cache state, no path of the machine.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::assembly::{Assembly, Reason};
use kitbag_core::chunk::{ChunkType, Detail};
use kitbag_core::envelope::TaskType;
use kitbag_core::rank::{RankedChunk, Score, ScorePart};
use kitbag_core::tokens::Tokens;
use kitbag_workspace::survey::Survey;
use kitbag_workspace::workspace::Workspace;
use serde::Serialize;

use super::Prepared;
use crate::redaction::{self, Redaction};

/// A prompt with everything that was decided for it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Pack {
    /// The prompt.
    pub prompt: String,
    /// Its tokens.
    pub tokens: Tokens,
    /// The most it may have.
    pub budget: Tokens,
    /// What counted.
    pub tokenizer: String,
    /// Every file that the task has anything to do with, the best first. With a prioritizer of one's
    /// own, first the files that it scored, by its scores, and then the others.
    pub ranked: Vec<RankedSource>,
    /// How many chunks there were to choose from.
    pub considered: usize,
    /// What is in the prompt, in its order.
    pub chunks: Vec<PackedChunk>,
    /// What was considered and is not in.
    pub excluded: Vec<Excluded>,
    /// The secrets that were replaced in what is shown.
    pub redacted: Vec<Redaction>,
    /// What kind of task it was taken for; none where nothing is asked.
    pub task_type: Option<TaskType>,
    /// The words that told so, where it was not given.
    pub inferred_from: Option<Vec<String>>,
    /// What did not go as asked.
    pub problems: Vec<String>,
    /// The share of the budget that is used, from 0 to 1.
    pub utilization: f64,
    /// How near to the best possible choice it is, from 0 to 1: a bound, not a guess.
    pub bound: f64,
}

/// A file with its score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RankedSource {
    /// Its path.
    pub source: String,
    /// Its score.
    pub score: i64,
    /// What the score is made of.
    pub parts: Vec<ScorePart>,
}

/// A chunk that is in the prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PackedChunk {
    /// Where it comes from.
    pub source: String,
    /// What it is.
    pub chunk_type: ChunkType,
    /// How much of it is shown.
    pub level: Detail,
    /// The lines that are shown.
    pub lines: Vec<(u32, u32)>,
    /// What it costs.
    pub tokens: Tokens,
    /// Its score.
    pub score: i64,
    /// What the score is made of.
    pub parts: Vec<ScorePart>,
    /// Why it is in.
    pub reason: Reason,
}

/// A chunk or a file that is not in the prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Excluded {
    /// Where it comes from.
    pub source: String,
    /// Why it is out.
    pub reason: Cow<'static, str>,
}

impl Excluded {
    pub(super) fn new(source: impl Into<String>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            source: source.into(),
            reason: reason.into(),
        }
    }
}

/// Why a file is out that has to do with the task.
const PASSED_OVER: &str = "too many files rank above it to look at it closely";

impl RankedSource {
    fn new(path: &str, score: &Score) -> Self {
        Self {
            source: path.to_owned(),
            score: score.total(),
            parts: score.parts().to_vec(),
        }
    }
}

/// The files of a survey in the order of their scores: those that a prioritizer gave, or those of
/// the survey.
pub(super) fn ranked(
    survey: &Survey,
    workspace: &Workspace,
    decided: Option<&[RankedChunk]>,
) -> Vec<RankedSource> {
    let decided = decided.unwrap_or_default().iter();
    let mut ranked: Vec<RankedSource> = decided
        .map(|ranked| RankedSource::new(&ranked.chunk.source, &ranked.score))
        .collect();
    ranked.sort_by(|a, b| (b.score, &a.source).cmp(&(a.score, &b.source)));
    let known: BTreeSet<String> = ranked.iter().map(|file| file.source.clone()).collect();
    ranked.extend(survey.ranked.iter().filter_map(|ranked| {
        let path = &workspace.files().get(ranked.file)?.path;
        (!known.contains(path)).then(|| RankedSource::new(path, &ranked.score))
    }));
    ranked
}

impl Pack {
    /// What was decided, without the prompt, and with at most so many entries of each list.
    #[must_use]
    pub fn brief(&self, most: usize) -> Self {
        fn first<T: Clone>(list: &[T], most: usize) -> Vec<T> {
            list.iter().take(most).cloned().collect()
        }
        Self {
            prompt: String::new(),
            tokens: self.tokens,
            budget: self.budget,
            tokenizer: self.tokenizer.clone(),
            ranked: first(&self.ranked, most),
            considered: self.considered,
            chunks: first(&self.chunks, most),
            excluded: first(&self.excluded, most),
            redacted: first(&self.redacted, most),
            task_type: self.task_type,
            inferred_from: self.inferred_from.clone(),
            problems: first(&self.problems, most),
            utilization: self.utilization,
            bound: self.bound,
        }
    }

    pub(super) fn new(
        assembly: Assembly,
        prepared: &Prepared,
        ranked: Vec<RankedSource>,
        mut redacted: Vec<Redaction>,
        problems: Vec<String>,
    ) -> Self {
        let (survey, workspace) = (&prepared.survey, &prepared.workspace);
        let entries = assembly.ledger.entries.iter();
        let entries: BTreeMap<_, _> = entries.map(|entry| (&entry.id, entry)).collect();
        let chunks = assembly.kept.iter().map(|kept| {
            let (score, reason) = entries
                .get(&kept.id)
                .map_or((Score::default(), Reason::Chosen), |entry| {
                    (entry.score.clone(), entry.reason)
                });
            PackedChunk {
                source: kept.source.clone(),
                chunk_type: kept.chunk_type.clone(),
                level: kept.detail,
                lines: kept.lines.clone(),
                tokens: kept.tokens,
                score: score.total(),
                parts: score.parts().to_vec(),
                reason,
            }
        });
        let chunks: Vec<PackedChunk> = chunks.collect();
        redacted.retain(|redaction| {
            if redaction.source == redaction::TASK {
                return true;
            }
            let shows = |chunk: &PackedChunk| {
                chunk.source == redaction.source && redaction.is_in(chunk.level, &chunk.lines)
            };
            chunks.iter().any(shows)
        });
        redaction::cap(&mut redacted);
        let out = assembly
            .ledger
            .entries
            .iter()
            .filter(|entry| entry.level.is_none());
        let mut excluded: Vec<Excluded> = out
            .map(|entry| Excluded {
                source: entry.source.clone(),
                reason: entry.reason.to_string().into(),
            })
            .collect();
        let looked_at: BTreeSet<usize> = survey
            .candidates
            .iter()
            .map(|candidate| candidate.file)
            .collect();
        let passed_over = survey
            .ranked
            .iter()
            .filter(|ranked| !looked_at.contains(&ranked.file))
            .filter_map(|ranked| workspace.files().get(ranked.file));
        excluded.extend(passed_over.map(|file| Excluded {
            source: file.path.clone(),
            reason: PASSED_OVER.into(),
        }));
        let skipped = workspace.skipped().iter().chain(&survey.skipped);
        excluded.extend(skipped.map(|skipped| Excluded {
            source: skipped.path.clone(),
            reason: skipped.reason.to_string().into(),
        }));
        let problems = problems
            .iter()
            .chain(workspace.problems())
            .chain(&survey.problems);
        let problems = problems
            .chain(&prepared.gathered.problems)
            .cloned()
            .chain(assembly.ledger.problems.iter().map(ToString::to_string));
        let problems = problems.collect();
        let fit = &assembly.ledger.fit;
        Self {
            utilization: f64::from(assembly.tokens.0) / f64::from(fit.budget.0.max(1)),
            bound: f64::from(fit.ratio_ppm) / 1e6,
            tokens: assembly.tokens,
            budget: fit.budget,
            tokenizer: assembly.tokenizer.clone(),
            ranked,
            considered: fit.chunks_in,
            chunks,
            excluded,
            redacted,
            task_type: prepared.task_type,
            inferred_from: prepared.cues.clone(),
            problems,
            prompt: assembly.body,
        }
    }
}
