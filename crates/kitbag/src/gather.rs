//! Gatherers, the sources of chunks. They run concurrently, and one that fails becomes a problem and
//! stops no other.
//!
//! Implement [`Gatherer`] to bring chunks of your own: API documents, tickets, whatever a model
//! should see. Those that come with Kitbag read a workspace.

#[cfg(feature = "workspace")]
mod dependencies;
#[cfg(feature = "workspace")]
mod files;
#[cfg(feature = "workspace")]
mod history;
#[cfg(feature = "workspace")]
mod instructions;
#[cfg(feature = "workspace")]
mod openapi;
#[cfg(feature = "workspace")]
mod structure;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
#[cfg(feature = "workspace")]
use std::sync::LazyLock;

use futures_channel::oneshot;
use futures_util::future::join_all;
use kitbag_core::chunk::ContextChunk;
#[cfg(feature = "workspace")]
use kitbag_core::chunk::{ChunkType, ContextPriority, Detail, Level};
use kitbag_core::envelope::TaskType;
use kitbag_core::problem::Problem;
use kitbag_core::tokens::Tokens;
#[cfg(feature = "workspace")]
use kitbag_workspace::workspace::Workspace;
#[cfg(feature = "workspace")]
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::engine::Contribution;

#[cfg(feature = "workspace")]
pub use dependencies::Dependencies;
#[cfg(feature = "workspace")]
pub use files::Files;
#[cfg(feature = "workspace")]
pub use history::History;
#[cfg(feature = "workspace")]
pub use instructions::Instructions;
#[cfg(feature = "workspace")]
pub use openapi::OpenApi;
#[cfg(feature = "workspace")]
pub use structure::Structure;

/// Brings chunks for a task.
///
/// ```
/// use kitbag::core::chunk::{ChunkType, ContextChunk};
/// use kitbag::gather::{GatherFuture, GatherTask, Gathered, Gatherer};
///
/// struct Glossary;
///
/// impl Gatherer for Glossary {
///     fn name(&self) -> &str {
///         "glossary"
///     }
///
///     fn gather<'a>(&'a self, _task: &'a GatherTask) -> GatherFuture<'a> {
///         Box::pin(async {
///             let chunk = ContextChunk::new(ChunkType::Document, "glossary", "A kit is …");
///             Ok(Gathered::from(vec![chunk]))
///         })
///     }
/// }
/// ```
pub trait Gatherer: Send + Sync {
    /// Names the gatherer in problems and logs.
    fn name(&self) -> &str;

    /// Brings the chunks. What blocks belongs into [`blocking`].
    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a>;
}

impl fmt::Debug for dyn Gatherer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The future that [`Gatherer::gather`] returns.
pub type GatherFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Gathered, GatherError>> + Send + 'a>>;

/// A task, as gatherers see it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GatherTask {
    /// The request.
    pub request: String,
    /// The kind of task.
    pub task_type: TaskType,
    /// The most tokens that the prompt may have.
    pub budget: Tokens,
    /// The workspace, where the task is about one.
    #[cfg(feature = "workspace")]
    pub workspace: Option<Arc<Workspace>>,
}

impl GatherTask {
    /// A message that is about no workspace.
    #[must_use]
    pub fn without_workspace(request: impl Into<String>, budget: Tokens) -> Self {
        Self {
            request: request.into(),
            task_type: TaskType::Analyze,
            budget,
            #[cfg(feature = "workspace")]
            workspace: None,
        }
    }

    /// A task in a workspace.
    #[cfg(feature = "workspace")]
    #[must_use]
    pub fn new(
        request: impl Into<String>,
        task_type: TaskType,
        budget: Tokens,
        workspace: Arc<Workspace>,
    ) -> Self {
        Self {
            request: request.into(),
            task_type,
            budget,
            workspace: Some(workspace),
        }
    }

    /// The workspace, or the error of a gatherer that cannot do without one.
    #[cfg(feature = "workspace")]
    fn workspace(&self) -> Result<Arc<Workspace>, GatherError> {
        let workspace = self.workspace.clone();
        workspace.ok_or_else(|| GatherError::new("it reads a workspace, and there is none"))
    }
}

