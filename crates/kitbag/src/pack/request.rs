//! The request of a pack, in two parts: what is surveyed once, and what may change with each prompt
//! that is made of the survey.

use std::path::PathBuf;
use std::sync::Arc;

use kitbag_core::assembly::{FitStrategy, ModelTraits, OutputForm};
use kitbag_core::chunk::ContextChunk;
use kitbag_core::envelope::{TaskEnvelope, TaskType};
use kitbag_core::rank::{Prioritizer, RankTask, Score};
use kitbag_core::tokens::Tokens;
use kitbag_workspace::git::Changes;
use kitbag_workspace::levels::DepthWeights;
use kitbag_workspace::relevance::RelevanceWeights;
use kitbag_workspace::resident::Resident;
use kitbag_workspace::structure;

use super::Retrieval;
use crate::gather::Gatherer;

/// A survey, and the prompt to make of it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PackRequest {
    /// The part that [`prepare`](super::prepare) reads files for.
    pub survey: SurveyRequest,
    /// The part that [`Prepared::pack`](super::Prepared::pack) takes, as often as one likes.
    pub options: PackOptions,
}

impl PackRequest {
    /// Packs `root` for a task into 32,000 tokens, as a text.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, task: impl Into<String>) -> Self {
        Self {
            survey: SurveyRequest::new(root, task),
            options: PackOptions::default(),
        }
    }

    /// The same with another budget.
    #[must_use]
    pub fn with_budget(mut self, budget: Tokens) -> Self {
        self.survey.budget = budget;
        self.options.budget = budget;
        self
    }

    /// The same with a gatherer more.
    #[must_use]
    pub fn with_gatherer(mut self, gatherer: impl Gatherer + 'static) -> Self {
        self.survey.gatherers.push(Arc::new(gatherer));
        self
    }

    /// The same with another prioritizer.
    #[must_use]
    pub fn with_prioritizer(mut self, prioritizer: impl Prioritizer + 'static) -> Self {
        self.options.prioritizer = Some(Arc::new(prioritizer));
        self
    }
}

/// A workspace, and a task to look at it for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SurveyRequest {
    /// The folder.
    pub root: PathBuf,
    /// The request of the user; empty for an overview, or where a change is to be reviewed.
    pub task: String,
    /// A text that belongs to the task.
    pub attachment: Option<Attachment>,
    /// The kind of task; inferred from the task where it is not given.
    pub task_type: Option<TaskType>,
    /// The envelope that the task came in, which prioritizers see.
    pub envelope: Option<TaskEnvelope>,
    /// The budget of the largest prompt to be made: it decides how many files are looked at closely.
    pub budget: Tokens,
    /// Only files that match one of these; all when there is none.
    pub include: Vec<String>,
    /// Files that match one of these are left out.
    pub exclude: Vec<String>,
    /// The pins, which must be in: files, lines of one as `src/main.rs:10-40`, a definition as
    /// `src/main.rs#main`, folders and patterns.
    pub pins: Vec<String>,
    /// Lets every file in, not only those that have to do with the task: the whole of as many
    /// as fit.
    pub is_all: bool,
    /// A change to pack for review. Where it is one of the work tree, files that git does not track
    /// yet, and does not ignore, are part of it. The patterns hold for it as for files.
    pub changes: Option<Changes>,
    /// True if git may be asked.
    pub use_git: bool,
    /// The folder of the cache; by default the user's own.
    pub cache_folder: Option<PathBuf>,
    /// What earlier surveys of this process left in memory; none where nothing is kept.
    pub resident: Option<Arc<Resident>>,
    /// The weight of each kind of evidence for a file.
    pub relevance: RelevanceWeights,
    /// Bring more than the workspace has; one with the name of a built-in gatherer stands for it.
    pub gatherers: Vec<Arc<dyn Gatherer>>,
    /// How much the built-in gatherers bring at most.
    pub limits: GatherLimits,
}

