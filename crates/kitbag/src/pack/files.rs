//! The files of a survey as chunks: scored, with their levels.

use std::collections::HashMap;

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Level, Relevance};
use kitbag_core::rank::{Prioritizer, RankTask, RankedChunk, Score, ScoreWeights};
use kitbag_secrets::{Redacted, redact};
use kitbag_workspace::levels::{Depth, DepthWeights};
use kitbag_workspace::survey::{Candidate, Survey};
use kitbag_workspace::workspace::Workspace;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::Redaction;

/// The built-in prioritizer of a pack: the priority and what retrieval found for a file; for other
/// chunks the usual weights.
///
/// Retrieval leaves its parts in a chunk's metadata as `evidence`, in thousandths of the best
/// possible hit in contents.
#[derive(Debug, Clone, Default)]
pub struct Retrieval {
    weights: ScoreWeights,
}

impl Prioritizer for Retrieval {
    fn score(&self, chunk: &ContextChunk, task: &RankTask) -> Score {
        let Some(evidence) = chunk.metadata.get("evidence").and_then(Value::as_array) else {
            return self.weights.score(chunk, task);
        };
        let base = Score::default().plus("base", chunk.priority.score());
        evidence.iter().fold(base, |score, part| {
            let name = part.get(0).and_then(Value::as_str).unwrap_or_default();
            let value = part.get(1).and_then(Value::as_i64).unwrap_or_default();
            score.plus(name.to_owned(), value)
        })
    }
}

/// What the chunks of files are made with.
pub(super) struct FileChunks<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) prioritizer: &'a dyn Prioritizer,
    pub(super) weights: &'a DepthWeights,
    pub(super) pins: &'a [String],
    pub(super) line_numbers: bool,
    /// The most bytes that can matter: what is larger cannot fit.
    pub(super) byte_limit: usize,
}

impl FileChunks<'_> {
    /// The candidates of a survey as chunks with levels, and the secrets that were replaced.
    pub(super) fn make(
        &self,
        survey: &Survey,
        task: &RankTask,
    ) -> (Vec<RankedChunk>, Vec<Redaction>) {
        let depth = Depth::of(&survey.candidates, self.weights);
        let scores: HashMap<usize, &Score> = survey
            .ranked
            .iter()
            .map(|ranked| (ranked.file, &ranked.score))
            .collect();
        // Whoever scores sees what would be shown, and no secret.
        let redacted: Vec<Redacted<'_>> = survey
            .candidates
            .par_iter()
            .with_max_len(1)
            .map(|candidate| redact(&candidate.text, self.path_of(candidate)))
            .collect();
        let scored: Vec<(ContextChunk, Score)> = survey
            .candidates
            .iter()
            .zip(&redacted)
            .map(|(candidate, redacted)| {
                let evidence = scores
                    .get(&candidate.file)
                    .map(|score| (*score).clone())
                    .unwrap_or_default();
                let chunk = self.bare(candidate, &redacted.text, &evidence);
                let score = self.prioritizer.score(&chunk, task);
                (chunk, score)
            })
            .collect();
        let worth = |chunk: &ContextChunk, score: &Score| score.total() - chunk.priority.score();
        let best = scored
            .iter()
            .map(|(chunk, score)| worth(chunk, score))
            .max()
            .unwrap_or(1)
            .max(1);
        let made: Vec<(RankedChunk, Vec<Redaction>)> = scored
            .into_par_iter()
            .zip(&survey.candidates)
            .zip(redacted)
            .with_max_len(1)
            .map(|(((mut chunk, score), candidate), redacted)| {
                #[expect(clippy::cast_precision_loss, reason = "scores are small numbers")]
                let mut share = worth(&chunk, &score).max(0) as f64 / best as f64;
                // Whoever pins a file wants to see it, whatever the task says.
                if chunk.priority == ContextPriority::Critical {
                    share = 1.0;
                }
                chunk.relevance = if chunk.priority == ContextPriority::Critical {
                    Relevance::CERTAIN
                } else {
                    Relevance::from_ppm(depth.relevance(candidate, share))
                };
                chunk.levels = depth.levels(candidate, &redacted.text, &chunk.source, share);
                chunk
                    .levels
                    .retain(|level| level.content.len() <= self.byte_limit);
                if self.line_numbers {
                    chunk
                        .levels
                        .iter_mut()
                        .for_each(|level| number(level, &redacted.text));
                }
                let redactions = Redaction::all(&chunk.source, &redacted.found);
                let mut ranked = RankedChunk::from(chunk);
                ranked.score = score;
                (ranked, redactions)
            })
            .collect();
        let (chunks, redactions): (Vec<_>, Vec<Vec<_>>) = made.into_iter().unzip();
        (chunks, redactions.into_iter().flatten().collect())
    }

    fn path_of(&self, candidate: &Candidate) -> &str {
        let file = self.workspace.files().get(candidate.file);
        file.map_or("", |file| file.path.as_str())
    }

    /// The chunk of a file with its whole text.
    fn bare(&self, candidate: &Candidate, text: &str, evidence: &Score) -> ContextChunk {
        let path = self.path_of(candidate);
        let mut chunk = ContextChunk::new(ChunkType::File, path, text);
        if self.pins.iter().any(|pin| pin == path) {
            chunk.priority = ContextPriority::Critical;
        }
        let parts: Vec<Value> = evidence
            .parts()
            .iter()
            .map(|part| json!([part.name, part.value]))
            .collect();
        chunk.metadata = Map::from_iter([("evidence".to_owned(), Value::Array(parts))]);
        if let Some(language) = candidate.syntax.language {
            chunk
                .metadata
                .insert("language".into(), language.name().into());
        }
        chunk
    }
}

/// Puts the number of each line of the source before it.
pub(super) fn number(level: &mut Level, text: &str) {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut shown = level
        .lines
        .iter()
        .flat_map(|&(first, last)| first..=last)
        .peekable();
    let width = level
        .lines
        .last()
        .map_or(1, |(_, last)| last.to_string().len());
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
