//! The prompt for a task from a workspace: what `kitbag pack` prints.
//!
//! [`prepare`] surveys the workspace and lets gatherers bring what else belongs to the task;
//! [`Prepared::pack`] scores everything, fits it into a budget and says why each thing is in or
//! out. The second step does no I/O, so that a question such as "what would a larger budget
//! bring?" is answered by packing again.

mod as_json;
mod change;
mod error;
mod files;
mod open;
mod report;
mod request;
mod shorten;
mod strategy;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level, Relevance};
use kitbag_core::envelope::TaskType;
use kitbag_core::rank::{RankTask, RankedChunk};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_workspace::cache::{Cache, Limits};
use kitbag_workspace::query::Query;
use kitbag_workspace::relevance::RelevanceWeights;
use kitbag_workspace::secrets::redact;
use kitbag_workspace::survey::{Changed, Survey, SurveyOptions, survey};
use kitbag_workspace::workspace::Workspace;

use crate::gather::{GatherError, GatherTask, Gathered, gather, pooled};
use crate::redaction;
use as_json::assemble_json;
use change::Change;
use files::FileChunks;
use open::Opened;
use shorten::shorten;
use strategy::Strategy;

pub use error::PackError;
pub use files::Retrieval;
pub use report::{Excluded, Pack, PackedChunk, RankedSource};
pub use request::{Attachment, PackRequest};

pub use crate::redaction::Redaction;

/// Makes the prompt for a task.
///
/// # Errors
/// When the folder cannot be read, or when what must be in does not fit into the budget.
pub async fn pack(request: &PackRequest, counter: &dyn TokenCounter) -> Result<Pack, PackError> {
    prepare(request).await?.pack(request, counter)
}

/// Surveys the workspace and gathers what belongs to the task. The budget does not matter yet.
///
/// # Errors
/// When the folder cannot be read.
pub async fn prepare(request: &PackRequest) -> Result<Prepared, PackError> {
    let Opened { workspace, change } = open::open(request).await?;
    let inferred = TaskType::infer(&request.task);
    let task_type = request.task_type.unwrap_or(inferred.task_type);
    let strategy = if request.task.trim().is_empty() {
        Strategy::overview()
    } else {
        Strategy::of(task_type)
    };
    let mut gatherers = strategy.gatherers();
    gatherers.extend(request.gatherers.iter().cloned());
    let task = GatherTask::new(
        request.task.as_str(),
        task_type,
        request.budget,
        Arc::clone(&workspace),
    );
    let touched = change.as_ref().map(Change::touched).unwrap_or_default();
    let surveyed = surveyed(request, &workspace, strategy, touched);
    let gathered = gather(&gatherers, &task);
    let (survey, mut gathered) = futures_util::future::join(surveyed, gathered).await;
    if let Some(change) = change {
        let chunks = change.chunks(&mut gathered.redacted);
        gathered.chunks.extend(chunks);
        gathered.problems.extend(change.problems);
    }
    Ok(Prepared {
        survey: survey?,
        gathered,
        workspace,
        strategy,
        task_type,
        cues: match request.task_type {
            Some(_) => None,
            None => Some(inferred.cues),
        },
    })
}

/// A workspace, surveyed for a task.
#[derive(Debug)]
pub struct Prepared {
    workspace: Arc<Workspace>,
    survey: Survey,
    gathered: Gathered,
    strategy: Strategy,
    task_type: TaskType,
    /// The words that told the type of the task, where it was inferred.
    cues: Option<Vec<String>>,
}