impl SurveyRequest {
    /// Surveys `root` for a task and a prompt of 32,000 tokens.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, task: impl Into<String>) -> Self {
        Self {
            root: root.into(),
            task: task.into(),
            attachment: None,
            task_type: None,
            envelope: None,
            budget: DEFAULT_BUDGET,
            include: Vec::new(),
            exclude: Vec::new(),
            pins: Vec::new(),
            is_all: false,
            changes: None,
            // History and ignore rules cost little, and both improve the choice.
            use_git: true,
            cache_folder: None,
            resident: None,
            relevance: RelevanceWeights::default(),
            gatherers: Vec::new(),
            limits: GatherLimits::default(),
        }
    }

    /// Returns true if neither a task nor a change is given.
    pub(super) fn is_overview(&self) -> bool {
        self.task.trim().is_empty() && self.changes.is_none()
    }
}

impl Default for SurveyRequest {
    /// An overview of the current folder.
    fn default() -> Self {
        Self::new(".", "")
    }
}

/// The square of a fiftieth: a file with a lower share of the best score has no more than a common word of
/// the task. Low, since a file that a fix needs may share few words with its report.
const FLOOR: u32 = 400;

const DEFAULT_BUDGET: Tokens = Tokens(32_000);

/// How much the built-in gatherers bring at most.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatherLimits {
    /// The files that are looked at closely, of which those in the prompt are a part; without a
    /// limit as many as the budget could show.
    pub max_files: Option<usize>,
    /// The depth of the tree.
    pub depth: usize,
    /// The commits of the history.
    pub commits: usize,
}

impl Default for GatherLimits {
    fn default() -> Self {
        Self {
            max_files: None,
            depth: structure::DEFAULT_DEPTH,
            // Enough to show what is going on; more push code out of small prompts.
            commits: 5,
        }
    }
}

/// The prompt to make of a survey.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PackOptions {
    /// The most tokens that the prompt may have.
    pub budget: Tokens,
    /// The form of the prompt.
    pub form: OutputForm,
    /// The strategy that chooses chunks.
    pub strategy: FitStrategy,
    /// Files stay out whose share of the best score has a lower square than this, in parts per million:
    /// what is left of a budget is better left than filled with noise. Nothing stays out of overviews and
    /// reviews, or where the scores are somebody else's.
    pub floor_ppm: u32,
    /// True if lines carry their numbers.
    pub line_numbers: bool,
    /// The wishes of the operator for every answer, behind the request.
    pub instructions: Option<String>,
    /// The model that the prompt is for, where the form names one.
    pub model: Option<String>,
    /// The most tokens that the answer may have, where the form names it.
    pub max_output: Option<u32>,
    /// The abilities of the model's provider.
    pub traits: ModelTraits,
    /// The weights of depth and breadth.
    pub depth: DepthWeights,
    /// Files that must be in, besides those of the survey. One that the survey did not look at is
    /// told as a problem.
    pub pins: Vec<String>,
    /// Scores the chunks; [`Retrieval`](super::Retrieval) by default. With another the
    /// scores alone decide how likely each file is needed, not its size.
    pub prioritizer: Option<Arc<dyn Prioritizer>>,
}

impl Default for PackOptions {
    /// 32,000 tokens, as a text.
    fn default() -> Self {
        Self {
            budget: DEFAULT_BUDGET,
            form: OutputForm::Pack,
            strategy: FitStrategy::default(),
            floor_ppm: FLOOR,
            line_numbers: false,
            instructions: None,
            model: None,
            max_output: None,
            traits: ModelTraits::default(),
            depth: DepthWeights::default(),
            pins: Vec::new(),
            prioritizer: None,
        }
    }
}

impl PackOptions {
    /// The score of a chunk.
    pub(super) fn score(&self, chunk: &ContextChunk, task: &RankTask) -> Score {
        match &self.prioritizer {
            Some(prioritizer) => prioritizer.score(chunk, task),
            None => Retrieval::default().score(chunk, task),
        }
    }

    /// The same with another budget.
    #[must_use]
    pub fn with_budget(&self, budget: Tokens) -> Self {
        Self {
            budget,
            ..self.clone()
        }
    }
}

/// A text that belongs to a task: a log, a diff, a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its name in the prompt.
    pub name: String,
    /// The text.
    pub text: String,
}
