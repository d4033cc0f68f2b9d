//! The last stage: a pack says why each thing is in or out. No time, no cache state, no path of the
//! machine.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use kitbag_core::assembly::{Assembly, Kept, LedgerEntry, Reason};
use kitbag_core::chunk::{ChunkId, ChunkType, Detail};
use kitbag_core::envelope::TaskType;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::rank::{Score, ScorePart};
use kitbag_core::tokens::Tokens;
use kitbag_workspace::survey::WordUse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chunks::Made;
use super::files::{FileChunk, joined};
use super::gathered::attachment_problem;
use super::{Prepared, files, redacted, unseen};
use crate::engine::{Composed, Redaction};
use crate::words::counted;

/// A prompt with its ledger, and what was decided on the way to it. As JSON it is its prompt and its
/// decisions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Pack {
    /// The prompt, as it is printed.
    prompt: String,
    /// The decisions: each source that is in or out, and why.
    #[serde(flatten)]
    pub decisions: Decisions,
    /// The prompt and its ledger, which has a line for every chunk and every problem.
    #[serde(skip)]
    pub assembly: Assembly,
}

impl Pack {
    /// The prompt.
    #[must_use]
    pub fn prompt(&self) -> &str {
        &self.prompt
    }
}

/// The decisions of a pack, as JSON has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Decisions {
    /// The task, where the pack is remembered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// The tokens of the prompt.
    #[schemars(with = "u32")]
    pub tokens: Tokens,
    /// The most it may have.
    #[schemars(with = "u32")]
    pub budget: Tokens,
    /// The tokenizer that counted.
    pub tokenizer: String,
    /// Every file that the task has anything to do with: those that were looked at closely by their
    /// scores, then the others.
    #[schemars(with = "Vec<Value>")]
    pub ranked: Vec<RankedSource>,
    /// The number of chunks to choose from.
    pub considered: usize,
    /// The chunks in the prompt, in its order.
    #[schemars(with = "Vec<Value>")]
    pub chunks: Vec<PackedChunk>,
    /// The folders and kinds that take the budget, the largest first.
    #[serde(default)]
    #[schemars(with = "Vec<Value>")]
    pub spent: Vec<Spent>,
    /// The sources that are not in the prompt: chunks by score, then the files that never became
    /// one.
    #[schemars(with = "Vec<Value>")]
    pub excluded: Vec<Excluded>,
    /// The secrets that were replaced in what is shown.
    #[schemars(with = "Vec<Value>")]
    pub redacted: Vec<Redaction>,
    /// The kind of task; none where nothing is asked.
    #[schemars(with = "Option<String>")]
    pub task_type: Option<TaskType>,
    /// The words that told so, where it was not given.
    pub inferred_from: Option<Vec<String>>,
    /// The words of the task that were looked for, the weightiest first.
    #[serde(default)]
    #[schemars(with = "Vec<Value>")]
    pub words: Vec<WordUse>,
    /// The problems.
    #[schemars(with = "Vec<Value>")]
    pub problems: Vec<Problem>,
    /// The share of the budget that is used, from 0 to 1.
    pub utilization: f64,
    /// The share of the best possible worth, from 0 to 1: a bound, not a guess.
    pub bound: f64,
    /// The lengths of the lists before they were cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub in_all: Option<InAll>,
}

/// The lengths of lists of which not all is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InAll {
    /// The files that were ranked.
    pub ranked: usize,
    /// The chunks in the prompt.
    pub chunks: usize,
    /// The chunks that are not in the prompt.
    pub excluded: usize,
}

impl Decisions {
    /// The lengths of the lists, whether they were cut or not.
    #[must_use]
    pub fn in_all(&self) -> InAll {
        self.in_all.unwrap_or(InAll {
            ranked: self.ranked.len(),
            chunks: self.chunks.len(),
            excluded: self.excluded.len(),
        })
    }

    /// The same with at most this many entries of each list.
    #[must_use]
    pub fn brief(mut self, most: usize) -> Self {
        // Counted before the lists are cut, so that a remembered pack can say how many are missing.
        self.in_all = Some(self.in_all());
        self.ranked.truncate(most);
        self.chunks.truncate(most);
        self.excluded.truncate(most);
        self.redacted.truncate(most);
        self.words.truncate(most);
        self.problems.truncate(most);
        self
    }
}

/// A file with its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RankedSource {
    /// Its path.
    pub source: String,
    /// Its score.
    pub score: i64,
    /// The parts of the score.
    pub parts: Vec<ScorePart>,
}

