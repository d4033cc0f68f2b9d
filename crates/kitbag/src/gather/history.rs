//! The last commits.

use jiff::Timestamp;
use kitbag_core::chunk::{ChunkType, ContextPriority};
use kitbag_workspace::git::Commit;

use super::{GatherError, GatherFuture, GatherTask, Gatherer, blocking, levelled};

/// Brings the last commits with the files that they changed; nothing outside git.
#[derive(Debug, Clone, Copy)]
pub struct History {
    /// The number of commits, at most 1,500.
    pub commits: usize,
}

impl Default for History {
    fn default() -> Self {
        Self { commits: 5 }
    }
}

/// The most files that are listed of a commit; the others are counted.
const MOST_PATHS: usize = 8;

impl Gatherer for History {
    fn name(&self) -> &str {
        "history"
    }

    fn gather<'a>(&'a self, task: &'a GatherTask) -> GatherFuture<'a> {
        let (workspace, commits) = (task.workspace(), self.commits);
        Box::pin(blocking(move || {
            let workspace = workspace?;
            let history = match workspace.repository() {
                Some(repository) => repository.history().map_err(GatherError::new)?,
                // A folder outside git has no history, which is no error.
                None => &[],
            };
            let commits = history.get(..commits).unwrap_or(history);
            // Two levels: with the changed files, and the subjects alone where there is less room.
            let texts = (!commits.is_empty()).then(|| {
                let detailed = commits.iter().map(with_paths).collect();
                [detailed, commits.iter().map(line).collect()]
            });
            let texts = texts.into_iter().flatten();
            let chunk = levelled(ChunkType::History, "git log", ContextPriority::High, texts);
            Ok(chunk.into())
        }))
    }
}

fn line(commit: &Commit) -> String {
    let id: String = commit.id.chars().take(8).collect();
    // A commit may carry any time; one out of range is shown as 1970.
    let time = Timestamp::from_second(commit.time).unwrap_or_default();
    let day: String = time.to_string().chars().take(10).collect();
    format!("{id} {day} {}\n", commit.subject)
}

fn with_paths(commit: &Commit) -> String {
    let mut text = line(commit);
    for path in commit.paths.iter().take(MOST_PATHS) {
        text.push_str(&format!("  {path}\n"));
    }
    let more = commit.paths.len().saturating_sub(MOST_PATHS);
    if more > 0 {
        text.push_str(&format!("  … {more} more\n"));
    }
    text
}
