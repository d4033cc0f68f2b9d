//! Making blocks of what messages carry, and making them anew.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::recall::{Analyser, Analysis, Place, Posting};

use super::ANALYSIS;
use super::codec::{cuts, decode_terms, encode_places, encode_terms};
use crate::error::StoreError;
use crate::scope::{Scope, Share};
use crate::transaction::Tx;
use crate::value::Value;

/// So many messages become a block. Fewer make recall slower, since more rows are read for a term;
/// more make it slower too, since messages that are in no block are read one by one.
const BLOCK: u32 = 512;

/// A message that is about to be written, with the terms it would carry.
pub(crate) struct Entry {
    pub(crate) arrival: u32,
    pub(crate) conversation: u32,
    pub(crate) seq: u32,
    pub(crate) terms: Option<Vec<u8>>,
}

/// Makes blocks of what is not in one yet, once there is enough: what was written before, and
/// `new`, whose terms are taken from it. The caller saves the scope.
pub(crate) async fn make_blocks(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    new: &mut [Entry],
) -> Result<(), StoreError> {
    let last = new.last().map_or(scope.arrivals, |entry| entry.arrival);
    if last.saturating_sub(scope.indexed) < BLOCK {
        return Ok(());
    }
    let mut waiting = carried(tx, scope).await?;
    // Those that were written keep their terms: taking them off would write every row twice.
    waiting.extend(new.iter_mut().map(|entry| Entry {
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
        scope.blocks = scope.blocks.saturating_add(1);
        add_block(tx, scope, first, end).await?;
        write_postings(tx, scope.id, scope.blocks, &entries).await?;
        first = end + 1;
    }
    scope.indexed = last;
    Ok(())
}

/// Makes the block that holds a message anew, from the messages that are still there.
pub(crate) async fn rebuild(
    tx: &mut Tx<'_>,
    scope: &Scope,
    arrival: u32,
) -> Result<(), StoreError> {
    let row = tx
        .query_one(
            "SELECT id, first, last FROM block \
             WHERE tenant = $1 AND scope = $2 AND first <= $3 AND last >= $3",
            [scope.id.into(), arrival.into()],
        )
        .await?;
    let Some(mut row) = row else { return Ok(()) };
    let (block, first, last) = (row.u32()?, row.u32()?, row.u32()?);
    tx.execute(
        "DELETE FROM posting WHERE tenant = $1 AND scope = $2 AND block = $3",
        [scope.id.into(), block.into()],
    )
    .await?;
    let entries = analysed(tx, scope.id, first, last).await?;
    let entries: Vec<Entry> = entries.into_iter().map(|(entry, ..)| entry).collect();
    write_postings(tx, scope.id, block, &entries).await
}

/// Makes the blocks anew that held some messages.
pub(crate) async fn rebuild_all(
    tx: &mut Tx<'_>,
    scope: &Scope,
    arrivals: &BTreeSet<u32>,
) -> Result<(), StoreError> {
    let rows = tx
        .query(
            "SELECT first, last FROM block WHERE tenant = $1 AND scope = $2",
            [scope.id.into()],
        )
        .await?;
    for mut row in rows {
        let (first, last) = (row.u32()?, row.u32()?);
        if let Some(arrival) = arrivals.range(first..=last).next() {
            rebuild(tx, scope, *arrival).await?;
        }
    }
    Ok(())
}

/// Makes the whole index of a scope anew, with all that is kept of its messages besides their texts.
/// The caller saves the scope.
pub(crate) async fn reindex(tx: &mut Tx<'_>, scope: &mut Scope) -> Result<(), StoreError> {
    for table in ["posting", "block"] {
        let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND scope = $2");
        tx.execute(&sql, [scope.id.into()]).await?;
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
        scope.blocks = scope.blocks.saturating_add(1);
        add_block(tx, scope, first, last).await?;
        write_postings(tx, scope.id, scope.blocks, &entries).await?;
        scope.indexed = last;
        first = last.saturating_add(1);
    }
    Ok(())
}

async fn add_block(
    tx: &mut Tx<'_>,
    scope: &Scope,
    first: u32,
    last: u32,
) -> Result<(), StoreError> {
    tx.insert(
        "block (tenant, scope, id, first, last)",
        vec![[
            scope.id.into(),
            scope.blocks.into(),
            first.into(),
            last.into(),
        ]],
    )
    .await
}

/// Writes what an analysis says of a message, and of the one after it.
async fn update(
    tx: &mut Tx<'_>,
    scope: u32,
    entry: &Entry,
    analysis: &Analysis,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE message SET traits = $2, words = $3, fingerprint = $4, cuts = $5, terms = NULL \
         WHERE tenant = $1 AND scope = $6 AND arrival = $7",
        [
            analysis.traits.bits().into(),
            analysis.words().into(),
            analysis.fingerprint.bits().cast_signed().into(),
            cuts(analysis).into(),
            scope.into(),
            entry.arrival.into(),
        ],
    )
    .await?;
    tx.execute(
        "UPDATE message SET previous_traits = $2 \
         WHERE tenant = $1 AND scope = $3 AND conversation = $4 AND seq = $5",
        [
            analysis.traits.bits().into(),
            scope.into(),
            entry.conversation.into(),
            entry.seq.saturating_add(1).into(),
        ],
    )
    .await?;
    Ok(())
}

/// The messages that are in no block.
async fn carried(tx: &mut Tx<'_>, scope: &Scope) -> Result<Vec<Entry>, StoreError> {
    let rows = tx
        .query(
            "SELECT arrival, conversation, seq, terms FROM message \
             WHERE tenant = $1 AND scope = $2 AND arrival > $3 ORDER BY arrival",
            [scope.id.into(), scope.indexed.into()],
        )
        .await?;
    rows.into_iter()
        .map(|mut row| {
            Ok(Entry {
                arrival: row.u32()?,
                conversation: row.u32()?,
                seq: row.u32()?,
                terms: row.blob_or_null()?,
            })
        })
        .collect()
}

/// Messages with terms from their texts, and whether they may be recalled.
async fn analysed(
    tx: &mut Tx<'_>,
    scope: u32,
    first: u32,
    last: u32,
) -> Result<Vec<(Entry, bool, Analysis)>, StoreError> {
    let rows = tx
        .query(
            "SELECT arrival, conversation, seq, recallable, body FROM message \
             WHERE tenant = $1 AND scope = $2 AND arrival >= $3 AND arrival <= $4 ORDER BY arrival",
            [scope.into(), first.into(), last.into()],
        )
        .await?;
    let mut analyser = Analyser::new();
    rows.into_iter()
        .map(|mut row| {
            let (arrival, conversation, seq) = (row.u32()?, row.u32()?, row.u32()?);
            let (recallable, body) = (row.flag()?, row.text()?);
            let analysis = analyser.analyse(&body);
            let terms = recallable.then(|| encode_terms(&analysis.passages));
            let entry = Entry {
                arrival,
                conversation,
                seq,
                terms,
            };
            Ok((entry, recallable, analysis))
        })
        .collect()
}

async fn write_postings(
    tx: &mut Tx<'_>,
    scope: u32,
    block: u32,
    entries: &[Entry],
) -> Result<(), StoreError> {
    let mut postings: BTreeMap<&str, Vec<Posting>> = BTreeMap::new();
    for entry in entries {
        let Some(bytes) = &entry.terms else { continue };
        let terms = decode_terms(bytes).ok_or_else(|| StoreError::Damaged {
            table: "message",
            reason: format!("the terms of message {} are not readable", entry.arrival),
        })?;
        for term in terms {
            postings.entry(term.term).or_default().push(Posting {
                place: Place {
                    conversation: entry.conversation,
                    message: entry.seq,
                    passage: term.passage,
                },
                count: term.count,
                words: term.words,
            });
        }
    }
    let rows = postings.into_iter().map(|(term, mut places)| {
        places.sort_by_key(|posting| posting.place);
        [
            scope.into(),
            term.into(),
            block.into(),
            Value::Blob(encode_places(&places)),
        ]
    });
    tx.insert(
        "posting (tenant, scope, term, block, places)",
        rows.collect(),
    )
    .await
}