impl Prepared {
    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The files, ranked.
    #[must_use]
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// Fits what was gathered into the budget of the request, which is the one that was prepared but
    /// for budget, form, pins and weights of depth.
    ///
    /// # Errors
    /// When what must be in does not fit.
    pub fn pack(
        &self,
        request: &PackRequest,
        counter: &dyn TokenCounter,
    ) -> Result<Pack, PackError> {
        let is_overview = request.task.trim().is_empty();
        let asked = redact(&request.task, redaction::TASK);
        let rank_task = RankTask::new(Some(self.task_type), &asked.text, &self.gathered.chunks);
        let files = FileChunks {
            workspace: &self.workspace,
            prioritizer: &*request.prioritizer,
            weights: &request.depth,
            pins: &request.pins,
            line_numbers: request.line_numbers,
            is_overview,
            byte_limit: byte_limit(request.budget),
        };
        let (mut chunks, mut redactions) = files.make(&self.survey, &rank_task);
        let attached = request
            .attachment
            .iter()
            .map(|attached| attachment(attached, request.budget, counter));
        redactions.extend(self.gathered.redacted.iter().cloned());
        let attached: Vec<ContextChunk> = attached
            .map(|mut chunk| {
                redactions.extend(redaction::of_chunk(&mut chunk));
                chunk
            })
            .collect();
        let mut brought = Vec::new();
        for mut chunk in self.gathered.chunks.iter().cloned().chain(attached) {
            self.strategy.limit(&mut chunk, request.budget, counter);
            let mut ranked = RankedChunk::from(chunk);
            ranked.score = request.prioritizer.score(&ranked.chunk, &rank_task);
            brought.push(ranked);
        }
        // What a gatherer brings of a file stands for it: nothing is shown twice.
        let mut replaced = Vec::new();
        chunks.retain(|file| {
            let source = &file.chunk.source;
            let stands_for = |other: &&RankedChunk| {
                let is_it = other.chunk.source == *source && !other.chunk.levels.is_empty();
                is_it || change::shows(&other.chunk, source, request.budget)
            };
            let other = brought.iter().find(stands_for);
            let other = other.filter(|_| !request.pins.contains(source));
            replaced.extend(other.map(|other| Excluded::by(source, &other.chunk)));
            other.is_none()
        });
        chunks.extend(brought);
        let mut problems = Vec::new();
        if self.workspace.files().is_empty() {
            problems.push("there is no file to look at: none is here, or all are left out".into());
        }
        redactions.extend(Redaction::all(redaction::TASK, &asked.found));
        let task = match shorten(&asked.text, Tokens(request.budget.0 / 2), counter) {
            Some(short) => {
                problems.push(
                    "the task is longer than half the budget: its middle was left out".to_owned(),
                );
                Cow::Owned(short)
            }
            None => asked.text,
        };
        let mut draft = Draft::new(&*task);
        draft.task_type = (!is_overview).then_some(self.task_type);
        draft.model.clone_from(&request.model);
        let settings = AssemblySettings::new(request.form, request.budget)
            .with_strategy(request.strategy)
            .with_floor(Relevance::from_ppm(request.floor_ppm))
            .with_traits(request.traits.clone());
        let assembly = if request.form.is_text() {
            assemble(&draft, chunks, &settings, counter, None)?
        } else {
            assemble_json(&draft, &chunks, &settings, counter)?
        };
        let needs_model = matches!(request.form, OutputForm::Anthropic | OutputForm::OpenAi);
        if needs_model && request.model.is_none() {
            problems.push("the request names no model: choose one with `--model`".to_owned());
        }
        let mut pack = Pack::new(assembly, self, redactions, problems);
        pack.excluded.extend(replaced);
        Ok(pack)
    }
}

/// A long attachment may be shown by its beginning and its end, in a quarter of the budget.
fn attachment(attached: &Attachment, budget: Tokens, counter: &dyn TokenCounter) -> ContextChunk {
    let kind = ChunkType::Other("attachment".into());
    let chunk = ContextChunk::new(kind, attached.name.as_str(), attached.text.as_str())
        .with_priority(ContextPriority::High);
    match shorten(&attached.text, Tokens(budget.0 / 4), counter) {
        Some(short) => chunk.with_level(Level::new(Detail::Slice, short)),
        None => chunk,
    }
}

async fn surveyed(
    request: &PackRequest,
    workspace: &Arc<Workspace>,
    strategy: Strategy,
    changed: Vec<Changed>,
) -> Result<Survey, GatherError> {
    let mut options = SurveyOptions::default();
    let is_overview = request.task.trim().is_empty();
    options.changed = changed;
    options.weights = if is_overview {
        RelevanceWeights::overview()
    } else {
        request.relevance.clone()
    };
    options.about_tests = strategy.about_tests;
    options.candidates = candidates(request.budget);
    options.parsed_bytes = options.candidates as u64 * BYTES_OF_A_CANDIDATE;
    options.always.clone_from(&request.pins);
    if is_overview {
        let paths = workspace.files().iter().map(|file| &file.path);
        let readmes = paths.filter(|path| files::is_readme(path));
        options.always.extend(readmes.cloned());
    }
    let (workspace, folder) = (Arc::clone(workspace), request.cache_folder.clone());
    // A trace that is piped in points at code as one in the task does.
    let attached = request
        .attachment
        .iter()
        .map(|attached| attached.text.as_str());
    let said: Vec<&str> = [request.task.as_str()]
        .into_iter()
        .chain(attached)
        .collect();
    let query = Query::new(&said.join("\n"));
    pooled(move || {
        let cache = Cache::open(folder, Limits::default());
        Ok(survey(&workspace, &query, &options, &cache))
    })
    .await
}

/// A short name for a folder, by its path: for files that are kept for each workspace.
#[must_use]
pub fn name_of(root: &Path) -> String {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes());
    hash.to_hex().chars().take(32).collect()
}

/// How many files are looked at closely. A file that is shown takes a few hundred tokens.
fn candidates(budget: Tokens) -> usize {
    usize::try_from(budget.0 / 320)
        .unwrap_or(usize::MAX)
        .clamp(60, 2_000)
}

/// Parsing takes most of the time: so much of a candidate is parsed on average.
const BYTES_OF_A_CANDIDATE: u64 = 25_000;

/// A token has rarely more than a dozen bytes: what is larger than that cannot fit.
fn byte_limit(budget: Tokens) -> usize {
    usize::try_from(budget.0)
        .unwrap_or(usize::MAX)
        .saturating_mul(16)
}
