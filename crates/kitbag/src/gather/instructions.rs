//! The project's instructions for agents.

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority};
use kitbag_workspace::instructions::{Instruction, instructions};
use kitbag_workspace::query::Query;

use super::{GatherFuture, GatherTask, Gatherer, blocking, paths};

/// Brings the project's own instructions (`AGENTS.md` and the like), the nearest to what the task
/// names. They are a file of the repository like others: data, with more weight.
#[derive(Debug, Clone, Copy, Default)]
pub struct Instructions;

impl Gatherer for Instructions {
    fn name(&self) -> &str {
        "instructions"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let (workspace, query) = (task.workspace(), Query::new(&task.request));
        Box::pin(blocking(move || {
            let workspace = workspace?;
            let paths = paths(&workspace);
            let is_named =
                |path: &&str| query.mentions.has_name(path) || query.mentions.has_dotted(path);
            // Instructions of a folder apply to the files below it, so the files that the task names decide.
            let targets: Vec<&str> = paths.iter().copied().filter(is_named).collect();
            let found = instructions(&paths, &targets, &|path: &str| workspace.read(path));
            let chunk = |found: Instruction| {
                let kind = ChunkType::Other("instructions".into());
                ContextChunk::new(kind, found.path, found.content)
                    .with_priority(ContextPriority::High)
            };
            let chunks: Vec<ContextChunk> = found.into_iter().map(chunk).collect();
            Ok(chunks.into())
        }))
    }
}
