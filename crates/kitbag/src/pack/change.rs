//! A change to review: its patches as chunks, and the lines that it touches.

use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level};
use kitbag_workspace::git::{Changes, FileDiff, FileStatus};
use kitbag_workspace::survey::Changed;
use kitbag_workspace::workspace::Workspace;

use super::PackError;

/// The changes of a workspace.
pub(super) fn changes(
    workspace: &Workspace,
    changes: &Changes,
) -> Result<Vec<FileDiff>, PackError> {
    let repository = workspace.repository().ok_or(PackError::NoRepository)?;
    repository.diff(changes).map_err(PackError::Git)
}

/// What the survey is told.
pub(super) fn changed(diffs: &[FileDiff]) -> Vec<Changed> {
    let changed = |diff: &FileDiff| Changed::new(diff.path.as_str(), diff.hunks.clone());
    diffs.iter().map(changed).collect()
}

/// A chunk for each file's patch.
pub(super) fn chunks(diffs: &[FileDiff]) -> Vec<ContextChunk> {
    diffs.iter().map(chunk).collect()
}

fn chunk(diff: &FileDiff) -> ContextChunk {
    let status = match &diff.status {
        FileStatus::Added => "added".to_owned(),
        FileStatus::Deleted => "deleted".to_owned(),
        FileStatus::Renamed { from } => format!("renamed from {from}"),
        FileStatus::TypeChanged => "became another kind of file".to_owned(),
        FileStatus::Unmerged => "unmerged".to_owned(),
        _ => "modified".to_owned(),
    };
    let line = format!("{}: {status}", diff.path);
    let source = format!("diff of {}", diff.path);
    let kind = ChunkType::Other("diff".into());
    let mut chunk = if diff.patch.is_empty() {
        ContextChunk::new(kind, source, line)
    } else {
        ContextChunk::new(kind, source, diff.patch.as_str())
            .with_level(Level::new(Detail::Line, line))
    };
    chunk.metadata.insert("language".into(), "diff".into());
    chunk.with_priority(ContextPriority::High)
}
