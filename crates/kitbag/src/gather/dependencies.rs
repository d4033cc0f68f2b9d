//! What the project depends on.

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level};
use kitbag_core::problem::Problem;
use kitbag_workspace::dependencies;

use super::{GatherFuture, GatherTask, Gathered, Gatherer, blocking};

/// Brings the dependencies that the project's manifests name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dependencies;

impl Gatherer for Dependencies {
    fn name(&self) -> &str {
        "dependencies"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let workspace = task.workspace.clone();
        Box::pin(blocking(move || {
            let paths: Vec<&str> = workspace
                .files()
                .iter()
                .map(|file| file.path.as_str())
                .collect();
            let found = dependencies::dependencies(&paths, &|path: &str| workspace.read(path));
            let mut texts = dependencies::levels(&found).into_iter();
            let chunk = texts.next().map(|detailed| {
                let chunk = ContextChunk::new(ChunkType::Dependency, "manifests", detailed);
                let terser =
                    |chunk: ContextChunk, text| chunk.with_level(Level::new(Detail::Outline, text));
                texts.fold(chunk.with_priority(ContextPriority::Medium), terser)
            });
            Ok(Gathered {
                chunks: chunk.into_iter().collect(),
                problems: found
                    .problems
                    .iter()
                    .map(|problem| Problem::failed("", problem))
                    .collect(),
            })
        }))
    }
}
