//! Makes blocks from the words of messages, and rebuilds them.

use std::collections::BTreeSet;

use kitbag_core::recall::{Analyser, Analysis};

use super::merge::merge;
use super::words::Words;
use super::{ANALYSIS, cuts, encode_terms};
use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::scope::{Scope, Share};
use crate::transaction::Tx;
use crate::value::from_row;

/// The most messages that become one block when they are written or indexed again. It bounds the
/// memory for their words.
const PIECE: usize = 32_768;

/// A message with its terms, or without any if it may not be recalled.
pub(crate) struct Entry {
    pub(crate) arrival: u32,
    pub(crate) conversation: u32,
    pub(crate) seq: u32,
    pub(crate) by_person: bool,
    pub(crate) terms: Option<Vec<u8>>,
}

from_row!(Entry: arrival, conversation, seq, by_person, terms);

/// The row of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) id: u32,
    /// The arrivals of the first and the last message, counted in the scope.
    pub(super) first: u32,
    pub(super) last: u32,
}

from_row!(Block: id, first, last);

/// Adds messages that are being written, in the order of their arrival. The caller saves the scope.
pub(crate) async fn add(tx: &mut Tx<'_>, scope: &mut Scope, new: &[Entry]) -> Result<()> {
    // After a change of the analysis the caller indexes the whole scope once they are written.
    if scope.analysis != ANALYSIS {
        return Ok(());
    }
    for entries in new.chunks(PIECE) {
        add_block(tx, scope, entries).await?;
    }
    let before = new
        .first()
        .map_or(0, |entry| entry.arrival.saturating_sub(1));
    merge(tx, scope, before).await
}

async fn add_block(tx: &mut Tx<'_>, scope: &mut Scope, entries: &[Entry]) -> Result<()> {
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
        return Ok(());
    };
    let mut words = Words::default();
    for entry in entries {
        add_entry(&mut words, entry)?;
    }
    let (first, last) = (first.arrival, last.arrival);
    write_next(tx, scope, first, last, words).await
}

fn add_entry(words: &mut Words, entry: &Entry) -> Result<()> {
    let Some(terms) = &entry.terms else {
        return Ok(());
    };
    let place = (entry.conversation, entry.seq);
    let added = words.add_message(place, entry.by_person, terms);
    added.ok_or_else(|| StoreError::failed("the terms of a message are not readable"))
}

/// Writes the next block, with the words of the messages from `first` to `last`.
pub(super) async fn write_next(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    first: u32,
    last: u32,
    words: Words,
) -> Result<()> {
    scope.blocks = scope.blocks.saturating_add(1);
    let id = scope.blocks;
    write(tx, scope.id, Block { id, first, last }, words).await
}

async fn write(tx: &mut Tx<'_>, scope: u32, block: Block, words: Words) -> Result<()> {
    let Block { id, first, last } = block;
    let mut rows = words.sorted().rows();
    // Few words stay in the block's own row, which saves a row of `posting`. A block without any
    // words is kept as well, since its messages may get words when they are edited.
    let few = match rows.len() {
        0 | 1 => Some(rows.pop().map(|row| row.pack).unwrap_or_default()),
        _ => None,
    };
    let row = (scope, id, first, last, few);
    tx.insert("block (tenant, scope, id, first, last, words)", [row])
        .await?;
    let rows = rows.into_iter();
    let rows = rows.map(|row| (scope, id, row.first, row.part, row.pack));
    tx.insert("posting (tenant, scope, block, first, part, words)", rows)
        .await
}

/// Adds the words of a block to `to`.
pub(super) async fn read(tx: &mut Tx<'_>, scope: u32, block: u32, to: &mut Words) -> Result<()> {
    let own = "SELECT words FROM block \
               WHERE tenant = $1 AND scope = $2 AND id = $3 AND words IS NOT NULL";
    let rows = "SELECT words FROM posting WHERE tenant = $1 AND scope = $2 AND block = $3";
    for sql in [own, rows] {
        for pack in tx.query::<Vec<u8>>(sql, (scope, block)).await? {
            to.add_pack(&pack).ok_or_else(|| damaged(scope, block))?;
        }
    }
    Ok(())
}

