//! The last commits.

use jiff::Timestamp;
use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail, Level};
use kitbag_workspace::git::Commit;

use super::{GatherError, GatherFuture, GatherTask, Gathered, Gatherer, blocking};

/// Brings the last commits with the files that they changed; nothing outside git.
#[derive(Debug, Clone, Copy)]
pub struct History {
    /// How many commits, at most 1,500.
    pub commits: usize,
}

impl Default for History {
    fn default() -> Self {
        Self { commits: 5 }
    }
}

/// More files of a commit than this are only counted.
const MOST_PATHS: usize = 8;

impl Gatherer for History {
    fn name(&self) -> &str {
        "history"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let (workspace, commits) = (task.workspace.clone(), self.commits);
        Box::pin(blocking(move || {
            let Some(repository) = workspace.repository() else {
                return Ok(Gathered::default());
            };
            let history = repository.history().map_err(GatherError::new)?;
            let commits = history.get(..commits).unwrap_or(history);
            if commits.is_empty() {
                return Ok(Gathered::default());
            }
            let detailed: String = commits.iter().map(with_paths).collect();
            let chunk = ContextChunk::new(ChunkType::History, "git log", detailed)
                .with_priority(ContextPriority::High)
                .with_level(Level::new(
                    Detail::Outline,
                    commits.iter().map(line).collect::<String>(),
                ));
            Ok(Gathered::from(vec![chunk]))
        }))
    }
}

fn line(commit: &Commit) -> String {
    let id: String = commit.id.chars().take(8).collect();
    let time = Timestamp::from_second(commit.time)
        .unwrap_or_default()
        .to_string();
    let day: String = time.chars().take(10).collect();
    format!("{id} {day} {}\n", commit.subject)
}

fn with_paths(commit: &Commit) -> String {
    let mut text = line(commit);
    for path in commit.paths.iter().take(MOST_PATHS) {
        text.push_str(&format!("  {path}\n"));
    }
    if let Some(more) = commit
        .paths
        .len()
        .checked_sub(MOST_PATHS)
        .filter(|&more| more > 0)
    {
        text.push_str(&format!("  … {more} more\n"));
    }
    text
}