/// A chunk that is in the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PackedChunk {
    /// Where it comes from.
    pub source: String,
    /// Its kind.
    pub chunk_type: ChunkType,
    /// The level at which it is shown.
    pub level: Detail,
    /// The lines that are shown.
    pub lines: Vec<(u32, u32)>,
    /// Its tokens.
    pub tokens: Tokens,
    /// Its score.
    pub score: i64,
    /// The parts of the score.
    pub parts: Vec<ScorePart>,
    /// The reason why it is in.
    pub reason: Reason,
}

/// A chunk or a file that is not in the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Excluded {
    /// Where it comes from.
    pub source: String,
    /// The reason why it is out.
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

/// The tokens that the files of a folder take, or the chunks of another kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spent {
    /// The folder with a `/` at its end, a file at the root, or the kind of chunk.
    pub on: String,
    /// The number of chunks.
    pub chunks: usize,
    /// Their tokens.
    pub tokens: Tokens,
}

/// The tokens of the chunks by folder and kind, the largest sum first.
fn spent(chunks: &[PackedChunk]) -> Vec<Spent> {
    let mut sums: BTreeMap<&str, (usize, Tokens)> = BTreeMap::new();
    for chunk in chunks {
        // Files by folder, because a folder can be excluded; other kinds have no place in the tree.
        let on = match &chunk.chunk_type {
            ChunkType::File => match chunk.source.rfind('/') {
                Some(end) => chunk.source.get(..=end).unwrap_or_default(),
                None => chunk.source.as_str(),
            },
            other => other.as_str(),
        };
        let (count, tokens) = sums.entry(on).or_default();
        *count += 1;
        *tokens = tokens.saturating_add(chunk.tokens);
    }
    let spent = sums.into_iter().map(|(on, (chunks, tokens))| Spent {
        on: on.to_owned(),
        chunks,
        tokens,
    });
    let mut spent: Vec<Spent> = spent.collect();
    // The name decides between equal sums, so that the same pack prints the same report.
    spent.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.on.cmp(&b.on)));
    spent
}

/// The reason why a relevant file is out.
const PASSED_OVER: &str = "too many files rank above it to look at it closely";

/// The files that were looked at by their scores, then the others of the survey in its order. Of
/// those the priority and retrieval are all that is known.
pub(super) fn ranked(prepared: &Prepared, files: &[FileChunk]) -> Vec<RankedSource> {
    let source = |path: &str, score: &Score| RankedSource {
        source: path.to_owned(),
        score: score.total(),
        parts: score.parts().to_vec(),
    };
    let files = files.iter().map(|file| &file.ranked);
    let mut ranked: Vec<RankedSource> = files
        .map(|ranked| source(&ranked.chunk.source, &ranked.score))
        .collect();
    ranked.sort_by(|a, b| (b.score, &a.source).cmp(&(a.score, &b.source)));
    // A file that was looked at has its full score; the survey's would be another one.
    let known: BTreeSet<String> = ranked.iter().map(|file| file.source.clone()).collect();
    let others = prepared.survey.ranked.iter().filter_map(|other| {
        let file = prepared.workspace.files().get(other.file)?;
        let priority = files::priority_of(prepared, file.role, Some(other));
        let base = Score::default().plus("base", priority.score());
        let is_known = known.contains(&file.path);
        (!is_known).then(|| source(&file.path, &joined(base, &other.score)))
    });
    ranked.extend(others);
    ranked
}

/// Makes the report of a prompt.
pub(super) fn report(prepared: &Prepared, made: Made, composed: Composed) -> Pack {
    let prompt = composed.body().into_owned();
    let Composed {
        assembly,
        mut redacted,
        ..
    } = composed;
    let shown: HashMap<&str, _> = assembly
        .kept
        .iter()
        .map(|kept| (kept.source.as_str(), (kept.detail, kept.lines.as_slice())))
        .collect();
    // A secret in a part that is not shown was not replaced in anything that the reader sees.
    redacted.retain(|redaction| {
        let is_shown = shown.get(redaction.source.as_str());
        redaction.source == redacted::TASK
            || is_shown.is_some_and(|(level, lines)| redaction.is_in(*level, lines))
    });
    redacted::cap(&mut redacted);
    let entries = assembly.ledger.entries.iter();
    let out = entries.filter(|entry| entry.level.is_none());
    let out = out.map(|entry| Excluded::new(entry.source.as_str(), entry.reason.to_string()));
    let mut excluded: Vec<Excluded> = out.chain(passed_over(prepared)).collect();
    excluded.extend(made.excluded);
    let left_out = made.left_out.into_iter();
    excluded.extend(left_out.filter(|out| !shown.contains_key(out.source.as_str())));
    let chunks = packed(&assembly);
    let fit = &assembly.ledger.fit;
    let decisions = Decisions {
        task: String::new(),
        tokens: assembly.tokens,
        budget: fit.budget,
        tokenizer: assembly.tokenizer.clone(),
        ranked: made.ranked,
        considered: fit.chunks_in,
        spent: spent(&chunks),
        chunks,
        excluded,
        redacted,
        task_type: prepared.task_type,
        inferred_from: prepared.cues.clone(),
        words: prepared.survey.words.clone(),
        problems: assembly.ledger.problems.clone(),
        // A budget of nothing would divide by zero.
        utilization: f64::from(assembly.tokens.0) / f64::from(fit.budget.0.max(1)),
        bound: f64::from(fit.ratio_ppm) / 1e6,
        in_all: None,
    };
    tell(&decisions);
    Pack {
        prompt,
        decisions,
        assembly,
    }
}

