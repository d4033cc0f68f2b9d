//! The files that the commits of the log touch, found once for all surveys of a workspace.

use crate::git::Commit;
use crate::relevance::field::normalise;
use crate::walk::FileEntry;

/// A commit that touches more files than this says nothing about each.
const MOST_FILES: usize = 15;

/// The age in days of a change that counts for a third.
const DAYS: f64 = 180.0;

/// The changes of each file in the log. They do not depend on a task.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// The files of each commit that touches few, in the order of the log.
    pub(crate) by_commit: Vec<Vec<usize>>,
    /// From 0 to 1; 0 where the log does not have the file.
    pub(crate) recency: Vec<f64>,
    /// The sum of its changes, recent ones counting most; 1 for the file changed most.
    pub(crate) activity: Vec<f64>,
    /// The time of its last change, in seconds since 1970.
    pub(super) last: Vec<Option<i64>>,
}

impl Touched {
    /// Sums up commits, the newest first, for files that are sorted by path.
    pub(super) fn of(commits: &[Commit], files: &[FileEntry]) -> Self {
        let mut touched = Self {
            by_commit: Vec::with_capacity(commits.len()),
            recency: vec![0.0; files.len()],
            activity: vec![0.0; files.len()],
            last: vec![None; files.len()],
        };
        // A clock that was wrong once must not make everything else old.
        let newest = commits.first().map_or(0, |commit| commit.time);
        for commit in commits {
            let place = |path: &String| files.binary_search_by(|file| file.path.cmp(path)).ok();
            let mut of_commit: Vec<usize> = commit.paths.iter().filter_map(place).collect();
            let fresh = freshness(newest, commit.time);
            for &file in &of_commit {
                if let Some(recency) = touched.recency.get_mut(file) {
                    *recency = recency.max(fresh);
                }
                if let Some(last) = touched.last.get_mut(file) {
                    last.get_or_insert(commit.time);
                }
            }
            // It still makes the files recent, which is why it is looked at before this.
            if commit.paths.len() > MOST_FILES {
                of_commit.clear();
            }
            for &file in &of_commit {
                if let Some(activity) = touched.activity.get_mut(file) {
                    *activity += fresh;
                }
            }
            touched.by_commit.push(of_commit);
        }
        normalise(&mut touched.activity);
        touched
    }
}

/// From 1 for a change at `newest` towards 0 for old ones.
fn freshness(newest: i64, time: i64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "spans of time are far below 2^52"
    )]
    let days = newest.saturating_sub(time) as f64 / 86_400.0;
    libm::exp(-days.max(0.0) / DAYS)
}
