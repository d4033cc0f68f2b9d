//! The prompt for a task from a workspace: what `kitbag pack` prints.
//!
//! Four stages. [`prepare`] surveys the workspace and lets gatherers bring what else belongs to the
//! task; it alone does I/O. `chunks` makes a [`Contribution`] of that: files with their levels, and
//! what was gathered, scored. The engine composes the prompt, and `report` says why each thing is in
//! or out. Everything after the first stage is pure, so that a question such as "what would a larger
//! budget bring?" is answered by packing again.

mod change;
mod chunks;
mod error;
mod everything;
pub mod expand;
pub mod explain;
mod files;
mod gathered;
mod json;
mod named;
mod notes;
mod open;
mod overview;
mod pins;
mod redacted;
mod report;
mod request;
mod strategy;
mod survey;
mod truncate;
mod twins;
mod unseen;

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::future;
use jiff::Timestamp;
use kitbag_core::assembly::{Assembly, AssemblySettings, Balance, OutputForm, kept_chunks};
use kitbag_core::chunk::{ContextChunk, Relevance};
use kitbag_core::envelope::{
    CompressedContext, ExcludedChunk, TaskEnvelope, TaskType, asks_for_review, context_note, ending,
};
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::rank::RankTask;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_workspace::survey::Survey;
use kitbag_workspace::workspace::Workspace;

use crate::engine::{Clean, Composed, Contribution, PromptRequest, clean, compose};
use crate::gather::{GatherTask, Gatherer, gather};
use crate::shorten::shorten;
use crate::wire::Dialect;
use change::Change;
use chunks::Made;
use json::compose_json;
use pins::Pins;
use strategy::Strategy;

pub use error::PackError;
pub use files::Retrieval;
pub use report::{Decisions, Excluded, Pack, PackedChunk, RankedSource, Spent};
pub use request::{Attachment, GatherLimits, PackOptions, PackRequest, SurveyRequest};
pub use survey::budget_to_look_at;
pub use truncate::truncatable;

pub use crate::engine::Redaction;

/// Makes the prompt for a task.
///
/// # Errors
/// When the folder cannot be read, or when what must be in does not fit into the budget.
pub async fn pack(
    request: &PackRequest,
    counter: &(dyn TokenCounter + Sync),
) -> Result<Pack, PackError> {
    let prepared = prepare(&request.survey).await?;
    prepared.pack(&request.options, counter)
}

/// The workspace as one source of a prompt among others: its chunks and problems, without the
/// request and its instructions.
#[must_use]
pub fn contribute(
    prepared: &Prepared,
    options: &PackOptions,
    counter: &dyn TokenCounter,
) -> Contribution {
    chunks::make(prepared, options, counter).contribution
}