pub(super) fn damaged(scope: u32, block: u32) -> StoreError {
    let reason = format!("block {block} of scope {scope} is not readable");
    StoreError::damaged("index", reason)
}

pub(super) async fn remove(tx: &mut Tx<'_>, scope: u32, block: u32) -> Result<()> {
    for (table, column) in [("posting", "block"), ("block", "id")] {
        let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND scope = $2 AND {column} = $3");
        tx.execute(&sql, (scope, block)).await?;
    }
    Ok(())
}

/// Rebuilds the blocks that hold some messages: without those that are gone, and with the words
/// that the others have now. The caller saves the scope.
pub(crate) async fn rebuild(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    arrivals: &BTreeSet<u32>,
) -> Result<()> {
    if scope.analysis != ANALYSIS {
        return reindex(tx, scope).await;
    }
    let sql = "SELECT id, first, last FROM block WHERE tenant = $1 AND scope = $2";
    for block in tx.query::<Block>(sql, scope.id).await? {
        let Block { id, first, last } = block;
        if arrivals.range(first..=last).next().is_none() {
            continue;
        }
        // Only the changed messages are analysed again; the words of all others are copied from the
        // block.
        let sql = "SELECT arrival, conversation, seq FROM message \
                   WHERE tenant = $1 AND scope = $2 AND arrival >= $3 AND arrival <= $4";
        let there = tx
            .query::<(u32, u32, u32)>(sql, (scope.id, first, last))
            .await?;
        let unchanged = there
            .iter()
            .filter(|(arrival, ..)| !arrivals.contains(arrival));
        let unchanged: BTreeSet<(u32, u32)> = unchanged
            .map(|(_, conversation, seq)| (*conversation, *seq))
            .collect();
        let mut words = Words::default();
        read(tx, scope.id, id, &mut words).await?;
        words.retain(|posting| {
            unchanged.contains(&(posting.place.conversation, posting.place.message))
        });
        for (arrival, ..) in there
            .iter()
            .filter(|(arrival, ..)| arrivals.contains(arrival))
        {
            for (entry, ..) in analysed(tx, scope.id, *arrival, *arrival).await? {
                add_entry(&mut words, &entry)?;
            }
        }
        remove(tx, scope.id, id).await?;
        write(tx, scope.id, block, words).await?;
    }
    Ok(())
}

/// Rebuilds the whole index of a scope, and all values that are derived from the texts of its
/// messages. The caller saves the scope.
pub(crate) async fn reindex(tx: &mut Tx<'_>, scope: &mut Scope) -> Result<()> {
    for table in ["posting", "block"] {
        let sql = format!("DELETE FROM {table} WHERE tenant = $1 AND scope = $2");
        tx.execute(&sql, scope.id).await?;
    }
    scope.analysis = ANALYSIS;
    // Numbers of blocks may start again, since none is left.
    scope.blocks = 0;
    (scope.passages, scope.words) = (0, 0);
    let piece = u32::try_from(PIECE).unwrap_or(u32::MAX);
    // Arrivals count from 1, and forgotten messages leave gaps.
    let mut first = 1;
    while first <= scope.arrivals {
        let last = first.saturating_add(piece - 1).min(scope.arrivals);
        let analysed = analysed(tx, scope.id, first, last).await?;
        let mut entries = Vec::with_capacity(analysed.len());
        for (entry, recallable, analysis) in analysed {
            if recallable {
                scope.add(Share::of(&analysis));
            }
            update(tx, scope.id, &entry, &analysis).await?;
            entries.push(entry);
        }
        add_block(tx, scope, &entries).await?;
        first = last.saturating_add(1);
    }
    Conversation::count_kept(tx, scope.id).await?;
    merge(tx, scope, 0).await
}

/// Writes the values derived from a message to its row and to that of the message after it.
async fn update(tx: &mut Tx<'_>, scope: u32, entry: &Entry, analysis: &Analysis) -> Result<()> {
    let traits = analysis.traits.bits();
    let fingerprint = analysis.fingerprint.bits().cast_signed();
    let known = (traits, analysis.words(), fingerprint, cuts(analysis));
    tx.execute(
        "UPDATE message SET traits = $2, words = $3, fingerprint = $4, cuts = $5 \
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

/// Messages with terms made from their texts, and the mark if they may be recalled.
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
