//! What to pack, and how.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use kitbag_core::assembly::{FitStrategy, ModelTraits, OutputForm};
use kitbag_core::envelope::TaskType;
use kitbag_core::rank::Prioritizer;
use kitbag_core::tokens::Tokens;
use kitbag_workspace::git::Changes;
use kitbag_workspace::levels::DepthWeights;
use kitbag_workspace::relevance::RelevanceWeights;

use crate::gather::Gatherer;

/// What to pack, and how.
#[derive(Clone)]
#[non_exhaustive]
pub struct PackRequest {
    /// The folder.
    pub root: PathBuf,
    /// What is asked; empty for an overview.
    pub task: String,
    /// A text that belongs to the task.
    pub attachment: Option<Attachment>,
    /// What kind of task it is; inferred from the task where that is not given.
    pub task_type: Option<TaskType>,
    /// The most tokens that the prompt may have.
    pub budget: Tokens,
    /// The form of the prompt.
    pub form: OutputForm,
    /// Only files that match one of these; all when there is none.
    pub include: Vec<String>,
    /// Files that match one of these are left out.
    pub exclude: Vec<String>,
    /// Files that must be in.
    pub pins: Vec<String>,
    /// A change to pack for review. Where it is one of the work tree, files that git does not track
    /// yet, and does not ignore, are part of it. The patterns hold for it as for files.
    pub changes: Option<Changes>,
    /// Whether git is asked.
    pub use_git: bool,
    /// How chunks are chosen.
    pub strategy: FitStrategy,
    /// Files that are less likely needed than this stay out, in parts per million.
    pub floor_ppm: u32,
    /// Whether lines carry their numbers.
    pub line_numbers: bool,
    /// The model that the prompt is for, where the form names one.
    pub model: Option<String>,
    /// What the model's provider can do.
    pub traits: ModelTraits,
    /// The folder of the cache; the user's own where there is none.
    pub cache_folder: Option<PathBuf>,
    /// How much each kind of evidence counts for a file.
    pub relevance: RelevanceWeights,
    /// How much depth and breadth count.
    pub depth: DepthWeights,
    /// Bring more than the workspace has; one with the name of a built-in gatherer stands for it.
    pub gatherers: Vec<Arc<dyn Gatherer>>,
    /// Scores the chunks; [`Retrieval`](super::Retrieval) where there is none. With another the
    /// scores alone decide how likely each file is needed, not its size.
    pub prioritizer: Option<Arc<dyn Prioritizer>>,
}

/// A text that belongs to a task: a log, a diff, a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// What it is called in the prompt.
    pub name: String,
    /// The text.
    pub text: String,
}

impl PackRequest {
    /// Packs `root` for a task into 32,000 tokens, as a text.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, task: impl Into<String>) -> Self {
        Self {
            root: root.into(),
            task: task.into(),
            attachment: None,
            task_type: None,
            budget: Tokens(32_000),
            form: OutputForm::Pack,
            include: Vec::new(),
            exclude: Vec::new(),
            pins: Vec::new(),
            changes: None,
            use_git: true,
            strategy: FitStrategy::default(),
            floor_ppm: 0,
            line_numbers: false,
            model: None,
            traits: ModelTraits::default(),
            cache_folder: None,
            relevance: RelevanceWeights::default(),
            depth: DepthWeights::default(),
            gatherers: Vec::new(),
            prioritizer: None,
        }
    }

    /// The same with another budget.
    #[must_use]
    pub fn with_budget(mut self, budget: Tokens) -> Self {
        self.budget = budget;
        self
    }

    /// The same with a gatherer more.
    #[must_use]
    pub fn with_gatherer(mut self, gatherer: impl Gatherer + 'static) -> Self {
        self.gatherers.push(Arc::new(gatherer));
        self
    }

    /// The same with another prioritizer.
    #[must_use]
    pub fn with_prioritizer(mut self, prioritizer: impl Prioritizer + 'static) -> Self {
        self.prioritizer = Some(Arc::new(prioritizer));
        self
    }
}

impl PackRequest {
    /// Whether nothing is asked.
    pub(super) fn is_overview(&self) -> bool {
        self.task.trim().is_empty()
    }

    /// The field in which the request asks for something else than another, beside what may change
    /// once a workspace is surveyed.
    pub(super) fn other_field(&self, other: &Self) -> Option<&'static str> {
        let same = [
            ("root", self.root == other.root),
            ("task", self.task == other.task),
            ("attachment", self.attachment == other.attachment),
            ("task_type", self.task_type == other.task_type),
            ("include", self.include == other.include),
            ("exclude", self.exclude == other.exclude),
            ("changes", self.changes == other.changes),
            ("use_git", self.use_git == other.use_git),
            ("relevance", self.relevance == other.relevance),
        ];
        let other = same.into_iter().find(|(_, is_same)| !is_same);
        other.map(|(field, _)| field)
    }
}

impl fmt::Debug for PackRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gatherers: Vec<&str> = self
            .gatherers
            .iter()
            .map(|gatherer| gatherer.name())
            .collect();
        f.debug_struct("PackRequest")
            .field("root", &self.root)
            .field("task", &self.task)
            .field("budget", &self.budget)
            .field("form", &self.form)
            .field("gatherers", &gatherers)
            .finish_non_exhaustive()
    }
}
