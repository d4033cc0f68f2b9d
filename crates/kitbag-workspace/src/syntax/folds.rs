//! The lines that an outline leaves out: bodies, long values, and statements that define nothing.

use super::Fold;
use super::items::{Item, ItemKind};

/// Anything this short stays whole.
const SHORT: u32 = 3;
/// A comment that belongs to nothing stays up to this length.
const SHORT_COMMENT: u32 = 6;

/// The folds of a file with these items.
pub(super) fn of(items: &[Item]) -> Vec<Fold> {
    let mut folds = Vec::new();
    gather(items, &mut folds);
    folds.sort_unstable_by_key(|fold| (fold.first, fold.last));
    // Definitions that share a line can claim it twice.
    let mut end = 0;
    folds.retain(|fold| {
        let apart = fold.first > end;
        end = end.max(fold.last);
        apart
    });
    folds
}

fn gather(items: &[Item], folds: &mut Vec<Fold>) {
    for item in items {
        let (left_out, short) = match item.kind {
            // Its members decide for themselves; only their bodies are folded.
            _ if item.is_container() => {
                gather(&item.items, folds);
                continue;
            }
            ItemKind::Statement => (Some((item.first, item.last)), SHORT),
            ItemKind::Comment => (Some((item.first, item.last)), SHORT_COMMENT),
            _ => (item.body, SHORT),
        };
        if let Some((first, last)) = left_out
            && first + short <= last
        {
            folds.push(Fold { first, last });
        }
    }
}
