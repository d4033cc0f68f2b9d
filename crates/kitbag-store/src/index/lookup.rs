//! Looking up a query's terms.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::recall::{Posting, Query};

use super::codec::{decode_places, decode_terms};
use crate::error::{Result, StoreError};
use crate::scope::Scope;
use crate::transaction::{Tx, placeholders};
use crate::value::{Parameters, Value};

/// All places of a query's terms in a scope, by term, sorted.
pub(crate) async fn evidence(
    tx: &mut Tx<'_>,
    scope: &Scope,
    query: &Query,
) -> Result<BTreeMap<String, Vec<Posting>>> {
    let terms: BTreeSet<&str> = query.terms().collect();
    let prefixes: BTreeSet<&str> = query.prefixes().collect();
    let mut found: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
    from_blocks(tx, scope, &terms, &prefixes, &mut found).await?;
    from_messages(tx, scope, &terms, &prefixes, &mut found).await?;
    for postings in found.values_mut() {
        postings.sort_by_key(|posting| posting.place);
    }
    Ok(found)
}

async fn from_blocks(
    tx: &mut Tx<'_>,
    scope: &Scope,
    terms: &BTreeSet<&str>,
    prefixes: &BTreeSet<&str>,
    found: &mut BTreeMap<String, Vec<Posting>>,
) -> Result<()> {
    if scope.blocks == 0 {
        return Ok(());
    }
    let mut conditions = Vec::new();
    let mut parameters: Vec<Value> = vec![scope.id.into()];
    if !terms.is_empty() {
        let names = placeholders(parameters.len() + 2, terms.len());
        conditions.push(format!("term IN ({names})"));
        parameters.extend(terms.iter().map(|term| Value::from(*term)));
    }
    for prefix in prefixes {
        let (from, to) = (parameters.len() + 2, parameters.len() + 3);
        conditions.push(format!("(term >= ${from} AND term < ${to})"));
        (*prefix, behind(prefix)).add_to(&mut parameters);
    }
    if conditions.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "SELECT term, places FROM posting WHERE tenant = $1 AND scope = $2 AND ({})",
        conditions.join(" OR ")
    );
    for (term, places) in tx.query::<(String, Vec<u8>)>(&sql, parameters).await? {
        let postings = found.entry(term).or_default();
        decode_places(&places, postings).ok_or_else(|| {
            let reason = format!("places of scope {} are not readable", scope.id);
            StoreError::damaged("posting", reason)
        })?;
    }
    Ok(())
}

async fn from_messages(
    tx: &mut Tx<'_>,
    scope: &Scope,
    terms: &BTreeSet<&str>,
    prefixes: &BTreeSet<&str>,
    found: &mut BTreeMap<String, Vec<Posting>>,
) -> Result<()> {
    let sql = "SELECT conversation, seq, role = 'user', terms FROM message \
               WHERE tenant = $1 AND scope = $2 AND arrival > $3 AND terms IS NOT NULL";
    let rows = tx.query::<(u32, u32, bool, Vec<u8>)>(sql, (scope.id, scope.indexed));
    for (conversation, message, by_person, bytes) in rows.await? {
        let carried = decode_terms(&bytes).ok_or_else(|| {
            let reason = format!(
                "the terms of a message of scope {} are not readable",
                scope.id
            );
            StoreError::damaged("message", reason)
        })?;
        for term in carried {
            let begins = |prefix: &&str| term.term.starts_with(*prefix);
            if !terms.contains(term.term) && !prefixes.iter().any(begins) {
                continue;
            }
            let posting = term.posting(conversation, message, by_person);
            match found.get_mut(term.term) {
                Some(postings) => postings.push(posting),
                None => drop(found.insert(term.term.to_owned(), vec![posting])),
            }
        }
    }
    Ok(())
}

/// The least text that is greater than every text that begins with `prefix`.
fn behind(prefix: &str) -> String {
    format!("{prefix}{}", char::MAX)
}
