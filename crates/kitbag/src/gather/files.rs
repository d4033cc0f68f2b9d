//! Files by pattern.

use kitbag_core::chunk::{ChunkType, ContextChunk};
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_workspace::language::Language;
use kitbag_workspace::workspace::{Workspace, WorkspaceOptions};

use super::{GatherError, GatherFuture, GatherTask, Gathered, Gatherer, pooled};

/// Brings the files that match patterns, whole, in the order of their paths. A pack ranks files by
/// itself; this is for callers who know which files they want.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Files {
    /// The patterns, as in a `.gitignore` file: `src/**/*.rs`.
    pub patterns: Vec<String>,
    /// The most files.
    pub max_files: usize,
}

impl Files {
    /// At most 50 files that match one of the patterns.
    #[must_use]
    pub fn new(patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            patterns: patterns.into_iter().map(Into::into).collect(),
            max_files: 50,
        }
    }
}

impl Gatherer for Files {
    fn name(&self) -> &str {
        "files"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let (within, wanted) = (task.workspace(), self.clone());
        Box::pin(pooled(move || {
            let mut options = WorkspaceOptions::default();
            // A workspace of its own, because the patterns of the task's own one may leave these files out.
            options.include = wanted.patterns;
            let workspace = Workspace::open(within?.root(), &options).map_err(GatherError::new)?;
            let mut gathered = Gathered::default();
            for file in workspace.files().iter().take(wanted.max_files) {
                let Some(text) = workspace.read(&file.path) else {
                    let message = format!("`{}` is no text", file.path);
                    let problem = Problem::new("", ProblemKind::LeftOut, message);
                    gathered.problems.push(problem);
                    continue;
                };
                let mut chunk = ContextChunk::new(ChunkType::File, file.path.as_str(), &*text);
                let language = Language::of_text(&file.path, &text);
                let language = language.map(|one| ("language".into(), one.name().into()));
                let modified = file.modified.map(|at| ("last_modified".into(), at.into()));
                chunk.metadata.extend(language.into_iter().chain(modified));
                gathered.chunks.push(chunk);
            }
            let left = workspace.files().len().saturating_sub(wanted.max_files);
            if left > 0 {
                let limit = wanted.max_files;
                let message = format!("{left} more files match; the limit is {limit}");
                let problem = Problem::new("", ProblemKind::LeftOut, message);
                gathered.problems.push(problem);
            }
            Ok(gathered)
        }))
    }
}
