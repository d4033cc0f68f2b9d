//! The tree of the workspace.

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level, Trust};
use kitbag_workspace::structure;

use super::{GatherFuture, GatherTask, Gathered, Gatherer, blocking};

/// Brings the tree of the workspace to a depth, and shallower trees as cheaper levels of it.
#[derive(Debug, Clone, Copy)]
pub struct Structure {
    /// How deep the tree is at most.
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
        let (workspace, depth) = (task.workspace.clone(), self.depth);
        Box::pin(blocking(move || {
            let paths: Vec<&str> = workspace
                .files()
                .iter()
                .map(|file| file.path.as_str())
                .collect();
            let mut trees = structure::levels(&paths, depth).into_iter();
            let Some(deepest) = trees.next() else {
                return Ok(Gathered::default());
            };
            let chunk = ContextChunk::new(ChunkType::Structure, "workspace", deepest)
                .with_priority(ContextPriority::Low)
                .with_trust(Trust::Untrusted);
            let outlined =
                |chunk: ContextChunk, tree| chunk.with_level(Level::new(Detail::Outline, tree));
            Ok(Gathered::from(vec![trees.fold(chunk, outlined)]))
        }))
    }
}
