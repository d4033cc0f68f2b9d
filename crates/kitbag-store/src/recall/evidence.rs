//! Gathers evidence for a query: places of its words from the index, and messages of the days it
//! names.

use kitbag_core::recall::{Evidence, Query};

use super::{Part, RecallRequest, as_utc};
use crate::error::Result;
use crate::index;
use crate::transaction::Tx;

/// The most messages that are read of the days that a query names.
const DATED: u32 = 2_000;

/// Returns the places of a query's words, and the messages of the days that it names. Reading a word stops once it
/// has more than `most` places, so a longer list is incomplete.
pub(super) async fn gather(
    tx: &mut Tx<'_>,
    parts: &[Part],
    request: &RecallRequest,
    query: &Query,
    most: usize,
) -> Result<Evidence> {
    let conditions = request.filter.message_conditions();
    let mut evidence = Evidence::default();
    for part in parts {
        // Another program may have written a negative total; that must not end a query.
        evidence.passages += part.scope.passages.max(0).unsigned_abs();
        evidence.words += part.scope.words.max(0).unsigned_abs();
        evidence.conversations += u64::from(part.scope.conversations);
        for (term, mut postings) in index::evidence(tx, &part.scope, query, most).await? {
            for posting in &mut postings {
                posting.place.conversation = posting.place.conversation.saturating_add(part.offset);
            }
            evidence
                .postings
                .entry(term)
                .or_default()
                .append(&mut postings);
        }
        // A year would have too many messages, and being of that year says little.
        for range in query.days().iter().filter(|range| range.is_short()) {
            let (from, to) = (range.first, range.told_until());
            let start = |date: jiff::civil::Date| as_utc(date.into()).as_microsecond();
            let end = to.tomorrow().map_or(i64::MAX, start);
            // Leaves room for the 25 hours that the statement adds.
            let end = end.min(i64::MAX - 90_000_000_000);
            let sql = format!(
                // Days are those of the speaker's clock. The index holds moments, so it narrows the
                // search to 25 hours around them.
                "SELECT conversation, seq FROM message WHERE tenant = $1 AND scope = $2 \
                 AND at + coalesce(at_offset, 0) * 1000000 >= $3 \
                 AND at + coalesce(at_offset, 0) * 1000000 < $4 \
                 AND at >= $3 - 90000000000 AND at < $4 + 90000000000 \
                 AND recallable = 1{conditions} ORDER BY arrival LIMIT $5"
            );
            let values = (part.scope.id, start(from), end, DATED);
            for (conversation, seq) in tx.query::<(u32, u32)>(&sql, values).await? {
                let place = (conversation.saturating_add(part.offset), seq);
                evidence.dated.push(place);
            }
        }
    }
    Ok(evidence)
}
