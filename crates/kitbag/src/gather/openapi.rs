//! Descriptions of HTTP interfaces.

use kitbag_core::chunk::{ChunkType, ContextPriority};
use kitbag_workspace::openapi::summarize;

use super::{GatherError, GatherFuture, GatherTask, Gatherer, blocking, levelled};

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
        let (workspace, path) = (task.workspace(), self.path.clone());
        Box::pin(blocking(move || {
            let workspace = workspace?;
            // Unlike the built-in gatherers this one was asked for a certain file, so that its absence is an error.
            let missing =
                || GatherError::new(format_args!("there is no text `{path}` in the workspace"));
            let text = workspace.read(&path).ok_or_else(missing)?;
            let levels = summarize(&text)
                .map_err(|error| GatherError::new(format_args!("`{path}`: {error}")))?;
            let kind = ChunkType::Other("api_spec".into());
            let mut chunk = levelled(kind, &path, ContextPriority::High, levels);
            if let Some(chunk) = &mut chunk {
                // The summary is not in the language of the file.
                chunk.metadata.insert("language".into(), "text".into());
            }
            Ok(chunk.into())
        }))
    }
}
