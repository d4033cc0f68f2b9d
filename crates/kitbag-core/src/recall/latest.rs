//! The latest statement wins: a message ranks above those that it outdates.

use alloc::vec::Vec;

use super::rank::{Hit, MessageFacts};

/// Moves each message that outdates others before the best of them. The part `latest` of its score
/// is the rise.
pub(super) fn put_first(hits: &mut Vec<(Hit, &MessageFacts)>) {
    let mut at = 0;
    while let Some((older, _)) = hits.get(at) {
        let total = older.score.total();
        let latest = older.outdated_by.and_then(|place| {
            let is_it = |(hit, _): &(Hit, &MessageFacts)| (hit.conversation, hit.message) == place;
            hits.iter().position(is_it)
        });
        // One that ranks above already needs no rise.
        if let Some(from) = latest.filter(|from| *from > at) {
            let (mut hit, facts) = hits.remove(from);
            // Just enough to be above.
            let rise = total - hit.score.total() + 1;
            hit.score = core::mem::take(&mut hit.score).plus("latest", rise);
            hits.insert(at, (hit, facts));
        }
        at += 1;
    }
}
