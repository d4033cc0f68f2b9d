//! Applies a filter before the best candidates are chosen, so that rejected messages take no place
//! of others.

use std::collections::BTreeSet;

use kitbag_core::recall::Candidate;

use super::Part;
use crate::error::Result;
use crate::filter::MessageFilter;
use crate::history;
use crate::transaction::Tx;
use crate::value::Value;

/// The number of candidates that are read together.
const PAGE: usize = 1_000;

/// The conversations that may hold messages the filter admits; none if the filter does not restrict
/// conversations.
pub(super) async fn conversations(
    tx: &mut Tx<'_>,
    parts: &[Part],
    filter: &MessageFilter,
) -> Result<Option<BTreeSet<u32>>> {
    if !filter.is_about_conversations() && !filter.is_about_times() {
        return Ok(None);
    }
    let mut numbers = BTreeSet::new();
    for part in parts {
        let mut parameters: Vec<Value> = vec![part.scope.id.into()];
        let named = filter.conversation_condition(&mut parameters);
        let sql = format!(
            "SELECT id FROM conversation WHERE tenant = $1 AND scope = $2{named}{}",
            filter.activity_conditions()
        );
        let found = tx.query::<u32>(&sql, parameters).await?.into_iter();
        numbers.extend(found.map(|number| number.saturating_add(part.offset)));
    }
    Ok(Some(numbers))
}

/// The place of a candidate, true if it meets the conditions in SQL, its text and its JSON.
type Judged = (u32, u32, bool, String, Option<String>);

/// The first `most` candidates that the filter admits, in their order.
pub(super) async fn admitted(
    tx: &mut Tx<'_>,
    parts: &[Part],
    filter: &MessageFilter,
    candidates: Vec<Candidate>,
    most: usize,
) -> Result<Vec<Candidate>> {
    let conditions = filter.message_conditions();
    let contents = match filter.is_about_contents() {
        true => "body, json",
        false => "'', NULL",
    };
    let columns = format!(
        "conversation, seq, CASE WHEN recallable = 1 AND internal = 0{conditions} \
         THEN 1 ELSE 0 END, {contents}"
    );
    let mut admitted = Vec::new();
    for page in candidates.chunks(PAGE) {
        let mut places = BTreeSet::new();
        for part in parts {
            let own = page.iter().map(|one| (one.conversation, one.message));
            let own = part.own(own);
            let rows = history::at_places::<Judged>(tx, &columns, part.scope.id, &own);
            for (number, seq, is_admitted, text, json) in rows.await? {
                if is_admitted && filter.admits_contents(&text, json.as_deref()) {
                    places.insert((number.saturating_add(part.offset), seq));
                }
            }
        }
        let passing = page
            .iter()
            .filter(|one| places.contains(&(one.conversation, one.message)));
        admitted.extend(passing.cloned());
        if admitted.len() >= most {
            admitted.truncate(most);
            break;
        }
    }
    Ok(admitted)
}