/// Surveys the workspace and gathers what belongs to the task.
///
/// # Errors
/// When the folder cannot be read.
pub async fn prepare(request: &SurveyRequest) -> Result<Prepared, PackError> {
    // Compiling the patterns that read a task takes a while, so that it runs beside the walk.
    let (opened, query) = future::join(open::open(request), survey::query(request)).await;
    let (workspace, change, pins) = opened?;
    // A change without a task is the task: it is searched for and reviewed.
    let is_review = request.task.trim().is_empty() && change.is_some();
    let query = match change.as_ref().filter(|_| is_review) {
        Some(change) => survey::query_of(change.searched()).await,
        None => query,
    };
    let asked = match is_review {
        true => change::REQUEST,
        false => request.task.as_str(),
    };
    let inferred = (!request.is_overview() && !is_review).then(|| TaskType::infer(asked));
    // Beside a change, a task that tells no type asks about the change.
    let inferred = inferred.filter(|inferred| match &change {
        Some(_) => !inferred.cues.is_empty() && !asks_for_review(asked),
        None => true,
    });
    let said = inferred.as_ref().map(|inferred| inferred.task_type);
    let of_change = change.is_some().then_some(TaskType::Review);
    let task_type = request.task_type.or(said).or(of_change);
    let query = query?;
    // Of a project that fits into the budget everything is shown, whatever the task says. A token has
    // about four bytes.
    let bytes: u64 = workspace.files().iter().map(|file| file.size).sum();
    let is_large = bytes / 4 > u64::from(request.budget.0);
    let says_little = query.says_little() && change.is_none() && is_large;
    let strategy = match task_type {
        Some(task_type) if says_little => Strategy::of(task_type).looking_around(),
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
    // A gatherer of the caller's stands for ours of the same name: no commit is listed twice.
    let mut ours = strategy.gatherers(&request.limits);
    ours.retain(|ours| {
        let is_same = |other: &Arc<dyn Gatherer>| other.name() == ours.name();
        !request.gatherers.iter().any(is_same)
    });
    // Gathering waits for git and files while the survey computes.
    let (surveyed, ours, mut others) = future::join3(
        survey::survey(request, query, &workspace, strategy, touched, &pins),
        gather(&ours, &task),
        gather(&request.gatherers, &task),
    )
    .await;
    if let Some(change) = &change {
        change.contribute(&mut others);
    }
    if let Some(envelope) = &request.envelope {
        let gathered = envelope.context.chunks.iter().cloned();
        gathered.for_each(|chunk| others.add(chunk));
    }
    let (survey, is_overview) = surveyed?;
    if is_overview && !request.is_overview() && !workspace.files().is_empty() {
        let message = "no file has a word of the task, so this is an overview";
        let problem = Problem::new("", ProblemKind::NotFound, message);
        // An overview in the place of an answer would be misleading without a word.
        others.problems.push(problem);
    }
    let mut notes = Vec::new();
    named::tell(&survey, &workspace, &mut notes, &mut others.problems);
    if says_little && !is_overview {
        notes.push(
            "The task has few words to search for, so that this shows what is around them."
                .to_owned(),
        );
        let message = "the task has few words to search for: a file, a function or an error message would find more";
        others
            .problems
            .push(Problem::new("", ProblemKind::NotFound, message));
    }
    let task = clean(asked, redacted::TASK);
    let chunks = ours.chunks().iter().chain(others.chunks());
    let chunks: Vec<ContextChunk> = chunks.map(|ranked| ranked.chunk.clone()).collect();
    let mut rank_task = RankTask::new(task_type, &task.text, &chunks);
    rank_task.envelope.clone_from(&request.envelope);
    rank_task.evidence = files::evidence(&survey, &workspace);
    // Times of files are those of the checkout; only git knows when a line changed.
    if request.use_git {
        let newest = workspace.newest_change();
        let newest = newest.and_then(|seconds| Timestamp::from_second(seconds).ok());
        rank_task.newest = newest.max(rank_task.newest);
    }
    Ok(Prepared {
        task: Clean {
            text: Cow::Owned(task.text.into_owned()),
            redacted: task.redacted,
        },
        rank_task,
        request: request.clone(),
        survey,
        pins,
        is_overview,
        notes,
        change,
        ours,
        others,
        workspace,
        strategy,
        task_type,
        cues: match request.task_type {
            Some(_) => None,
            None => inferred.map(|inferred| inferred.cues),
        },
    })
}

/// The most that one file, and all fragments of files, take of a budget. In a small one even a single
/// function is most of it.
fn balance(budget: Tokens) -> Balance {
    let share = |permille: u64| {
        let tokens = u64::from(budget.0) * permille / 1_000;
        Tokens(u32::try_from(tokens).unwrap_or(u32::MAX))
    };
    Balance::new(
        share(OF_A_FILE).max(Tokens(2_000)),
        share(OF_FRAGMENTS).max(Tokens(400)),
    )
}

const OF_A_FILE: u64 = 600;
const OF_FRAGMENTS: u64 = 140;
/// The number of larger budgets that are tried to tell which shows a whole change, each twice the one before.
const BUDGETS_TRIED: u32 = 4;

/// A workspace, surveyed for a task.
#[derive(Debug)]
pub struct Prepared {
    request: SurveyRequest,
    task: Clean<'static>,
    /// The task as prioritizers see it.
    rank_task: RankTask,
    workspace: Arc<Workspace>,
    survey: Survey,
    /// The files that must be in, and which lines of them.
    pins: Pins,
    /// True if there is no task, or no file is relevant to it.
    is_overview: bool,
    /// Notes for the reader of the prompt.
    notes: Vec<String>,
    /// The change to review.
    change: Option<Change>,
    /// The chunks of the built-in gatherers, which have their shares of the budget.
    ours: Contribution,
    /// The chunks of the caller's gatherers, and those of the change.
    others: Contribution,
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

    /// The paths of the files that must be in.
    pub fn pinned(&self) -> impl Iterator<Item = &str> {
        self.pins.paths()
    }

    /// Makes a prompt of what was surveyed.
    ///
    /// # Errors
    /// When what must be in does not fit.
    pub fn pack(
        &self,
        options: &PackOptions,
        counter: &dyn TokenCounter,
    ) -> Result<Pack, PackError> {
        let mut made = chunks::make(self, options, counter);
        let again = self.change.is_some().then(|| made.contribution.clone());
        let mut composed = self.compose(&mut made, options, counter, None)?;
        if let Some(again) = again
            && let Some(whole) = self.budget_for_change(&composed.assembly, options, counter)
        {
            // The problem that names the budget is part of a prompt in JSON and costs tokens there. Where it
            // does not fit, the shorter one stays.
            made.contribution = again;
            if let Ok(longer) = self.compose(&mut made, options, counter, Some(whole)) {
                composed = longer;
            }
        }
        Ok(report::report(self, made, composed))
    }

    /// The least of a few larger budgets with which no patch is shown by name alone. None where this prompt
    /// shows all.
    fn budget_for_change(
        &self,
        assembly: &Assembly,
        options: &PackOptions,
        counter: &dyn TokenCounter,
    ) -> Option<Tokens> {
        let change = self.change.as_ref()?;
        change.named_only(assembly)?;
        // Begins with what is missing and not with twice the budget, which may be far too much.
        let needed = change.missing(assembly, counter);
        let first = options.budget.saturating_add(needed);
        (0..BUDGETS_TRIED).find_map(|times| {
            let tokens = first
                .0
                .checked_mul(1 << times)?
                .checked_next_multiple_of(1_000)?;
            let larger = options.with_budget(Tokens(tokens));
            let mut made = chunks::make(self, &larger, counter);
            let composed = self.compose(&mut made, &larger, counter, None).ok()?;
            let is_shown = change.named_only(&composed.assembly).is_none();
            is_shown.then_some(larger.budget)
        })
    }

    /// Puts the chunks that the budget of an envelope has room for into it: what a checkpoint keeps.
    ///
    /// # Errors
    /// When what must be in does not fit.
    pub fn fill(
        &self,
        envelope: &mut TaskEnvelope,
        options: &PackOptions,
        counter: &dyn TokenCounter,
    ) -> Result<(), PackError> {
        let budget = envelope.token_budget.input();
        let mut options = options.clone();
        // A checkpoint keeps chunks and not a prompt, so its form does not matter.
        (options.form, options.budget) = (OutputForm::Pack, budget);
        let mut made = chunks::make(self, &options, counter);
        let chunks = made.contribution.chunks().to_vec();
        let assembly = self.compose(&mut made, &options, counter, None)?.assembly;
        let mut context = CompressedContext::default();
        context.chunks = kept_chunks(&assembly.kept, &chunks, assembly.form);
        context.chunks_in = chunks.len();
        context.tokens_used = assembly.tokens;
        context.budget = budget;
        let entries = assembly.ledger.entries.into_iter();
        let out = entries.filter(|entry| entry.level.is_none());
        context.excluded = out
            .map(|entry| ExcludedChunk {
                source: entry.source,
                reason: entry.reason,
            })
            .collect();
        envelope.context = context;
        Ok(())
    }

    /// The last change of a file, in seconds since 1970. If git may not be asked, no time is known: those of
    /// the file system are of the checkout.
    fn last_change(&self, path: &str) -> Option<i64> {
        let changed = || self.workspace.last_change(path);
        self.request.use_git.then(changed).flatten()
    }

    /// The least relevance of what is shown.
    fn floor(&self, options: &PackOptions) -> Relevance {
        let is_ours = options.prioritizer.is_none() && !self.request.is_all;
        let is_task = !self.is_overview && self.change.is_none();
        Relevance::from_ppm(match is_ours && is_task {
            true => options.floor_ppm,
            false => 0,
        })
    }

    /// Composes the prompt of what was made, whose contribution it takes. `whole` is a budget that would show
    /// all of a change.
    fn compose(
        &self,
        made: &mut Made,
        options: &PackOptions,
        counter: &dyn TokenCounter,
        whole: Option<Tokens>,
    ) -> Result<Composed, PackError> {
        let mut contribution = std::mem::take(&mut made.contribution);
        let request = self.prompt_request(options, counter, &mut contribution.problems);
        contribution.redacted.extend_from_slice(&self.task.redacted);
        if let Some(envelope) = &self.request.envelope {
            contribution.draft.tools.clone_from(&envelope.tools);
        }
        let problems = |assembly: &Assembly| report::problems(self, assembly, whole);
        if options.form.is_text() {
            let mut composed = compose(&request, vec![contribution], counter, None)?;
            let found = problems(&composed.assembly);
            composed.assembly.ledger.problems.extend(found);
            return Ok(composed);
        }
        Ok(compose_json(&request, &contribution, counter, problems)?)
    }

    /// The request for the engine. A task that is longer than half the budget keeps its two ends.
    fn prompt_request(
        &self,
        options: &PackOptions,
        counter: &dyn TokenCounter,
        problems: &mut Vec<Problem>,
    ) -> PromptRequest {
        // A task that fills the budget would leave no room for code.
        let most = Tokens(options.budget.0 / 2);
        let task = match shorten(&self.task.text, most, counter) {
            Some(short) => {
                let message = "it is longer than half the budget: its middle was left out";
                problems.push(Problem::new("the task", ProblemKind::Shortened, message));
                Cow::Owned(short)
            }
            None => Cow::Borrowed(&*self.task.text),
        };
        let settings = AssemblySettings::new(options.form, options.budget)
            .with_strategy(options.strategy)
            .with_floor(self.floor(options))
            .with_traits(options.traits.clone());
        let settings = match self.is_overview {
            true => settings,
            false => settings.with_balance(balance(options.budget)),
        };
        let mut request = PromptRequest::new(&*task, settings);
        if !self.request.is_overview() {
            let is_told = self.cues.as_ref().is_none_or(|cues| !cues.is_empty());
            let told = self.task_type.filter(|_| is_told);
            let task = &self.request.task;
            let mut said = format!("{}\n{}", ending(told, task), context_note(task));
            if let Some(instructions) = &options.instructions {
                said.push_str("\n\n");
                said.push_str(instructions.trim());
            }
            request.ending = Some(said);
        }
        request.max_output = options.max_output;
        request.model.clone_from(&options.model);
        let needs_model = Dialect::of(options.form).is_some_and(Dialect::needs_model);
        if needs_model && options.model.is_none() {
            let message = "the request has no model";
            problems.push(Problem::new("", ProblemKind::NoModel, message));
        }
        request
    }
}
