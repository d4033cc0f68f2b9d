//! Making blocks of what messages carry, and making them anew.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::recall::{Analyser, Analysis, Posting};

use super::ANALYSIS;
use super::codec::{cuts, decode_terms, encode_places, encode_terms};
use crate::error::{Result, StoreError};
use crate::scope::{Scope, Share};
use crate::transaction::Tx;
use crate::value::from_row;

/// So many messages become a block. Fewer make recall slower, since more rows are read for a term;
/// more make it slower too, since messages that are in no block are read one by one.
const BLOCK: u32 = 512;

/// A message that is about to be written, with the terms it would carry.
pub(crate) struct Entry {
    pub(crate) arrival: u32,
    pub(crate) conversation: u32,
    pub(crate) seq: u32,
    pub(crate) by_person: bool,
    pub(crate) terms: Option<Vec<u8>>,
}

/// Makes blocks of what is not in one yet, once there is enough: what was written before, and
/// `new`, whose terms are taken from it. The caller saves the scope.
pub(crate) async fn make_blocks(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    new: impl Iterator<Item = &mut Entry>,
) -> Result<()> {
    let last = scope.arrivals;
    // Where the analysis has changed, the whole scope is indexed anew: what is there may not be readable.
    if scope.analysis != ANALYSIS || last.saturating_sub(scope.indexed) < BLOCK {
        return Ok(());
    }
    let mut waiting = carried(tx, scope).await?;
    // Those that were written keep their terms: taking them off would write every row twice.
    waiting.extend(new.map(|entry| Entry {
        terms: entry.terms.take(),
        ..*entry
    }));
    let mut first = scope.indexed.saturating_add(1);
    let mut waiting = waiting.into_iter().peekable();
    while first <= last {
        // What remains behind the last whole block goes into it: it would be read one by one.
        let rest = last - first + 1;
        let size = if rest < 2 * BLOCK { rest } else { BLOCK };
        let end = first + size - 1;
        let mut entries = Vec::new();
        while let Some(entry) = waiting.next_if(|entry| entry.arrival <= end) {
            entries.push(entry);
        }
        add_block(tx, scope, first, end, &entries).await?;
        first = end + 1;
    }
    Ok(())
}

/// Makes the blocks anew that held some messages, from the messages that are still there. The caller
/// saves the scope.
pub(crate) async fn rebuild(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    arrivals: &BTreeSet<u32>,
) -> Result<()> {
    if scope.analysis != ANALYSIS {
        return reindex(tx, scope).await;
    }
    let sql = "SELECT id, first, last FROM block WHERE tenant = $1 AND scope = $2";
    for (block, first, last) in tx.query::<(u32, u32, u32)>(sql, scope.id).await? {
        if arrivals.range(first..=last).next().is_none() {
            continue;
        }
        let sql = "DELETE FROM posting WHERE tenant = $1 AND scope = $2 AND block = $3";
        tx.execute(sql, (scope.id, block)).await?;
        let entries = analysed(tx, scope.id, first, last).await?;
        let entries: Vec<Entry> = entries.into_iter().map(|(entry, ..)| entry).collect();
        write_postings(tx, scope.id, block, &entries).await?;
    }
    Ok(())
}

/// Makes the whole index of a scope anew, with all that is kept of its messages besides their texts.
/// The caller saves the scope.
pub(crate) async fn reindex(tx: &mut Tx<'_>, scope: &mut Scope) -> Result<()> {
    for table in ["posting", "block"] {
        let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND scope = $2");
        tx.execute(&sql, scope.id).await?;
    }
    scope.analysis = ANALYSIS;
    (scope.indexed, scope.blocks) = (0, 0);
    (scope.passages, scope.words) = (0, 0);
    let mut first = 1;
    while first <= scope.arrivals {
        let last = first.saturating_add(BLOCK - 1).min(scope.arrivals);
        let analysed = analysed(tx, scope.id, first, last).await?;
        let mut entries = Vec::with_capacity(analysed.len());
        for (entry, recallable, analysis) in analysed {
            if recallable {
                scope.add(Share::of(&analysis));
            }
            update(tx, scope.id, &entry, &analysis).await?;
            entries.push(entry);
        }
        add_block(tx, scope, first, last, &entries).await?;
        first = last.saturating_add(1);
    }
    Ok(())
}

