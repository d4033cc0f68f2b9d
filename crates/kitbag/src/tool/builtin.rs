//! The built-in tools over the engine: packs of a folder, and one person's memory.

mod checkpoint;
mod expand;
mod explain;
mod facts;
mod forget;
mod pack;
mod recall;
mod remember;
mod skill;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use kitbag_core::tokens::Tokens;
use kitbag_store::{ConversationId, Store};
use kitbag_workspace::resident::Resident;

use super::{ToolError, Tools, results};
use crate::engine::clean_file;
use crate::pack::PackRequest;
use crate::skill::Skills;
use crate::tokens::Counter;

/// The tools of a folder, a memory, and skills where there are any.
#[must_use]
pub fn builtin(scope: &ToolScope) -> Tools {
    let mut tools = Tools::default();
    // A tool without anything to read would only take room in the prompt.
    if !scope.skills.skills.is_empty() {
        tools = tools.with(skill::SkillTool(scope.clone()));
    }
    tools
        .with(checkpoint::CheckpointTool(scope.clone()))
        .with(expand::ExpandTool(scope.clone()))
        .with(explain::ExplainTool(scope.clone()))
        .with(facts::FactsTool(scope.clone()))
        .with(forget::ForgetTool(scope.clone()))
        .with(pack::PackTool(scope.clone()))
        .with(recall::RecallTool(scope.clone()))
        .with(remember::RememberTool(scope.clone()))
}

/// Where the built-in tools look.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolScope {
    /// The memory, or why there is none.
    pub store: Result<Store, Arc<str>>,
    /// Whose memory it is.
    pub sender: String,
    /// The channel that notes are kept on. What is recalled may come from any.
    pub channel: String,
    /// The folder of the project.
    pub root: PathBuf,
    /// Patterns of files that no pack shows, besides those of the call.
    pub exclude: Vec<String>,
    /// The folder of the cache; by default the user's own.
    pub cache_folder: Option<PathBuf>,
    /// The skills that a model may read.
    pub skills: Arc<Skills>,
    /// What earlier calls left in memory of the folder.
    pub resident: Arc<Resident>,
    /// Counts tokens.
    pub counter: Counter,
    /// Tells the time.
    pub clock: fn() -> Timestamp,
}

/// A prompt for an agent that has a window of its own to fill is smaller than one for a person.
const BUDGET: Tokens = Tokens(8_000);

/// The most tokens of a result: clients refuse or cut what is longer.
const LARGEST: u32 = 100_000;

impl ToolScope {
    /// The tools of a folder, with no memory.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, counter: Counter) -> Self {
        Self {
            store: Err("no memory is kept".into()),
            sender: "user".to_owned(),
            channel: "mcp".to_owned(),
            root: root.into(),
            exclude: Vec::new(),
            cache_folder: None,
            skills: Arc::default(),
            resident: Arc::default(),
            counter: counter.keeping_lines(),
            clock: Timestamp::now,
        }
    }

    /// The same with a memory, and whose it is.
    #[must_use]
    pub fn with_store(mut self, store: Store, sender: impl Into<String>) -> Self {
        self.store = Ok(store);
        self.sender = sender.into();
        self
    }

    /// The same with skills that a model may read.
    #[must_use]
    pub fn with_skills(mut self, skills: Skills) -> Self {
        self.skills = Arc::new(skills);
        self
    }

    fn memory(&self) -> Result<&Store, ToolError> {
        self.store.as_ref().map_err(ToolError::new)
    }

    /// Tells whether a conversation is one of the sender's, on whatever channel.
    async fn is_own(&self, id: ConversationId) -> Result<bool, ToolError> {
        results::is_own(self.memory()?, &self.sender, id).await
    }

    /// Lets the process do what the next pack would, on a thread of its own.
    fn work_ahead(&self) {
        let resident = Arc::clone(&self.resident);
        let counter = self.counter.clone();
        let thread = std::thread::Builder::new().name("ahead".into());
        // Without a thread the next pack does it.
        let work = move || {
            resident.work_ahead(|path, text, parsed| {
                clean_file(path, text, parsed);
                counter.learn_lines(text);
            });
        };
        drop(thread.spawn(work));
    }

    /// A pack for a task, with the budget that was asked for or the usual one.
    fn pack_request(&self, task: &str, budget: Option<u32>) -> PackRequest {
        let budget = budget.map_or(BUDGET, |tokens| Tokens(tokens.min(LARGEST)));
        let mut request = PackRequest::new(&self.root, task).with_budget(budget);
        request.survey.exclude.clone_from(&self.exclude);
        request.survey.cache_folder.clone_from(&self.cache_folder);
        request.survey.resident = Some(Arc::clone(&self.resident));
        request
    }
}