/// The problems that only a finished prompt shows. `whole` is a budget that would show all of a change.
pub(super) fn problems(
    prepared: &Prepared,
    assembly: &Assembly,
    whole: Option<Tokens>,
) -> Vec<Problem> {
    let attachment = prepared.request.attachment.as_ref();
    let attachment = attachment.and_then(|attached| attachment_problem(attached, assembly));
    let change = prepared.change.as_ref().and_then(|change| {
        let named_only = change.named_only(assembly)?;
        Some(change.problem(&named_only, whole))
    });
    let found = [
        attachment,
        unseen::problem(assembly),
        left_unused(assembly),
        change,
    ];
    found.into_iter().flatten().collect()
}

/// The problem that a tenth of the budget or more is left, though there are files that have a word of the
/// task.
fn left_unused(assembly: &Assembly) -> Option<Problem> {
    let budget = assembly.ledger.fit.budget;
    let left = budget.saturating_sub(assembly.tokens);
    let entries = assembly.ledger.entries.iter();
    let is_below = |entry: &&LedgerEntry| matches!(entry.reason, Reason::BelowFloor { .. });
    let below = entries.filter(is_below).count();
    let message = format!(
        "{left} of {budget} tokens are left unused: {} more would be noise, with no more than a common word \
         of the task",
        counted(below as u64, "file", "files")
    );
    (below > 0 && u64::from(left.0) * 10 >= u64::from(budget.0))
        .then(|| Problem::new("", ProblemKind::LeftOut, message))
}

/// Tells the decision about each chunk.
fn tell(decisions: &Decisions) {
    for chunk in &decisions.chunks {
        tracing::debug!(
            event = "chunk_included",
            source = chunk.source,
            // `level` is that of the log.
            detail = chunk.level.as_str(),
            tokens = chunk.tokens.0,
            score = chunk.score,
            reason = %chunk.reason,
        );
    }
    for excluded in &decisions.excluded {
        tracing::debug!(
            event = "chunk_excluded",
            source = excluded.source,
            reason = &*excluded.reason
        );
    }
}

/// The chunks in the prompt, in its order.
fn packed(assembly: &Assembly) -> Vec<PackedChunk> {
    let entries = assembly.ledger.entries.iter();
    let entries: BTreeMap<&ChunkId, &LedgerEntry> =
        entries.map(|entry| (&entry.id, entry)).collect();
    let chunk = |kept: &Kept| {
        let entry = entries.get(&kept.id)?;
        Some(PackedChunk {
            source: kept.source.clone(),
            chunk_type: kept.chunk_type.clone(),
            level: kept.detail,
            lines: kept.lines.clone(),
            tokens: kept.tokens,
            score: entry.score.total(),
            parts: entry.score.parts().to_vec(),
            reason: entry.reason,
        })
    };
    assembly.kept.iter().filter_map(chunk).collect()
}

/// The files that the survey did not look at closely, and those that were skipped.
fn passed_over(prepared: &Prepared) -> impl Iterator<Item = Excluded> {
    let (survey, workspace) = (&prepared.survey, &prepared.workspace);
    let candidates = survey.candidates.iter();
    let looked_at: BTreeSet<usize> = candidates.map(|candidate| candidate.file).collect();
    let ranked = survey.ranked.iter();
    let passed_over = ranked
        .filter(move |ranked| !looked_at.contains(&ranked.file))
        .filter_map(|ranked| workspace.files().get(ranked.file))
        .map(|file| Excluded::new(file.path.as_str(), PASSED_OVER));
    // Two lists: the walk skips by name and size, the survey by content.
    let skipped = workspace.skipped().iter().chain(&survey.skipped);
    let skipped =
        skipped.map(|skipped| Excluded::new(skipped.path.as_str(), skipped.reason.to_string()));
    passed_over.chain(skipped)
}