/// Makes the next block, of the messages from the first to the last number.
async fn add_block(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    first: u32,
    last: u32,
    entries: &[Entry],
) -> Result<()> {
    scope.blocks = scope.blocks.saturating_add(1);
    scope.indexed = last;
    let row = (scope.id, scope.blocks, first, last);
    let into = "block (tenant, scope, id, first, last)";
    tx.insert(into, [row]).await?;
    write_postings(tx, scope.id, scope.blocks, entries).await
}

/// Writes what an analysis says of a message, and of the one after it.
async fn update(tx: &mut Tx<'_>, scope: u32, entry: &Entry, analysis: &Analysis) -> Result<()> {
    let traits = analysis.traits.bits();
    let fingerprint = analysis.fingerprint.bits().cast_signed();
    let known = (traits, analysis.words(), fingerprint, cuts(analysis));
    tx.execute(
        "UPDATE message SET traits = $2, words = $3, fingerprint = $4, cuts = $5, terms = NULL \
         WHERE tenant = $1 AND scope = $6 AND arrival = $7",
        (known, scope, entry.arrival),
    )
    .await?;
    let sql = "UPDATE message SET previous_traits = $2 \
               WHERE tenant = $1 AND scope = $3 AND conversation = $4 AND seq = $5";
    let next = entry.seq.saturating_add(1);
    let values = (traits, scope, entry.conversation, next);
    tx.execute(sql, values).await.map(drop)
}

/// The messages that are in no block.
async fn carried(tx: &mut Tx<'_>, scope: &Scope) -> Result<Vec<Entry>> {
    let sql = "SELECT arrival, conversation, seq, role = 'user', terms FROM message \
               WHERE tenant = $1 AND scope = $2 AND arrival > $3 ORDER BY arrival";
    tx.query(sql, (scope.id, scope.indexed)).await
}

from_row!(Entry: arrival, conversation, seq, by_person, terms);

/// Messages with terms from their texts, and whether they may be recalled.
async fn analysed(
    tx: &mut Tx<'_>,
    scope: u32,
    first: u32,
    last: u32,
) -> Result<Vec<(Entry, bool, Analysis)>> {
    let sql = "SELECT arrival, conversation, seq, role = 'user', NULL, recallable, body FROM message \
               WHERE tenant = $1 AND scope = $2 AND arrival >= $3 AND arrival <= $4 ORDER BY arrival";
    let rows = tx
        .query::<(Entry, bool, String)>(sql, (scope, first, last))
        .await?;
    let mut analyser = Analyser::new();
    let analysed = rows.into_iter().map(|(mut entry, recallable, body)| {
        let analysis = analyser.analyse(&body);
        entry.terms = recallable.then(|| encode_terms(&analysis.passages));
        (entry, recallable, analysis)
    });
    Ok(analysed.collect())
}

async fn write_postings(tx: &mut Tx<'_>, scope: u32, block: u32, entries: &[Entry]) -> Result<()> {
    let mut postings: BTreeMap<&str, Vec<Posting>> = BTreeMap::new();
    for entry in entries {
        let Some(bytes) = &entry.terms else { continue };
        let terms = decode_terms(bytes).ok_or_else(|| {
            let reason = format!("the terms of message {} are not readable", entry.arrival);
            StoreError::damaged("message", reason)
        })?;
        for term in terms {
            let posting = term.posting(entry.conversation, entry.seq, entry.by_person);
            postings.entry(term.term).or_default().push(posting);
        }
    }
    let rows = postings.into_iter().map(|(term, mut places)| {
        places.sort_by_key(|posting| posting.place);
        (scope, term, block, encode_places(&places))
    });
    tx.insert("posting (tenant, scope, term, block, places)", rows)
        .await
}
