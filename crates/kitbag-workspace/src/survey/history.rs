//! The evidence of git's log: the words and the times of the commits that touched each file.

use kitbag_core::text::{Word, words};

use crate::git::Commit;
use crate::query::Term;
use crate::relevance::field::{Document, normalise};
use crate::relevance::units::position;

/// A commit that touches more files than this says nothing about each.
const MOST_FILES: usize = 15;

/// The age in days at which a change counts for a third.
const DAYS: f64 = 180.0;

/// The evidence of the log for each file of a workspace.
pub(super) struct History {
    pub(super) subjects: Vec<Document>,
    /// From 0 to 1; 0 where the log does not have the file.
    pub(super) recency: Vec<f64>,
    /// The sum of its changes, recent ones counting most; 1 for the file changed most.
    pub(super) activity: Vec<f64>,
}

impl History {
    /// The history of these paths, which are sorted.
    pub(super) fn of(commits: &[Commit], paths: &[&str], terms: &[Term]) -> Self {
        let mut history = Self {
            subjects: vec![Document::default(); paths.len()],
            recency: vec![0.0; paths.len()],
            activity: vec![0.0; paths.len()],
        };
        // A clock that was wrong once must not make everything else old.
        let newest = commits.first().map_or(0, |commit| commit.time);
        for commit in commits {
            let touched: Vec<usize> = commit
                .paths
                .iter()
                .filter_map(|path| paths.binary_search(&path.as_str()).ok())
                .collect();
            let fresh = freshness(newest, commit.time);
            for &file in &touched {
                if let Some(recency) = history.recency.get_mut(file) {
                    *recency = recency.max(fresh);
                }
            }
            // It still makes the files recent, which is why it is looked at before this.
            if commit.paths.len() > MOST_FILES {
                continue;
            }
            let found = terms_of(&commit.subject, terms);
            for &file in &touched {
                if let Some(activity) = history.activity.get_mut(file) {
                    *activity += fresh;
                }
                if let Some(document) = history.subjects.get_mut(file) {
                    document.length = document.length.saturating_add(found.length);
                    for &(term, count) in &found.counts {
                        document.add(term, count);
                    }
                }
            }
        }
        for document in &mut history.subjects {
            document.counts.sort_unstable();
        }
        normalise(&mut history.activity);
        history
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

/// The words of a text that are terms of the query, and how many words it has.
pub(super) fn terms_of(text: &str, terms: &[Term]) -> Document {
    let mut document = Document::default();
    for word in words(text) {
        let (word, is_whole) = match &word {
            Word::Part(word) => (word, false),
            Word::Whole(word) => (word, true),
        };
        document.length += u32::from(!is_whole);
        if let Some(term) = position(terms, word, is_whole) {
            document.add(term, 1);
        }
    }
    document.counts.sort_unstable();
    document
}
