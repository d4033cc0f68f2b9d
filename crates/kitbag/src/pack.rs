//! The prompt for a task from a workspace: what `kitbag pack` prints.
//!
//! [`prepare`] surveys the workspace and lets gatherers bring what else belongs to the task;
//! [`Prepared::pack`] scores everything, fits it into a budget and says why each thing is in or
//! out. The second step does no I/O, so that a question such as "what would a larger budget
//! bring?" is answered by packing again.

mod as_json;
mod brought;
mod change;
mod error;
mod files;
mod look;
mod open;
mod overview;
mod report;
mod request;
mod shorten;
mod strategy;

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::future;
use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::chunk::Relevance;
use kitbag_core::envelope::TaskType;
use kitbag_core::rank::RankTask;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_secrets::redact;
use kitbag_workspace::survey::Survey;
use kitbag_workspace::workspace::Workspace;

use crate::gather::{GatherTask, Gathered, Gatherer, gather};
use crate::redaction;
use as_json::assemble_json;
use brought::{Brought, attachment_problem};
use change::Change;
use files::FileChunks;
use look::Looked;
use open::Opened;
use shorten::shorten;
use strategy::Strategy;

pub use error::PackError;
pub use files::Retrieval;
pub use look::budget_to_look_at;
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

/// Surveys the workspace and gathers what belongs to the task. The budget decides how many files are
/// looked at closely.
///
/// # Errors
/// When the folder cannot be read.
pub async fn prepare(request: &PackRequest) -> Result<Prepared, PackError> {
    // The patterns that read a task take a while to be made: that is done beside.
    let (opened, query) = future::join(open::open(request), look::query(request)).await;
    let Opened { workspace, change } = opened?;
    let inferred = (!request.is_overview()).then(|| TaskType::infer(&request.task));
    let told = inferred.as_ref().map(|inferred| inferred.task_type);
    let task_type = request.task_type.or(told);
    let strategy = match task_type {
        Some(task_type) if !request.is_overview() => Strategy::of(task_type),
        _ => Strategy::overview(),
    };
    let task = GatherTask::new(
        request.task.as_str(),
        // To look around is to analyze.
        task_type.unwrap_or(TaskType::Analyze),
        request.budget,
        Arc::clone(&workspace),
    );
    let touched = change.as_ref().map(Change::touched).unwrap_or_default();
    let looked = look::look(request, query?, &workspace, strategy, touched);
    // A gatherer of the caller's stands for ours of the same name: no commit is listed twice.
    let mut ours = strategy.gatherers();
    ours.retain(|ours| {
        let is_same = |other: &Arc<dyn Gatherer>| other.name() == ours.name();
        !request.gatherers.iter().any(is_same)
    });
    let (looked, mut gathered, others) = future::join3(
        looked,
        gather(&ours, &task),
        gather(&request.gatherers, &task),
    )
    .await;
    let own = gathered.chunks.len();
    gathered.extend(others);
    if let Some(change) = &change {
        let chunks = change.chunks(&mut gathered.redacted);
        gathered.chunks.extend(chunks);
        gathered.problems.extend(change.problems.iter().cloned());
    }
    let Looked {
        survey,
        is_overview,
    } = looked?;
    if is_overview && !request.is_overview() && !workspace.files().is_empty() {
        gathered.problems.push(NOTHING_FOUND.to_owned());
    }
    Ok(Prepared {
        request: request.clone(),
        survey,
        is_overview,
        change,
        gathered,
        own,
        workspace,
        strategy,
        task_type,
        cues: match request.task_type {
            Some(_) => None,
            None => inferred.map(|inferred| inferred.cues),
        },
    })
}

const NOTHING_FOUND: &str = "no file has a word of the task: the files are those of an overview";

/// A workspace, surveyed for a task.
#[derive(Debug)]
pub struct Prepared {
    request: PackRequest,
    workspace: Arc<Workspace>,
    survey: Survey,
    /// Whether there is no task, or no file has to do with it.
    is_overview: bool,
    /// What is to be reviewed.
    change: Option<Change>,
    gathered: Gathered,
    /// How many of the gathered chunks, the first ones, our own gatherers brought.
    own: usize,
    strategy: Strategy,
    /// None for an overview.
    task_type: Option<TaskType>,
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

    /// Fits what was gathered into the budget of the request. It is the one that was prepared, but may
    /// have another budget, form, prioritizer, floor and depth, and pin other files that were ranked.
    ///
    /// # Errors
    /// When what must be in does not fit, or when the request asks for something else than the one
    /// that was prepared.
    pub fn pack(
        &self,
        request: &PackRequest,
        counter: &dyn TokenCounter,
    ) -> Result<Pack, PackError> {
        if let Some(field) = request.other_field(&self.request) {
            return Err(PackError::OtherRequest { field });
        }
        let retrieval = Retrieval::default();
        let prioritizer = request.prioritizer.as_deref().unwrap_or(&retrieval);
        let mut depth = request.depth.clone();
        if request.prioritizer.is_some() {
            // What somebody else's score says counts alone.
            depth.mass = 0.0;
        }
        let asked = redact(&request.task, redaction::TASK);
        let rank_task = RankTask::new(self.task_type, &asked.text, &self.gathered.chunks);
        let files = FileChunks {
            workspace: &self.workspace,
            prioritizer,
            weights: &depth,
            pins: &request.pins,
            line_numbers: request.line_numbers,
            byte_limit: byte_limit(request.budget),
        };
        let (mut chunks, mut redactions) = files.make(&self.survey, &rank_task);
        let is_overview = self.is_overview && request.prioritizer.is_none();
        let mut left_out = Vec::new();
        if is_overview {
            let (survey, workspace) = (&self.survey, &self.workspace);
            let (budget, line_numbers) = (request.budget, request.line_numbers);
            left_out = overview::arrange(&mut chunks, survey, workspace, budget, line_numbers);
        }
        let is_decided = is_overview || request.prioritizer.is_some();
        let decided = is_decided.then_some(chunks.as_slice());
        let ranked = report::ranked(&self.survey, &self.workspace, decided);
        let (gathered, budget) = (&self.gathered, request.budget);
        let mut brought = Brought::new(gathered, self.strategy, self.own, budget, counter);
        if let Some(attached) = &request.attachment {
            brought.attach(attached, budget, counter);
        }
        brought.score(prioritizer, &rank_task);
        brought.replace(&mut chunks, &request.pins, budget);
        redactions.extend(brought.redacted);
        chunks.extend(brought.chunks);
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
        draft.task_type = self.task_type;
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
        let mut pack = Pack::new(assembly, self, ranked, redactions, problems);
        pack.excluded.extend(brought.excluded);
        // What else was brought, such as a change, may show such a file all the same.
        left_out.retain(|path| !pack.chunks.iter().any(|chunk| chunk.source == *path));
        let left_out = left_out.into_iter();
        let left_out = left_out.map(|path| Excluded::new(path, overview::LEFT_OUT));
        pack.excluded.extend(left_out);
        if let Some(attached) = &request.attachment {
            pack.problems.extend(attachment_problem(attached, &pack));
        }
        if let Some(change) = &self.change {
            pack.problems.extend(change.unseen(&pack));
        }
        Ok(pack)
    }
}

/// A token has rarely more than a dozen bytes: what is larger than that cannot fit.
fn byte_limit(budget: Tokens) -> usize {
    usize::try_from(budget.0)
        .unwrap_or(usize::MAX)
        .saturating_mul(16)
}
