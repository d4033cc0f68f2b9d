//! The sources for each type of task, in addition to the files that the survey ranks.

use std::sync::Arc;

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority};
use kitbag_core::envelope::TaskType;
use kitbag_core::tokens::Tokens;
use kitbag_workspace::survey::Companions;

use super::GatherLimits;
use crate::gather::{Dependencies, Gatherer, History, Instructions, Structure};

/// The sources to gather, and the share of the budget for each kind, in permille.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Strategy {
    structure: u32,
    dependencies: u32,
    history: u32,
    instructions: u32,
    /// True if tests count as much as other files.
    pub(super) about_tests: bool,
    /// The files that come along with the best ones.
    pub(super) companions: Companions,
    /// True if a test of the best files must be in, as a model.
    pub(super) shows_a_test: bool,
    /// True if the lines that a stack trace names must be in.
    pub(super) locations_are_critical: bool,
    /// The limits of our gatherers that differ from the usual ones.
    pub(super) priority: Option<ContextPriority>,
}

impl Strategy {
    /// The strategy for a type of task. What a change needs is code; what an analysis needs is the
    /// shape of the project; a fault may come from a recent change.
    pub(super) fn of(task_type: TaskType) -> Self {
        let mut change = Self {
            structure: 15,
            instructions: 60,
            ..Self::default()
        };
        match task_type {
            TaskType::Implement => {
                change.dependencies = 15;
                (change.companions.tests, change.shows_a_test) = (true, true);
            }
            TaskType::Debug => {
                change.history = 15;
                (change.companions.tests, change.shows_a_test) = (true, true);
                change.locations_are_critical = true;
            }
            TaskType::Refactor => {
                change.dependencies = 15;
                (change.companions.tests, change.companions.dependents) = (true, true);
            }
            TaskType::Test => {
                change.about_tests = true;
                (change.companions.tests, change.companions.fixtures) = (true, true);
            }
            TaskType::Analyze => {
                (change.structure, change.dependencies, change.history) = (80, 40, 30);
            }
            // A reviewer reads the change, and the tests of what it touches.
            TaskType::Review => {
                (change.companions.tests, change.shows_a_test) = (true, true);
            }
        }
        change
    }

    /// The same for a task that says little: what is around its few words may help.
    pub(super) fn looking_around(mut self) -> Self {
        self.structure = self.structure.max(80);
        self.dependencies = self.dependencies.max(40);
        self
    }

    /// Without a task: the shape of the project comes first.
    pub(super) fn overview() -> Self {
        Self {
            structure: 120,
            dependencies: 60,
            history: 40,
            instructions: 100,
            priority: Some(ContextPriority::High),
            ..Self::default()
        }
    }

    /// The gatherers that take part.
    pub(super) fn gatherers(self, limits: &GatherLimits) -> Vec<Arc<dyn Gatherer>> {
        let (depth, commits) = (limits.depth, limits.commits);
        let all: [(u32, Arc<dyn Gatherer>); 4] = [
            (self.structure, Arc::new(Structure { depth })),
            (self.dependencies, Arc::new(Dependencies)),
            (self.history, Arc::new(History { commits })),
            (self.instructions, Arc::new(Instructions)),
        ];
        let wanted = all.into_iter().filter(|(share, _)| *share > 0);
        wanted.map(|(_, gatherer)| gatherer).collect()
    }

    /// The most tokens that a chunk of ours may have, if its kind is limited.
    pub(super) fn most(self, chunk: &ContextChunk, budget: Tokens) -> Option<Tokens> {
        let share = match &chunk.chunk_type {
            ChunkType::Structure => self.structure,
            ChunkType::Dependency => self.dependencies,
            ChunkType::History => self.history,
            ChunkType::Other(kind) if kind == "instructions" => self.instructions,
            _ => return None,
        };
        let most = u64::from(budget.0) * u64::from(share) / 1_000;
        Some(Tokens(u32::try_from(most).unwrap_or(u32::MAX)))
    }
}
