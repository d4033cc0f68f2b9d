//! The evidence of git's log: the words of the commits that touched each file.

use kitbag_core::text::{Word, words};

use crate::git::Commit;
use crate::query::Term;
use crate::relevance::field::Document;
use crate::relevance::units::position;
use crate::workspace::Touched;

/// The words that the commits of each file have of a query.
pub(super) fn subjects(
    commits: &[Commit],
    touched: &Touched,
    files: usize,
    terms: &[Term],
) -> Vec<Document> {
    let mut subjects = vec![Document::default(); files];
    for (commit, touched) in commits.iter().zip(&touched.by_commit) {
        if touched.is_empty() {
            continue;
        }
        let found = terms_of(&commit.subject, terms);
        for &file in touched {
            if let Some(document) = subjects.get_mut(file) {
                document.length = document.length.saturating_add(found.length);
                for &(term, count) in &found.counts {
                    document.add(term, count);
                }
            }
        }
    }
    for document in &mut subjects {
        document.counts.sort_unstable();
    }
    subjects
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
