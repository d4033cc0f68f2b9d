//! What the project tells agents.

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority};
use kitbag_workspace::instructions::instructions;
use kitbag_workspace::query::Query;

use super::{GatherFuture, GatherTask, Gathered, Gatherer, blocking};

/// Brings the project's own instructions (`AGENTS.md` and the like), the nearest to what the task
/// names. They are a file of the repository like others: data, with more weight.
#[derive(Debug, Clone, Copy, Default)]
pub struct Instructions;

impl Gatherer for Instructions {
    fn name(&self) -> &str {
        "instructions"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let (workspace, query) = (task.workspace.clone(), Query::new(&task.request));
        Box::pin(blocking(move || {
            let paths: Vec<&str> = workspace
                .files()
                .iter()
                .map(|file| file.path.as_str())
                .collect();
            let targets: Vec<&str> = paths
                .iter()
                .copied()
                .filter(|path| query.mentions.has_name(path) || query.mentions.has_dotted(path))
                .collect();
            let found = instructions(&paths, &targets, &|path: &str| workspace.read(path));
            let chunk = |found: kitbag_workspace::instructions::Instruction| {
                let kind = ChunkType::Other("instructions".into());
                ContextChunk::new(kind, found.path, found.content)
                    .with_priority(ContextPriority::High)
            };
            Ok(Gathered::from(
                found.into_iter().map(chunk).collect::<Vec<_>>(),
            ))
        }))
    }
}
