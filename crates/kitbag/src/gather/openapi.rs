//! Descriptions of HTTP interfaces.

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level};
use kitbag_workspace::openapi::summarize;

use super::{GatherError, GatherFuture, GatherTask, Gathered, Gatherer, blocking};

/// Brings an OpenAPI description of the workspace as a summary: its operations, with as much detail
/// as there is room for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OpenApi {
    /// The path of the description, below the root.
    pub path: String,
}

impl OpenApi {
    /// The description at `path`.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into() }
    }
}

impl Gatherer for OpenApi {
    fn name(&self) -> &str {
        "openapi"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let (workspace, path) = (task.workspace.clone(), self.path.clone());
        Box::pin(blocking(move || {
            let missing =
                || GatherError::new(format_args!("there is no text `{path}` in the workspace"));
            let text = workspace.read(&path).ok_or_else(missing)?;
            let mut levels = summarize(&text)
                .map_err(|error| GatherError::new(format_args!("`{path}`: {error}")))?
                .into_iter();
            let kind = ChunkType::Other("api_spec".into());
            let mut chunk = ContextChunk::new(kind, path, levels.next().unwrap_or_default());
            // The summary is not in the language of the file.
            chunk.metadata.insert("language".into(), "text".into());
            let terser =
                |chunk: ContextChunk, text| chunk.with_level(Level::new(Detail::Outline, text));
            let chunk = levels.fold(chunk.with_priority(ContextPriority::High), terser);
            Ok(Gathered::from(vec![chunk]))
        }))
    }
}
