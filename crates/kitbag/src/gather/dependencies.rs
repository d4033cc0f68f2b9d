//! The dependencies of the project.

use kitbag_core::chunk::{ChunkType, ContextPriority};
use kitbag_core::problem::Problem;
use kitbag_workspace::dependencies;

use super::{GatherFuture, GatherTask, Gathered, Gatherer, blocking, levelled, paths};

/// Brings the dependencies that the project's manifests name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dependencies;

impl Gatherer for Dependencies {
    fn name(&self) -> &str {
        "dependencies"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let workspace = task.workspace();
        // Reading files blocks, and gatherers of a caller may share this thread.
        Box::pin(blocking(move || {
            let workspace = workspace?;
            let read = |path: &str| workspace.read(path);
            let found = dependencies::dependencies(&paths(&workspace), &read);
            let levels = dependencies::levels(&found);
            let priority = ContextPriority::Medium;
            let chunk = levelled(ChunkType::Dependency, "manifests", priority, levels);
            let problems = found.problems.iter();
            Ok(Gathered {
                problems: problems.map(|one| Problem::failed("", one)).collect(),
                ..chunk.into()
            })
        }))
    }
}