/// The chunks of a gatherer, and its problems.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Gathered {
    /// The chunks.
    pub chunks: Vec<ContextChunk>,
    /// Problems that leave the chunks usable. A problem without a source gets the gatherer's name.
    pub problems: Vec<Problem>,
}

impl<C: IntoIterator<Item = ContextChunk>> From<C> for Gathered {
    fn from(chunks: C) -> Self {
        Self {
            chunks: chunks.into_iter().collect(),
            problems: Vec::new(),
        }
    }
}

/// The reason why a gatherer brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GatherError(String);

impl GatherError {
    /// An error with this message: what was wrong, with which value.
    #[must_use]
    pub fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

/// The paths of all files of a workspace.
#[cfg(feature = "workspace")]
fn paths(workspace: &Workspace) -> Vec<&str> {
    let files = workspace.files().iter();
    files.map(|file| file.path.as_str()).collect()
}

/// A chunk with these texts as its levels, the most detailed first. `None` without a text.
#[cfg(feature = "workspace")]
fn levelled(
    kind: ChunkType,
    source: &str,
    priority: ContextPriority,
    texts: impl IntoIterator<Item = String>,
) -> Option<ContextChunk> {
    let mut texts = texts.into_iter();
    let chunk = ContextChunk::new(kind, source, texts.next()?).with_priority(priority);
    let outlines = texts.map(|text| Level::new(Detail::Outline, text));
    Some(outlines.fold(chunk, ContextChunk::with_level))
}

/// Runs all gatherers side by side. What they bring stands in their order; one that fails becomes a
/// problem. Secrets are replaced in what they bring.
pub async fn gather(gatherers: &[Arc<dyn Gatherer>], task: &GatherTask) -> Contribution {
    // `join_all` keeps the order of the gatherers, so that prompts do not depend on which was faster.
    let results = join_all(gatherers.iter().map(|gatherer| gatherer.gather(task))).await;
    let mut all = Contribution::default();
    for (gatherer, result) in gatherers.iter().zip(results) {
        match result {
            Ok(gathered) => {
                tracing::debug!(
                    event = "gathered",
                    source = gatherer.name(),
                    chunks = gathered.chunks.len(),
                    problems = gathered.problems.len(),
                );
                // `add` replaces secrets; chunks of a caller's own gatherer pass it too.
                gathered.chunks.into_iter().for_each(|chunk| all.add(chunk));
                for mut problem in gathered.problems {
                    // A gatherer does not have to repeat its name in each problem.
                    if problem.source.is_empty() {
                        problem.source = gatherer.name().to_owned();
                    }
                    all.problems.push(problem);
                }
            }
            Err(error) => {
                tracing::info!(event = "gather_failed", source = gatherer.name(), %error);
                all.problems.push(Problem::failed(gatherer.name(), error));
            }
        }
    }
    all
}

/// Runs what blocks on a thread of its own, whatever the runtime. What it does with rayon runs in
/// rayon's own pool: when the caller may be one of that pool's threads, and waits, use another.
///
/// # Errors
/// Those of `work`, or that it panicked.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GatherError> + Send + 'static,
) -> Result<T, GatherError> {
    let (send, receive) = oneshot::channel();
    let run = move || {
        // This fails only when the caller no longer waits.
        let _ = send.send(work());
    };
    // A thread and not the runtime's pool: the library does not choose a runtime for its callers.
    std::thread::Builder::new()
        .name("gather".into())
        .spawn(run)
        .map_err(|error| GatherError::new(format_args!("no thread could be started: {error}")))?;
    let stopped = |_| GatherError::new("it stopped without an answer");
    receive.await.map_err(stopped)?
}

/// Runs parallel work on a private rayon pool: the caller may be a worker of the global one and would
/// block it.
#[cfg(feature = "workspace")]
pub(crate) async fn pooled<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GatherError> + Send + 'static,
) -> Result<T, GatherError> {
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let named = ThreadPoolBuilder::new().thread_name(|number| format!("pack {number}"));
        named.build().ok()
    });
    blocking(|| match &*POOL {
        Some(pool) => pool.install(work),
        // Without threads for a pool, the work runs on the one that it has.
        None => work(),
    })
    .await
}
