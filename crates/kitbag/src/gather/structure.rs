//! The tree of the workspace.

use kitbag_core::chunk::{ChunkType, ContextPriority, Trust};
use kitbag_workspace::structure;

use super::{GatherFuture, GatherTask, Gatherer, blocking, levelled, paths};

/// Brings the tree of the workspace to a depth, and shallower trees as cheaper levels of it.
#[derive(Debug, Clone, Copy)]
pub struct Structure {
    /// The greatest depth of the tree.
    pub depth: usize,
}

impl Default for Structure {
    fn default() -> Self {
        Self {
            depth: structure::DEFAULT_DEPTH,
        }
    }
}

impl Gatherer for Structure {
    fn name(&self) -> &str {
        "structure"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let (workspace, depth) = (task.workspace(), self.depth);
        Box::pin(blocking(move || {
            let workspace = workspace?;
            let trees = structure::levels(&paths(&workspace), depth);
            let chunk = levelled(
                ChunkType::Structure,
                "workspace",
                ContextPriority::Low,
                trees,
            );
            // The names of files come from the authors of the repository, and may try to instruct.
            Ok(chunk.map(|chunk| chunk.with_trust(Trust::Untrusted)).into())
        }))
    }
}
